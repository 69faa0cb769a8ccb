// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoModel

/// Aggregates over what is stored, as those of ``ModelQuery``; unsaved changes do not count.
extension ObjectQuery {
  /// Computes aggregates over what is found, each with the type of its result.
  ///
  /// ```swift
  /// let (count, average) = try context.find(\Song.seconds > 60).aggregate(.count, .average(\.seconds))
  /// ```
  public func aggregate<A: Sendable>(
    _ a: ModelAggregate<Object, A>
  ) throws -> A { try models.aggregate(a) }

  /// Computes two aggregates over what is found.
  public func aggregate<A: Sendable, B: Sendable>(
    _ a: ModelAggregate<Object, A>, _ b: ModelAggregate<Object, B>
  ) throws -> (A, B) { try models.aggregate(a, b) }

  /// Computes aggregates over what is found, each with the type of its result.
  public func aggregate<each Result: Sendable>(
    _ aggregates: repeat ModelAggregate<Object, each Result>
  ) throws -> (repeat each Result) { try models.aggregate(repeat each aggregates) }

  /// Computes aggregates over groups of what is found that have the same value of a property, in the order of
  /// the stored values.
  ///
  /// ```swift
  /// for (title, count) in try context.find(Song.self).grouped(by: \.title, .count) { … }
  /// ```
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if a document lacks the property, and it is no optional.
  public func grouped<Group: Sendable, each Result: Sendable>(
    by keyPath: any KeyPath<Object, Group> & Sendable,
    _ aggregates: repeat ModelAggregate<Object, each Result>
  ) throws -> [(group: Group, values: (repeat each Result))] {
    try models.grouped(by: keyPath, repeat each aggregates)
  }

  /// Computes aggregates over groups by the elements of a list, and the group of nil for objects without one.
  public func grouped<List: ListQueryValue & Sendable, each Result: Sendable>(
    by keyPath: any KeyPath<Object, List> & Sendable,
    _ aggregates: repeat ModelAggregate<Object, each Result>
  ) throws -> [(group: List.ListElement?, values: (repeat each Result))] {
    try models.grouped(by: keyPath, repeat each aggregates)
  }

  /// Computes aggregates over groups of what is found that have the same values of two properties.
  public func grouped<First: Sendable, Second: Sendable, each Result: Sendable>(
    by first: any KeyPath<Object, First> & Sendable,
    _ second: any KeyPath<Object, Second> & Sendable,
    _ aggregates: repeat ModelAggregate<Object, each Result>
  ) throws -> [(group: (First, Second), values: (repeat each Result))] {
    try models.grouped(by: first, second, repeat each aggregates)
  }

  /// The mean of a number; nil if there is none.
  public func average(
    _ keyPath: any KeyPath<Object, some NumericQueryValue> & Sendable
  ) throws -> Double? { try models.average(keyPath) }

  /// The sum of a number; 0 if there is none.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if it does not fit into the property's type.
  public func sum<Value: NumericQueryValue>(
    _ keyPath: any KeyPath<Object, Value> & Sendable
  ) throws -> Value.Number { try models.sum(keyPath) }

  /// The smallest value of a property; nil if there is none.
  public func min<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<Object, Value> & Sendable
  ) throws -> Value.Unwrapped? { try models.min(keyPath) }

  /// The largest value of a property; nil if there is none.
  public func max<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<Object, Value> & Sendable
  ) throws -> Value.Unwrapped? { try models.max(keyPath) }

  /// The distinct values of a property in what is found, in the order of the stored values; nil is none.
  public func distinct<Value: Sendable>(
    _ keyPath: any KeyPath<Object, Value> & Sendable
  ) throws -> [Value] { try models.distinct(keyPath) }

  /// The distinct elements of a list in what is found, in the order of the stored values.
  public func distinct<List: ListQueryValue & Sendable>(
    _ keyPath: any KeyPath<Object, List> & Sendable
  ) throws -> [List.ListElement] { try models.distinct(keyPath) }

}

extension ObjectQuery {
  public func aggregate<A: Sendable>(
    _ a: ModelAggregate<Object, A>,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> A {
    let models = models
    return try await models.aggregate(a)
  }
  public func aggregate<A: Sendable, B: Sendable>(
    _ a: ModelAggregate<Object, A>, _ b: ModelAggregate<Object, B>,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> (A, B) {
    let models = models
    return try await models.aggregate(a, b)
  }
  public func aggregate<each Result: Sendable>(
    _ aggregates: repeat ModelAggregate<Object, each Result>,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> (repeat each Result) {
    let models = models
    return try await models.aggregate(repeat each aggregates)
  }
  public func grouped<Group: Sendable, each Result: Sendable>(
    by keyPath: any KeyPath<Object, Group> & Sendable,
    _ aggregates: repeat ModelAggregate<Object, each Result>,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [(group: Group, values: (repeat each Result))] {
    let models = models
    return try await models.grouped(by: keyPath, repeat each aggregates)
  }
  public func grouped<List: ListQueryValue & Sendable, each Result: Sendable>(
    by keyPath: any KeyPath<Object, List> & Sendable,
    _ aggregates: repeat ModelAggregate<Object, each Result>,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [(group: List.ListElement?, values: (repeat each Result))]
  where List.ListElement: Sendable {
    let models = models
    return try await models.grouped(by: keyPath, repeat each aggregates)
  }
  public func grouped<First: Sendable, Second: Sendable, each Result: Sendable>(
    by first: any KeyPath<Object, First> & Sendable,
    _ second: any KeyPath<Object, Second> & Sendable,
    _ aggregates: repeat ModelAggregate<Object, each Result>,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [(group: (First, Second), values: (repeat each Result))] {
    let models = models
    return try await models.grouped(by: first, second, repeat each aggregates)
  }
  public func average(
    _ keyPath: any KeyPath<Object, some NumericQueryValue> & Sendable,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Double? {
    let models = models
    return try await models.average(keyPath)
  }
  public func sum<Value: NumericQueryValue>(
    _ keyPath: any KeyPath<Object, Value> & Sendable,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Value.Number {
    let models = models
    return try await models.sum(keyPath)
  }
  public func min<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<Object, Value> & Sendable,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Value.Unwrapped? {
    let models = models
    return try await models.min(keyPath)
  }
  public func max<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<Object, Value> & Sendable,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Value.Unwrapped? {
    let models = models
    return try await models.max(keyPath)
  }
  public func distinct<Value: Sendable>(
    _ keyPath: any KeyPath<Object, Value> & Sendable,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [Value] {
    let models = models
    return try await models.distinct(keyPath)
  }
  public func distinct<List: ListQueryValue & Sendable>(
    _ keyPath: any KeyPath<Object, List> & Sendable,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [List.ListElement] where List.ListElement: Sendable {
    let models = models
    return try await models.distinct(keyPath)
  }
}
