// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoStoreCore

extension ModelQuery {
  /// Computes aggregates over the results, each with its own result type.
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
  // Up to three aggregates use overloads without a parameter pack: with one, Swift 6.3 does not
  // type-check optional chaining in key paths, as in `.max(\.place?.height)`.
  /// Computes an aggregate over the results.
  public func aggregate<A: Sendable>(_ a: ModelAggregate<M, A>) throws -> A { try only(a) }
  /// Computes two aggregates over the results.
  public func aggregate<A: Sendable, B: Sendable>(
    _ a: ModelAggregate<M, A>, _ b: ModelAggregate<M, B>
  ) throws -> (A, B) { try all(a, b) }
  /// Computes three aggregates over the results.
  public func aggregate<A: Sendable, B: Sendable, C: Sendable>(
    _ a: ModelAggregate<M, A>, _ b: ModelAggregate<M, B>, _ c: ModelAggregate<M, C>
  ) throws -> (A, B, C) { try all(a, b, c) }
  /// The asynchronous form of `aggregate(_:)`, which does not block the calling thread.
  public func aggregate<A: Sendable>(_ a: ModelAggregate<M, A>) async throws -> A {
    try await onReader { try $0.only(a) }
  }
  /// The asynchronous form of `aggregate(_:_:)`, which does not block the calling thread.
  public func aggregate<A: Sendable, B: Sendable>(
    _ a: ModelAggregate<M, A>, _ b: ModelAggregate<M, B>
  ) async throws -> (A, B) { try await onReader { try $0.all(a, b) } }
  /// The asynchronous form of `aggregate(_:_:_:)`, which does not block the calling thread.
  public func aggregate<A: Sendable, B: Sendable, C: Sendable>(
    _ a: ModelAggregate<M, A>, _ b: ModelAggregate<M, B>, _ c: ModelAggregate<M, C>
  ) async throws -> (A, B, C) { try await onReader { try $0.all(a, b, c) } }
  /// The asynchronous form of `aggregate(_:)` for any number of aggregates, which does not block
  /// the calling thread.
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
    var requested: [Aggregate] = []
    var locations = groups
    for aggregate in repeat each aggregates {
      requested.append(try aggregate.aggregate.get())
      if let location = aggregate.location { locations.append(location) }
    }
    let query = try documentQuery()
    let aggregateQuery = AggregateQuery(
      query.query, groups: groups.map(\.path), aggregates: requested)
    guard try hasVariants(of: locations) else { return try query.rows(aggregateQuery) }
    let aggregation = CompiledAggregation(aggregateQuery)
    try eachFields { (fields) throws(StoreError) in
      try aggregation.add(try fields.normalizedBytes())
    }
    return aggregation.rows
  }

  /// Returns whether a document stores one of the fields in an older form or lacks it. In that
  /// case, aggregates are computed on decoded values, which is slower.
  func hasVariants(of locations: [PropertyLocation]) throws -> Bool {
    let decimals = locations.filter(\.isDecimal)
    let paths = decimals.isEmpty ? [] : try collection.documents.observedPaths()
    guard let condition = Self.conditionOfVariants(of: locations, paths) else { return false }
    return try collection.documents.find(condition).withoutFieldCheck.exists()
  }

  /// Returns the condition that a document stores one of the fields in an older form or lacks it;
  /// nil if no field has older forms.
  ///
  /// - Parameter paths: All paths in the collection, if one of the fields holds decimals.
  static func conditionOfVariants(
    of locations: [PropertyLocation], _ paths: [ObservedPath]
  ) -> Condition? {
    var conditions = locations.filter { $0.hasVariants || $0.hasComputedDefault }.map { location in
      location.isList ? Condition.hasNoList(location.path) : .isNull(.field(location.path))
    }
    let decimals = Set(locations.filter(\.isDecimal).map(\.path))
    conditions += paths.holdingText(of: decimals).map { .isText($0) }
    // An upgrade can compute any field.
    if !locations.isEmpty, !M.upgrades.isEmpty { conditions += M.conditionsOfFormerVersions }
    return conditions.isEmpty ? nil : .any(conditions)
  }

  /// Returns the average of a numeric property, or nil if there are no values. Lists contribute all
  /// their elements.
  public func average(_ keyPath: any KeyPath<M, some NumericQueryValue> & Sendable) throws
    -> Double?
  { try only(.average(keyPath)) }
  /// The asynchronous form of ``average(_:)``, which does not block the calling thread.
  public func average(
    _ keyPath: any KeyPath<M, some NumericQueryValue> & Sendable
  ) async throws -> Double? { try await onReader { try $0.average(keyPath) } }

  /// Returns the average of a `Decimal` property, rounded to 34 digits, or nil if there are no values.
  public func average(_ keyPath: any KeyPath<M, Decimal> & Sendable) throws -> Decimal? {
    try only(.average(keyPath))
  }
  /// The asynchronous form of ``average(_:)``, which does not block the calling thread.
  public func average(_ keyPath: any KeyPath<M, Decimal> & Sendable) async throws -> Decimal? {
    try await onReader { try $0.average(keyPath) }
  }

  /// Returns the sum of a numeric property, or 0 if there are no values. Lists contribute all their
  /// elements.
  ///
  /// ```swift
  /// try orders.find().sum(\.cents)              // 119
  /// ```
  ///
  /// The sum of `Decimal` values is exact.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if the sum overflows the property's type.
  public func sum<Value: NumericQueryValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) throws -> Value.Number { try only(.sum(keyPath)) }
  /// The asynchronous form of ``sum(_:)``, which does not block the calling thread.
  public func sum<Value: NumericQueryValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) async throws -> Value.Number { try await onReader { try $0.sum(keyPath) } }

  /// Returns the smallest value of a property, or nil if there is none.
  public func min<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) throws -> Value.Unwrapped? { try only(.min(keyPath)) }
  /// The asynchronous form of ``min(_:)``, which does not block the calling thread.
  public func min<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) async throws -> Value.Unwrapped? { try await onReader { try $0.min(keyPath) } }

  /// Returns the largest value of a property, or nil if there is none.
  public func max<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) throws -> Value.Unwrapped? { try only(.max(keyPath)) }
  /// The asynchronous form of ``max(_:)``, which does not block the calling thread.
  public func max<Value: OrderedQueryValue>(
    _ keyPath: any KeyPath<M, Value> & Sendable
  ) async throws -> Value.Unwrapped? { try await onReader { try $0.max(keyPath) } }
}

extension Model {
  /// Returns the location of a property for aggregates and groups.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if the property is not stored,
  ///   ``StoreError/Code/unsupported`` for the key, which is not a field.
  static func aggregatedLocation(
    of keyPath: any AnyKeyPath & Sendable
  ) throws(StoreError) -> PropertyLocation {
    let location = try location(of: keyPath)
    guard !location.isKey else {
      throw StoreError(
        .unsupported, "A key cannot be aggregated or grouped by",
        [.collection: collectionName, .hint: "call keys() for the keys of the results"])
    }
    return location
  }
}
