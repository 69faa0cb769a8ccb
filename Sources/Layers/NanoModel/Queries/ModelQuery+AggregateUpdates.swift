// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
public import NanoStoreCore

extension ModelQuery {
  /// Returns a live view of aggregates over the results.
  ///
  /// ```swift
  /// for try await (count, oldest) in people.find().aggregateUpdates(.count, .max(\.age)) { … }
  /// ```
  ///
  /// - Throws: During iteration, the errors of ``aggregate(_:)``. An error ends the loop.
  public func aggregateUpdates<each Result: Sendable>(
    _ aggregates: repeat ModelAggregate<M, each Result>
  ) -> ValueUpdates<(repeat each Result)> {
    ValueUpdates(
      evaluator: evaluator(groups: { [] }, repeat each aggregates) { rows in
        var values = (rows.first?.values ?? [])[...]
        return (repeat try (each aggregates).result(values.popFirst() ?? .null))
      })
  }

  /// Returns a live view of aggregates over groups of results with the same value of a property.
  ///
  /// ```swift
  /// for try await cities in people.find().groupedUpdates(by: \.city, .count) { … }
  /// ```
  ///
  /// For groups by several properties or by the elements of a list, use
  /// `documentQuery().groupedUpdates(by:aggregates:)`.
  ///
  /// - Throws: During iteration, the errors of ``aggregateUpdates(_:)``;
  ///   ``StoreError/Code/unsupported`` if the property is a list. An error ends the loop.
  public func groupedUpdates<Group: Sendable, each Result: Sendable>(
    by keyPath: any KeyPath<M, Group> & Sendable,
    _ aggregates: repeat ModelAggregate<M, each Result>
  ) -> ValueUpdates<[(group: Group, values: (repeat each Result))]> {
    ValueUpdates(
      evaluator: evaluator(
        groups: { [try M.singleValueLocation(of: keyPath)] }, repeat each aggregates
      ) { rows in
        try rows.map { row in
          (
            group: try StoredValues.value(row.group[0]),
            values: try row.values(repeat each aggregates)
          )
        }
      })
  }

  private func evaluator<Value: Sendable, each Result: Sendable>(
    groups: () throws -> [PropertyLocation],
    _ aggregates: repeat ModelAggregate<M, each Result>,
    make: @escaping @Sendable ([AggregateRow]) throws -> Value
  ) -> LiveQueryEvaluator<Value> {
    // The order decides which values count. A document that is written later can lack a field with a default.
    let isLimited = limit != nil || offset > 0 || after != nil
    let plan = Swift.Result { () throws -> LiveAggregation<M> in
      let groups = try groups()
      var (requested, locations) = ([Aggregate](), groups)
      for aggregate in repeat each aggregates {
        requested.append(try aggregate.aggregate.get())
        if let location = aggregate.location { locations.append(location) }
      }
      let query = AggregateQuery(
        try documentQuery(order: isLimited ? .defaults : .current).query,
        groups: groups.map(\.path), aggregates: requested)
      return LiveAggregation(query: query, locations: locations, decoder: collection.decoder)
    }
    return LiveQueryEvaluator(
      store: collection.store, collection: collection.name,
      query: (try? plan.get().query.query) ?? Query(.constant(true)), isSnapshot: true
    ) { [name = collection.name] reader in
      let rows = try plan.get().rows(reader, in: name)
      return LiveResult(try .values(of: rows)) { try make(rows) }
    }
  }
}

/// Aggregates over a model's values, computed from one snapshot.
private struct LiveAggregation<M: Model>: Sendable {
  let query: AggregateQuery
  /// The groups and aggregated properties.
  let locations: [PropertyLocation]
  let decoder: ModelDecoder<M>

  func rows(_ reader: any EngineReader, in collection: String) throws -> [AggregateRow] {
    try query.validate()
    let hasDecimals = locations.contains(where: \.isDecimal)
    let paths = hasDecimals ? try reader.observedPaths(in: collection) : []
    let variants = ModelQuery<M>.conditionOfVariants(of: locations, paths)
    let hasVariants =
      try variants.map { try reader.count(Query($0, limit: 1), in: collection) > 0 } ?? false
    guard hasVariants else { return try reader.aggregate(query, in: collection) }
    let aggregation = CompiledAggregation(query)
    try reader.find(query.query, in: collection) { stored in
      do throws(StoreError) {
        var fields = try ReadFields(stored, decoder)
        try aggregation.add(try fields.normalizedBytes())
      } catch {
        throw decoder.located(error, stored.body, stored.key, stored.rowID)
      }
      return true
    }
    return aggregation.rows
  }
}
