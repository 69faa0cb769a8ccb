// SPDX-License-Identifier: MIT

public import Foundation

// Operations that `Decimal` properties do not support, declared so that the compiler reports the
// reason.

@available(
  *, unavailable,
  message:
    "a Decimal is stored as text, which has another order; keep the amount as an integer of its smallest unit, or work with what fetch() returns"
)
public func < <Root>(
  path: ModelPath<Root, Decimal>, value: Decimal
) -> ModelCondition<Root> { fatalError() }
@available(
  *, unavailable,
  message:
    "a Decimal is stored as text, which has another order; keep the amount as an integer of its smallest unit, or work with what fetch() returns"
)
public func < <Root: Model>(
  keyPath: any KeyPath<Root, Decimal> & Sendable, value: Decimal
) -> ModelCondition<Root> { fatalError() }
@available(
  *, unavailable,
  message:
    "a Decimal is stored as text, which has another order; keep the amount as an integer of its smallest unit, or work with what fetch() returns"
)
public func <= <Root>(
  path: ModelPath<Root, Decimal>, value: Decimal
) -> ModelCondition<Root> { fatalError() }
@available(
  *, unavailable,
  message:
    "a Decimal is stored as text, which has another order; keep the amount as an integer of its smallest unit, or work with what fetch() returns"
)
public func <= <Root: Model>(
  keyPath: any KeyPath<Root, Decimal> & Sendable, value: Decimal
) -> ModelCondition<Root> { fatalError() }
@available(
  *, unavailable,
  message:
    "a Decimal is stored as text, which has another order; keep the amount as an integer of its smallest unit, or work with what fetch() returns"
)
public func > <Root>(
  path: ModelPath<Root, Decimal>, value: Decimal
) -> ModelCondition<Root> { fatalError() }
@available(
  *, unavailable,
  message:
    "a Decimal is stored as text, which has another order; keep the amount as an integer of its smallest unit, or work with what fetch() returns"
)
public func > <Root: Model>(
  keyPath: any KeyPath<Root, Decimal> & Sendable, value: Decimal
) -> ModelCondition<Root> { fatalError() }
@available(
  *, unavailable,
  message:
    "a Decimal is stored as text, which has another order; keep the amount as an integer of its smallest unit, or work with what fetch() returns"
)
public func >= <Root>(
  path: ModelPath<Root, Decimal>, value: Decimal
) -> ModelCondition<Root> { fatalError() }
@available(
  *, unavailable,
  message:
    "a Decimal is stored as text, which has another order; keep the amount as an integer of its smallest unit, or work with what fetch() returns"
)
public func >= <Root: Model>(
  keyPath: any KeyPath<Root, Decimal> & Sendable, value: Decimal
) -> ModelCondition<Root> { fatalError() }

extension ModelQuery {
  @available(
    *, unavailable,
    message:
      "a Decimal is stored as text, which has another order; keep the amount as an integer of its smallest unit, or work with what fetch() returns"
  )
  public func sum(_ keyPath: any KeyPath<M, Decimal> & Sendable) throws -> Decimal { fatalError() }
  @available(
    *, unavailable,
    message:
      "a Decimal is stored as text, which has another order; keep the amount as an integer of its smallest unit, or work with what fetch() returns"
  )
  public func sum(_ keyPath: any KeyPath<M, Decimal?> & Sendable) throws -> Decimal { fatalError() }
  @available(
    *, unavailable,
    message:
      "a Decimal is stored as text, which has another order; keep the amount as an integer of its smallest unit, or work with what fetch() returns"
  )
  public func average(_ keyPath: any KeyPath<M, Decimal> & Sendable) throws -> Double? {
    fatalError()
  }
  @available(
    *, unavailable,
    message:
      "a Decimal is stored as text, which has another order; keep the amount as an integer of its smallest unit, or work with what fetch() returns"
  )
  public func average(_ keyPath: any KeyPath<M, Decimal?> & Sendable) throws -> Double? {
    fatalError()
  }
  @available(
    *, unavailable,
    message:
      "a Decimal is stored as text, which has another order; keep the amount as an integer of its smallest unit, or work with what fetch() returns"
  )
  public func min(_ keyPath: any KeyPath<M, Decimal> & Sendable) throws -> Decimal? { fatalError() }
  @available(
    *, unavailable,
    message:
      "a Decimal is stored as text, which has another order; keep the amount as an integer of its smallest unit, or work with what fetch() returns"
  )
  public func min(_ keyPath: any KeyPath<M, Decimal?> & Sendable) throws -> Decimal? {
    fatalError()
  }
  @available(
    *, unavailable,
    message:
      "a Decimal is stored as text, which has another order; keep the amount as an integer of its smallest unit, or work with what fetch() returns"
  )
  public func max(_ keyPath: any KeyPath<M, Decimal> & Sendable) throws -> Decimal? { fatalError() }
  @available(
    *, unavailable,
    message:
      "a Decimal is stored as text, which has another order; keep the amount as an integer of its smallest unit, or work with what fetch() returns"
  )
  public func max(_ keyPath: any KeyPath<M, Decimal?> & Sendable) throws -> Decimal? {
    fatalError()
  }
}
