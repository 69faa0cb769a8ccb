// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Queries evaluated on decrypted documents.
extension EncryptedReader {
  func rowIDs(_ query: Query, in collection: String) throws -> RowIDResult {
    var query = query
    query.fields = []
    guard let question = try question(query, collection) else {
      return try inner.rowIDs(query, in: collection)
    }
    if question.isExact { return try inner.rowIDs(question.inner, in: collection) }
    var ids: [Int64] = []
    var incarnation: Int64?
    try find(question, isOrdered: true) { stored in
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
    guard let question = try question(query, collection) else {
      return try inner.count(query, in: collection)
    }
    if question.isExact { return try inner.count(question.inner, in: collection) }
    var count = 0
    try find(question, isOrdered: false) { _ in
      count += 1
      return true
    }
    return count
  }

  func aggregate(_ query: AggregateQuery, in collection: String) throws -> [AggregateRow] {
    guard let question = try question(query.query, collection) else {
      return try inner.aggregate(query, in: collection)
    }
    let program = CompiledAggregation(query, defaults: question.defaults)
    try find(question, isOrdered: true) { stored in
      try program.add(stored.body)
      return true
    }
    return program.rows
  }

  func distinct(
    _ field: FieldPath, _ query: Query, in collection: String
  ) throws -> [DocumentValue] {
    guard let question = try question(query, collection) else {
      return try inner.distinct(field, query, in: collection)
    }
    let values = DistinctValues(field, defaults: question.defaults)
    try find(question, isOrdered: true) { stored in
      try values.add(stored.body)
      return true
    }
    return values.values
  }

  func explain(_ query: Query, in collection: String) throws -> Explanation {
    guard let question = try question(query, collection) else {
      return try inner.explain(query, in: collection)
    }
    var explanation = try inner.explain(question.inner, in: collection)
    let blind = try blindIndexes(of: collection)
    explanation.indexes = explanation.indexes.map { blind?.name(ofInner: $0) ?? $0 }
    if question.program != nil || !question.orderings.isEmpty {
      explanation.plan.append("DECRYPT each document")
    }
    if question.program != nil { explanation.checkedPerDocument = query.condition.queryText }
    if !question.orderings.isEmpty { explanation.plan.append("SORT decrypted documents") }
    return explanation
  }
}
