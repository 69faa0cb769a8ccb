// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoModel

/// Aggregates over stored objects, like those of ``ModelQuery``.
extension ObjectQuery {
  /// Computes an aggregate over the results.
  ///
  /// Unsaved changes are not included, since the store computes the aggregate.
  ///
  /// ```swift
  /// let (count, average) = try context.find(\Song.seconds > 60).aggregate(.count, .average(\.seconds))
  /// ```
  public func aggregate<A: Sendable>(
    _ a: ModelAggregate<Object, A>
  ) throws -> A { try models.aggregate(a) }

  /// Computes two aggregates over the results.
  ///
  /// Unsaved changes are not included, since the store computes the aggregates.
  public func aggregate<A: Sendable, B: Sendable>(
    _ a: ModelAggregate<Object, A>, _ b: ModelAggregate<Object, B>
  ) throws -> (A, B) { try models.aggregate(a, b) }

  /// Computes aggregates over the results, each with its own result type.
  ///
  /// Unsaved changes are not included, since the store computes the aggregates.
  public func aggregate<each Result: Sendable>(
    _ aggregates: repeat ModelAggregate<Object, each Result>
  ) throws -> (repeat each Result) { try models.aggregate(repeat each aggregates) }

  /// Computes aggregates over groups of results with the same value of a property, ordered by the
  /// stored values.
  ///
  /// Unsaved changes are not included, since the store computes the groups.
  ///
  /// ```swift
  /// for (title, count) in try context.find(Song.self).grouped(by: \.title, .count) { … }
  /// ```
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if a document lacks the property and it is not
  ///   optional.
  public func grouped<Group: Sendable, each Result: Sendable>(
    by keyPath: any KeyPath<Object, Group> & Sendable,
    _ aggregates: repeat ModelAggregate<Object, each Result>
  ) throws -> [(group: Group, values: (repeat each Result))] {
    try models.grouped(by: keyPath, repeat each aggregates)
  }

  /// Computes aggregates over groups by the elements of a list, with a group of nil for objects
  /// without elements.
  ///
  /// Unsaved changes are not included, since the store computes the groups.
  public func grouped<List: ListQueryValue & Sendable, each Result: Sendable>(
    by keyPath: any KeyPath<Object, List> & Sendable,
    _ aggregates: repeat ModelAggregate<Object, each Result>
  ) throws -> [(group: List.ListElement?, values: (repeat each Result))] {
    try models.grouped(by: keyPath, repeat each aggregates)
  }

  /// Computes aggregates over groups of results with the same values of two properties.
  ///
  /// Unsaved changes are not included, since the store computes the groups.
  public func grouped<First: Sendable, Second: Sendable, each Result: Sendable>(
    by first: any KeyPath<Object, First> & Sendable,
    _ second: any KeyPath<Object, Second> & Sendable,
    _ aggregates: repeat ModelAggregate<Object, each Result>
  ) throws -> [(group: (First, Second), values: (repeat each Result))] {
    try models.grouped(by: first, second, repeat each aggregates)
  }

  /// Returns the average of a numeric property, or nil if there are no values.
  ///
  /// Unsaved changes are not included, since the store computes the average.
  public func average(
    _ keyPath: any KeyPath<Object, some NumericQueryValue> & Sendable
  ) throws -> Double? { try models.average(keyPath) }

  /// Returns the sum of a numeric property, or 0 if there are no values.
  ///
  /// Unsaved changes are not included, since the store computes the sum.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if the sum overflows the property's type.
  public func sum<Value: NumericQueryValue>(
    _ keyPath: any KeyPath<Object, Value> & Sendable
  ) throws -> Value.Number { try models.sum(keyPath) }

  /// Returns the smallest value of a property, or nil if there is none.
  ///
  /// Unsaved changes are not included, since the store computes the minimum.
  public func min<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<Object, Value> & Sendable
  ) throws -> Value.Unwrapped? { try models.min(keyPath) }

  /// Returns the largest value of a property, or nil if there is none.
  ///
  /// Unsaved changes are not included, since the store computes the maximum.
  public func max<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<Object, Value> & Sendable
  ) throws -> Value.Unwrapped? { try models.max(keyPath) }

  /// Returns the distinct values of a property, ordered by their stored form. Nil is omitted.
  ///
  /// Unsaved changes are not included, since the store computes the values.
  public func distinct<Value: Sendable>(
    _ keyPath: any KeyPath<Object, Value> & Sendable
  ) throws -> [Value] { try models.distinct(keyPath) }

  /// Returns the distinct elements of a list, ordered by their stored form.
  ///
  /// Unsaved changes are not included, since the store computes the elements.
  public func distinct<List: ListQueryValue & Sendable>(
    _ keyPath: any KeyPath<Object, List> & Sendable
  ) throws -> [List.ListElement] { try models.distinct(keyPath) }

}

