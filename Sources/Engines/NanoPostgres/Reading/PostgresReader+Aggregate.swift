// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension PostgresReader {
  func aggregate(_ query: AggregateQuery, in collection: String) throws -> [AggregateRow] {
    typealias Compiled = PostgresAggregateCompiler.Compiled
    var query = query
    query.query = try joining(query.query, in: collection)
    defer { related = [:] }
    let executed = try execute(collection) { [query] metadata -> (Compiled?, [PostgresStatement]) in
      var query = query
      query.query = try resolved(query.query, metadata)
      let compiled =
        query.query.isRanked ? nil : PostgresAggregateCompiler(metadata: metadata).compile(query)
      return (compiled, compiled.map { [$0.sql.statement] } ?? [])
    }
    guard let (metadata, compiled, results) = executed else {
      return GroupedAggregation(query).rows
    }
    if let compiled { return try compiled.rows(results[0], groups: query.groups.count) }
    let program = CompiledAggregation(query, defaults: metadata.collection.defaults)
    try find(query.query.whole, in: collection) { document in
      try program.add(document.body)
      return true
    }
    return program.rows
  }

  func distinct(
    _ field: FieldPath, _ query: Query, in collection: String
  ) throws -> [DocumentValue] {
    typealias Compiled = PostgresAggregateCompiler.Compiled
    let query = try joining(query, in: collection)
    defer { related = [:] }
    let executed = try execute(collection) { metadata -> (Compiled?, [PostgresStatement]) in
      let query = try resolved(query, metadata)
      let compiled =
        query.isRanked ? nil : PostgresAggregateCompiler(metadata: metadata).distinct(field, query)
      return (compiled, compiled.map { [$0.sql.statement] } ?? [])
    }
    guard let (metadata, compiled, results) = executed else { return [] }
    if let compiled { return try compiled.rows(results[0], groups: 1).map { $0.group[0] } }
    let values = DistinctValues(field, defaults: metadata.collection.defaults)
    try find(query.whole, in: collection) { document in
      try values.add(document.body)
      return true
    }
    return values.values
  }

  func pipeline(
    _ pipeline: Pipeline, _ query: Query, in collection: String,
    _ visit: (DocumentObject) throws -> Bool
  ) throws {
    try run(
      pipeline, query, in: collection, makeSpill: nil, interruption: session.interruption, visit)
  }
}

extension Query {
  /// The query with all fields of each document.
  fileprivate var whole: Query {
    var query = self
    query.fields = nil
    return query
  }
}
