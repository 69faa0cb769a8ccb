// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

extension ModelQuery {
  /// Computes aggregates over what is found, each with the type of its result.
  ///
  /// ```swift
  /// let (count, average, oldest) = try people.find(\.lastName == "Doe")
  ///   .aggregate(.count, .average(\.salary), .max(\.age))
  /// ```
  public func aggregate<each Result: Sendable>(
    _ aggregates: repeat ModelAggregate<M, each Result>
  ) throws -> (repeat each Result) { try all(repeat each aggregates) }

  private func all<each Result: Sendable>(
    _ aggregates: repeat ModelAggregate<M, each Result>
  ) throws -> (repeat each Result) {
    let rows = try rows(groups: [], repeat each aggregates)
    var values = (rows.first?.values ?? [])[...]
    return (repeat try (each aggregates).result(values.popFirst() ?? .null))
  }
  // Up to three without a pack: with one, Swift 6.3 does not type-check key paths with `?`, as in `.max(\.place?.height)`.
  public func aggregate<A: Sendable>(_ a: ModelAggregate<M, A>) throws -> A { try only(a) }
  public func aggregate<A: Sendable, B: Sendable>(
    _ a: ModelAggregate<M, A>, _ b: ModelAggregate<M, B>
  ) throws -> (A, B) { try all(a, b) }
  public func aggregate<A: Sendable, B: Sendable, C: Sendable>(
    _ a: ModelAggregate<M, A>, _ b: ModelAggregate<M, B>, _ c: ModelAggregate<M, C>
  ) throws -> (A, B, C) { try all(a, b, c) }
  public func aggregate<A: Sendable>(_ a: ModelAggregate<M, A>) async throws -> A {
    try await onReader { try $0.only(a) }
  }
  public func aggregate<A: Sendable, B: Sendable>(
    _ a: ModelAggregate<M, A>, _ b: ModelAggregate<M, B>
  ) async throws -> (A, B) { try await onReader { try $0.all(a, b) } }
  public func aggregate<A: Sendable, B: Sendable, C: Sendable>(
    _ a: ModelAggregate<M, A>, _ b: ModelAggregate<M, B>, _ c: ModelAggregate<M, C>
  ) async throws -> (A, B, C) { try await onReader { try $0.all(a, b, c) } }
  public func aggregate<each Result: Sendable>(
    _ aggregates: repeat ModelAggregate<M, each Result>
  ) async throws -> (repeat each Result) {
    try await onReader { try $0.all(repeat each aggregates) }
  }

  private func only<Result: Sendable>(
    _ aggregate: ModelAggregate<M, Result>
  ) throws -> Result {
    try aggregate.result(rows(groups: [], aggregate).first?.values.first ?? .null)
  }

  func rows<each Result: Sendable>(
    groups: [PropertyLocation], _ aggregates: repeat ModelAggregate<M, each Result>
  ) throws -> [AggregateRow] {
    var asked: [Aggregate] = []
    var places = groups
    for aggregate in repeat each aggregates {
      asked.append(try aggregate.aggregate.get())
      if let place = aggregate.place { places.append(place) }
    }
    let query = try documentQuery()
    let question = AggregateQuery(
      query.query, groups: groups.map(\.path), aggregates: asked)
    guard try hasVariants(of: places) else { return try query.rows(question) }
    let program = CompiledAggregation(question)
    try eachFields { (fields) throws(StoreError) in try program.add(try fields.asRead()) }
    return program.rows
  }

  /// Whether some document has one of the fields in another way than today's. Then what is computed is
  /// computed of what is read, which takes longer.
  func hasVariants(of places: [PropertyLocation]) throws -> Bool {
    let conditions = places.filter { $0.hasVariants || $0.hasComputedDefault }.map { place in
      place.isList ? Condition.not(.exists(place.path)) : .isNull(.field(place.path))
    }
    guard !conditions.isEmpty else { return false }
    return try collection.documents.find(.any(conditions)).withoutFieldCheck.exists()
  }

  /// The mean of a number; nil if there is none. Of lists, the mean of all their elements.
  public func average(_ keyPath: any KeyPath<M, some NumericQueryValue> & Sendable) throws
    -> Double?
  { try only(.average(keyPath)) }
  public func average(
    _ keyPath: any KeyPath<M, some NumericQueryValue> & Sendable
  ) async throws -> Double? { try await onReader { try $0.average(keyPath) } }

  /// The sum of a number; 0 if there is none. Of lists, the sum of all their elements.
  ///
  /// ```swift
  /// try orders.find().sum(\.cents)              // 119
  /// ```
  ///
  /// A `Decimal` cannot be added up: it is stored as text. Keep an amount as an integer of its smallest unit.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if it does not fit into the property's type.
  public func sum<Value: NumericQueryValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) throws -> Value.Number { try only(.sum(keyPath)) }
  public func sum<Value: NumericQueryValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) async throws -> Value.Number { try await onReader { try $0.sum(keyPath) } }

  /// The smallest value of a property; nil if there is none.
  public func min<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) throws -> Value.Unwrapped? { try only(.min(keyPath)) }
  public func min<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) async throws -> Value.Unwrapped? { try await onReader { try $0.min(keyPath) } }

  /// The largest value of a property; nil if there is none.
  public func max<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) throws -> Value.Unwrapped? { try only(.max(keyPath)) }
  public func max<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) async throws -> Value.Unwrapped? { try await onReader { try $0.max(keyPath) } }
}

extension Model {
  /// - Throws: ``StoreError/Code/invalidArgument`` if the property is not stored,
  ///   ``StoreError/Code/unsupported`` for the key, which is no field.
  static func aggregatedPlace(
    of keyPath: any AnyKeyPath & Sendable
  ) throws(StoreError) -> PropertyLocation {
    let place = try place(of: keyPath)
    guard !place.isKey else {
      throw StoreError(
        .unsupported, "The key of documents has no part in aggregates and groups",
        [.collection: collectionName, .hint: "keys() gives the keys of what is found"])
    }
    return place
  }
}