extension ObjectQuery {
  /// The asynchronous form of `aggregate(_:)`, which does not block the calling thread.
  public func aggregate<A: Sendable>(
    _ a: ModelAggregate<Object, A>,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> A {
    let models = models
    return try await models.aggregate(a)
  }
  /// The asynchronous form of `aggregate(_:_:)`, which does not block the calling thread.
  public func aggregate<A: Sendable, B: Sendable>(
    _ a: ModelAggregate<Object, A>, _ b: ModelAggregate<Object, B>,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> (A, B) {
    let models = models
    return try await models.aggregate(a, b)
  }
  /// The asynchronous form of `aggregate(_:)` for any number of aggregates, which does not block
  /// the calling thread.
  public func aggregate<each Result: Sendable>(
    _ aggregates: repeat ModelAggregate<Object, each Result>,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> (repeat each Result) {
    let models = models
    return try await models.aggregate(repeat each aggregates)
  }
  /// The asynchronous form of `grouped(by:_:)`, which does not block the calling thread.
  public func grouped<Group: Sendable, each Result: Sendable>(
    by keyPath: any KeyPath<Object, Group> & Sendable,
    _ aggregates: repeat ModelAggregate<Object, each Result>,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [(group: Group, values: (repeat each Result))] {
    let models = models
    return try await models.grouped(by: keyPath, repeat each aggregates)
  }
  /// The asynchronous form of `grouped(by:_:)` for a list, which does not block the calling thread.
  public func grouped<List: ListQueryValue & Sendable, each Result: Sendable>(
    by keyPath: any KeyPath<Object, List> & Sendable,
    _ aggregates: repeat ModelAggregate<Object, each Result>,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [(group: List.ListElement?, values: (repeat each Result))]
  where List.ListElement: Sendable {
    let models = models
    return try await models.grouped(by: keyPath, repeat each aggregates)
  }
  /// The asynchronous form of `grouped(by:_:_:)` for two properties, which does not block the
  /// calling thread.
  public func grouped<First: Sendable, Second: Sendable, each Result: Sendable>(
    by first: any KeyPath<Object, First> & Sendable,
    _ second: any KeyPath<Object, Second> & Sendable,
    _ aggregates: repeat ModelAggregate<Object, each Result>,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [(group: (First, Second), values: (repeat each Result))] {
    let models = models
    return try await models.grouped(by: first, second, repeat each aggregates)
  }
  /// The asynchronous form of ``average(_:)``, which does not block the calling thread.
  public func average(
    _ keyPath: any KeyPath<Object, some NumericQueryValue> & Sendable,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Double? {
    let models = models
    return try await models.average(keyPath)
  }
  /// The asynchronous form of ``sum(_:)``, which does not block the calling thread.
  public func sum<Value: NumericQueryValue>(
    _ keyPath: any KeyPath<Object, Value> & Sendable,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Value.Number {
    let models = models
    return try await models.sum(keyPath)
  }
  /// The asynchronous form of ``min(_:)``, which does not block the calling thread.
  public func min<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<Object, Value> & Sendable,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Value.Unwrapped? {
    let models = models
    return try await models.min(keyPath)
  }
  /// The asynchronous form of ``max(_:)``, which does not block the calling thread.
  public func max<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<Object, Value> & Sendable,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Value.Unwrapped? {
    let models = models
    return try await models.max(keyPath)
  }
  /// The asynchronous form of `distinct(_:)`, which does not block the calling thread.
  public func distinct<Value: Sendable>(
    _ keyPath: any KeyPath<Object, Value> & Sendable,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [Value] {
    let models = models
    return try await models.distinct(keyPath)
  }
  /// The asynchronous form of `distinct(_:)` for a list, which does not block the calling thread.
  public func distinct<List: ListQueryValue & Sendable>(
    _ keyPath: any KeyPath<Object, List> & Sendable,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [List.ListElement] where List.ListElement: Sendable {
    let models = models
    return try await models.distinct(keyPath)
  }
}
