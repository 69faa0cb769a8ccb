// SPDX-License-Identifier: MIT

public import Foundation

// Operations that `Decimal` properties do not support, declared so that the compiler reports the
// reason.

@available(
  *, unavailable,
  message:
    "a Decimal is stored as text, which sorts differently; store the amount as an integer of its smallest unit, or compute with the results of fetch()"
)
public func < <Root>(
  path: ModelPath<Root, Decimal>, value: Decimal
) -> ModelCondition<Root> { fatalError() }
@available(
  *, unavailable,
  message:
    "a Decimal is stored as text, which sorts differently; store the amount as an integer of its smallest unit, or compute with the results of fetch()"
)
public func < <Root: Model>(
  keyPath: any KeyPath<Root, Decimal> & Sendable, value: Decimal
) -> ModelCondition<Root> { fatalError() }
@available(
  *, unavailable,
  message:
    "a Decimal is stored as text, which sorts differently; store the amount as an integer of its smallest unit, or compute with the results of fetch()"
)
public func <= <Root>(
  path: ModelPath<Root, Decimal>, value: Decimal
) -> ModelCondition<Root> { fatalError() }
@available(
  *, unavailable,
  message:
    "a Decimal is stored as text, which sorts differently; store the amount as an integer of its smallest unit, or compute with the results of fetch()"
)
public func <= <Root: Model>(
  keyPath: any KeyPath<Root, Decimal> & Sendable, value: Decimal
) -> ModelCondition<Root> { fatalError() }
@available(
  *, unavailable,
  message:
    "a Decimal is stored as text, which sorts differently; store the amount as an integer of its smallest unit, or compute with the results of fetch()"
)
public func > <Root>(
  path: ModelPath<Root, Decimal>, value: Decimal
) -> ModelCondition<Root> { fatalError() }
@available(
  *, unavailable,
  message:
    "a Decimal is stored as text, which sorts differently; store the amount as an integer of its smallest unit, or compute with the results of fetch()"
)
public func > <Root: Model>(
  keyPath: any KeyPath<Root, Decimal> & Sendable, value: Decimal
) -> ModelCondition<Root> { fatalError() }
@available(
  *, unavailable,
  message:
    "a Decimal is stored as text, which sorts differently; store the amount as an integer of its smallest unit, or compute with the results of fetch()"
)
public func >= <Root>(
  path: ModelPath<Root, Decimal>, value: Decimal
) -> ModelCondition<Root> { fatalError() }
@available(
  *, unavailable,
  message:
    "a Decimal is stored as text, which sorts differently; store the amount as an integer of its smallest unit, or compute with the results of fetch()"
)
public func >= <Root: Model>(
  keyPath: any KeyPath<Root, Decimal> & Sendable, value: Decimal
) -> ModelCondition<Root> { fatalError() }

extension ModelQuery {
  @available(
    *, unavailable,
    message:
      "a Decimal is stored as text, which sorts differently; store the amount as an integer of its smallest unit, or compute with the results of fetch()"
  )
  public func sum(_ keyPath: any KeyPath<M, Decimal> & Sendable) throws -> Decimal { fatalError() }
  @available(
    *, unavailable,
    message:
      "a Decimal is stored as text, which sorts differently; store the amount as an integer of its smallest unit, or compute with the results of fetch()"
  )
  public func sum(_ keyPath: any KeyPath<M, Decimal?> & Sendable) throws -> Decimal { fatalError() }
  @available(
    *, unavailable,
    message:
      "a Decimal is stored as text, which sorts differently; store the amount as an integer of its smallest unit, or compute with the results of fetch()"
  )
  public func average(_ keyPath: any KeyPath<M, Decimal> & Sendable) throws -> Double? {
    fatalError()
  }
  @available(
    *, unavailable,
    message:
      "a Decimal is stored as text, which sorts differently; store the amount as an integer of its smallest unit, or compute with the results of fetch()"
  )
  public func average(_ keyPath: any KeyPath<M, Decimal?> & Sendable) throws -> Double? {
    fatalError()
  }
  @available(
    *, unavailable,
    message:
      "a Decimal is stored as text, which sorts differently; store the amount as an integer of its smallest unit, or compute with the results of fetch()"
  )
  public func min(_ keyPath: any KeyPath<M, Decimal> & Sendable) throws -> Decimal? { fatalError() }
  @available(
    *, unavailable,
    message:
      "a Decimal is stored as text, which sorts differently; store the amount as an integer of its smallest unit, or compute with the results of fetch()"
  )
  public func min(_ keyPath: any KeyPath<M, Decimal?> & Sendable) throws -> Decimal? {
    fatalError()
  }
  @available(
    *, unavailable,
    message:
      "a Decimal is stored as text, which sorts differently; store the amount as an integer of its smallest unit, or compute with the results of fetch()"
  )
  public func max(_ keyPath: any KeyPath<M, Decimal> & Sendable) throws -> Decimal? { fatalError() }
  @available(
    *, unavailable,
    message:
      "a Decimal is stored as text, which sorts differently; store the amount as an integer of its smallest unit, or compute with the results of fetch()"
  )
  public func max(_ keyPath: any KeyPath<M, Decimal?> & Sendable) throws -> Decimal? {
    fatalError()
  }
}
