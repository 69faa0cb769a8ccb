// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Queries evaluated on decrypted documents.
extension EncryptedReader {
  func rowIDs(_ query: Query, in collection: String) throws -> RowIDResult {
    var query = query
    query.fields = []
    guard let encryptedQuery = try encryptedQuery(query, collection) else {
      return try inner.rowIDs(try plain(query), in: collection)
    }
    if encryptedQuery.isExact { return try inner.rowIDs(encryptedQuery.inner, in: collection) }
    var ids: [Int64] = []
    var incarnation: Int64?
    try find(encryptedQuery, isOrdered: true) { stored in
      incarnation = stored.incarnation
      ids.append(stored.rowID)
      return true
    }
    return RowIDResult(ids, incarnation: incarnation, state: try committedState())
  }

  func count(_ query: Query, in collection: String) throws -> Int {
    var query = query
    query.fields = []
    // Order affects the count only if the page starts after a position.
    if query.after == nil { query.orderings = [] }
    guard let encryptedQuery = try encryptedQuery(query, collection) else {
      return try inner.count(try plain(query), in: collection)
    }
    if encryptedQuery.isExact { return try inner.count(encryptedQuery.inner, in: collection) }
    var count = 0
    try find(encryptedQuery, isOrdered: false) { _ in
      count += 1
      return true
    }
    return count
  }

  func aggregate(_ query: AggregateQuery, in collection: String) throws -> [AggregateRow] {
    var query = query
    // The selected fields are those of results, while the aggregates read any.
    query.query.fields = nil
    guard let encryptedQuery = try encryptedQuery(query.query, collection) else {
      return try inner.aggregate(try plain(query), in: collection)
    }
    let program = CompiledAggregation(query, defaults: encryptedQuery.defaults)
    try find(encryptedQuery, isOrdered: true) { stored in
      try program.add(stored.body)
      return true
    }
    return program.rows
  }

  func aggregate(
    _ query: AggregateQuery, in collection: String, _ visit: (AggregateRow) throws -> Bool
  ) throws {
    guard try encryptedQuery(query.query, collection) != nil else {
      return try inner.aggregate(try plain(query), in: collection, visit)
    }
    for row in try aggregate(query, in: collection) where try !visit(row) { return }
  }

  func distinct(
    _ field: FieldPath, _ query: Query, in collection: String
  ) throws -> [DocumentValue] {
    var query = query
    // As for aggregates.
    query.fields = nil
    guard let encryptedQuery = try encryptedQuery(query, collection) else {
      return try inner.distinct(field, try plain(query), in: collection)
    }
    let values = DistinctValues(field, defaults: encryptedQuery.defaults)
    try find(encryptedQuery, isOrdered: true) { stored in
      try values.add(stored.body)
      return true
    }
    return values.values
  }

  /// Nothing is spilled to disk if a collection is encrypted: the rows are not.
  func pipeline(
    _ pipeline: Pipeline, _ query: Query, in collection: String,
    _ visit: (DocumentObject) throws -> Bool
  ) throws {
    var isEncrypted = try encryptedQuery(query, collection) != nil
    for source in pipeline.sources where !isEncrypted {
      isEncrypted =
        try encryptedQuery(source.query, source.collection) != nil
        || hasEncryptedRelated(source.query)
    }
    guard isEncrypted else {
      return try inner.pipeline(pipeline, try plain(query), in: collection, visit)
    }
    try run(pipeline, query, in: collection, makeSpill: nil, interruption: interruption, visit)
  }

  func explain(_ query: Query, in collection: String) throws -> Explanation {
    guard let encryptedQuery = try encryptedQuery(query, collection) else {
      return try inner.explain(try plain(query), in: collection)
    }
    var explanation = try inner.explain(encryptedQuery.inner, in: collection)
    let blind = try blindIndexes(of: collection)
    explanation.indexes = explanation.indexes.map { blind?.name(ofInner: $0) ?? $0 }
    if encryptedQuery.program != nil || !encryptedQuery.orderings.isEmpty {
      explanation.plan.append("DECRYPT each document")
    }
    if encryptedQuery.program != nil { explanation.checkedPerDocument = query.condition.queryText }
    if !encryptedQuery.orderings.isEmpty { explanation.plan.append("SORT decrypted documents") }
    return explanation
  }
}
