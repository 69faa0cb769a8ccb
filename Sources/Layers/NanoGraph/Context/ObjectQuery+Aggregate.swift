// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoModel

/// Aggregates over what is stored; unsaved changes do not count.
extension ObjectQuery {
  /// Computes aggregates over what is found, each with the type of its result.
  ///
  /// ```swift
  /// let (count, average) = try context.find(\Song.seconds > 60).aggregate(.count, .average(\.seconds))
  /// ```
  public func aggregate<each Result: Sendable>(
    _ aggregates: repeat ModelAggregate<Object, each Result>
  ) throws -> (repeat each Result) { try models.aggregate(repeat each aggregates) }

  /// Computes aggregates over groups of what is found that have the same value of a property, in the order of
  /// these values.
  ///
  /// ```swift
  /// for (title, count) in try context.find(Song.self).grouped(by: \.title, .count) { … }
  /// ```
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if a document lacks the property, and it is no optional.
  public func grouped<Group: FieldValue & Sendable, each Result: Sendable>(
    by keyPath: any KeyPath<Object, Group> & Sendable,
    _ aggregates: repeat ModelAggregate<Object, each Result>
  ) throws -> [(group: Group, values: (repeat each Result))] {
    try models.grouped(by: keyPath, repeat each aggregates)
  }

  /// The mean of a number; nil if there is none.
  public func average(_ keyPath: any PartialKeyPath<Object> & Sendable) throws -> Double? {
    try models.average(keyPath)
  }

  /// The sum of a number.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if it does not fit into the property's type.
  public func sum<Value: Numeric & FieldValue & Sendable>(
    _ keyPath: any KeyPath<Object, Value> & Sendable
  ) throws -> Value { try models.sum(keyPath) }

  /// The smallest value of a property; nil if there is none.
  public func min<Value: OrderedQueryValue & Sendable>(
    _ keyPath: any KeyPath<Object, Value> & Sendable
  ) throws -> Value? { try models.min(keyPath) }

  /// The largest value of a property; nil if there is none.
  public func max<Value: OrderedQueryValue & Sendable>(
    _ keyPath: any KeyPath<Object, Value> & Sendable
  ) throws -> Value? { try models.max(keyPath) }

  /// The distinct values of a property in what is found, in their order; nil is none.
  public func distinct<Value: QueryValue>(
    _ keyPath: any KeyPath<Object, Value> & Sendable
  ) throws -> [Value] { try models.distinct(keyPath) }

  /// The distinct elements of a list in what is found, in their order.
  public func distinct<Value: QueryValue>(
    _ keyPath: any KeyPath<Object, [Value]> & Sendable
  ) throws -> [Value] { try models.distinct(keyPath) }
}

extension ObjectQuery {
  public func aggregate<each Result: Sendable>(
    _ aggregates: repeat ModelAggregate<Object, each Result>,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> (repeat each Result) {
    let models = models
    return try await models.aggregate(repeat each aggregates)
  }
  public func grouped<Group: FieldValue & Sendable, each Result: Sendable>(
    by keyPath: any KeyPath<Object, Group> & Sendable,
    _ aggregates: repeat ModelAggregate<Object, each Result>,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [(group: Group, values: (repeat each Result))] {
    let models = models
    return try await models.grouped(by: keyPath, repeat each aggregates)
  }
  public func average(
    _ keyPath: any PartialKeyPath<Object> & Sendable,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Double? {
    let models = models
    return try await models.average(keyPath)
  }
  public func sum<Value: Numeric & FieldValue & Sendable>(
    _ keyPath: any KeyPath<Object, Value> & Sendable,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Value {
    let models = models
    return try await models.sum(keyPath)
  }
  public func min<Value: OrderedQueryValue & Sendable>(
    _ keyPath: any KeyPath<Object, Value> & Sendable,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Value? {
    let models = models
    return try await models.min(keyPath)
  }
  public func max<Value: OrderedQueryValue & Sendable>(
    _ keyPath: any KeyPath<Object, Value> & Sendable,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Value? {
    let models = models
    return try await models.max(keyPath)
  }
  public func distinct<Value: QueryValue & Sendable>(
    _ keyPath: any KeyPath<Object, Value> & Sendable,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [Value] {
    let models = models
    return try await models.distinct(keyPath)
  }
  public func distinct<Value: QueryValue & Sendable>(
    _ keyPath: any KeyPath<Object, [Value]> & Sendable,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [Value] {
    let models = models
    return try await models.distinct(keyPath)
  }
}
