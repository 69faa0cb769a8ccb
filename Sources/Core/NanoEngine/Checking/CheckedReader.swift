// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

/// Forwards the calls of a read block and checks them.
class CheckedReader: EngineReader {
  let base: any EngineReader
  let scope: BlockScope
  let reporter: ContractReporter

  init(_ base: any EngineReader, _ scope: BlockScope, _ reporter: ContractReporter) {
    self.base = base
    self.scope = scope
    self.reporter = reporter
  }

  /// Wraps a reader, which supports SQL if the original does.
  static func wrapping(
    _ reader: any EngineReader, _ scope: BlockScope, _ reporter: ContractReporter
  ) -> any EngineReader {
    guard let sql = reader as? any SQLReader else { return CheckedReader(reader, scope, reporter) }
    return CheckedSQLReader(sql, scope, reporter)
  }

  func checked<Result>(
    _ call: StaticString = #function, _ work: (ContractCheck) throws -> Result
  ) throws -> Result {
    if let violation = scope.violation { reporter.report(violation, call) }
    let check = ContractCheck(reporter, call)
    return try check.run { try work(check) }
  }

  func committedState() throws -> CommittedState? { try checked { _ in try base.committedState() } }

  @discardableResult
  func get(
    _ identity: Identity, in collection: String, _ visit: (StoredDocument) throws -> Void
  ) throws -> Bool {
    try checked { check in
      let exists = try base.get(identity, in: collection) { document in
        check.require(document.has(identity), .wrongDocument)
        try check.callerClosure { try visit(document) }
      }
      check.require(check.count == (exists ? 1 : 0), .wrongResult)
      return exists
    }
  }

  func get(
    keys: [DocumentKey], in collection: String, _ visit: (StoredDocument) throws -> Void
  ) throws {
    try checked { check in
      var requested = RequestedKeys(keys, check)
      try base.get(keys: keys, in: collection) { document in
        requested.receive(document)
        try check.callerClosure { try visit(document) }
      }
    }
  }

  func get(
    rowIDs: [Int64], in collection: String, _ visit: (StoredDocument) throws -> Void
  ) throws {
    try checked { check in
      var remaining = Set(rowIDs)
      try base.get(rowIDs: rowIDs, in: collection) { document in
        check.require(remaining.remove(document.rowID) != nil, .wrongDocument)
        try check.callerClosure { try visit(document) }
      }
    }
  }

  func find(
    _ query: Query, in collection: String, _ visit: (StoredDocument) throws -> Bool
  ) throws {
    try checked { check in
      try base.find(query, in: collection) { document in
        try check.visit(limit: query.limit) { try visit(document) }
      }
    }
  }

  func findInAnyOrder(
    _ query: Query, in collection: String, _ visit: (StoredDocument) throws -> Bool
  ) throws {
    try checked { check in
      try base.findInAnyOrder(query, in: collection) { document in
        try check.visit(limit: query.limit) { try visit(document) }
      }
    }
  }

  func findRanked(
    _ query: Query, in collection: String, _ visit: (StoredDocument, Double) throws -> Bool
  ) throws {
    try checked { check in
      try base.findRanked(query, in: collection) { document, rank in
        try check.visit(limit: query.limit) { try visit(document, rank) }
      }
    }
  }

  func contents(
    _ query: Query, in collection: String, withKeys: Bool,
    _ visit: (StoredContent) throws -> Bool
  ) throws {
    try checked { check in
      try base.contents(query, in: collection, withKeys: withKeys) { content in
        check.require(withKeys || content.key.key == nil, .wrongResult)
        return try check.visit(limit: query.limit) { try visit(content) }
      }
    }
  }

  func rowIDs(_ query: Query, in collection: String) throws -> RowIDResult {
    try checked { check in
      let result = try base.rowIDs(query, in: collection)
      _ = check.requireCount(result.rowIDs.count, limit: query.limit)
      return result
    }
  }

  func count(_ query: Query, in collection: String) throws -> Int {
    try checked { check in
      check.requireCount(try base.count(query, in: collection), limit: query.limit)
    }
  }

  func aggregate(_ query: AggregateQuery, in collection: String) throws -> [AggregateRow] {
    try checked { _ in try base.aggregate(query, in: collection) }
  }

  func aggregate(
    _ query: AggregateQuery, in collection: String, _ visit: (AggregateRow) throws -> Bool
  ) throws {
    try checked { check in
      try base.aggregate(query, in: collection) { row in
        try check.visit(limit: nil) { try visit(row) }
      }
    }
  }

  func distinct(
    _ field: FieldPath, _ query: Query, in collection: String
  ) throws -> [DocumentValue] {
    try checked { _ in try base.distinct(field, query, in: collection) }
  }

  func pipeline(
    _ pipeline: Pipeline, _ query: Query, in collection: String,
    _ visit: (DocumentObject) throws -> Bool
  ) throws {
    try checked { check in
      try base.pipeline(pipeline, query, in: collection) { row in
        try check.visit(limit: nil) { try visit(row) }
      }
    }
  }

  func explain(_ query: Query, in collection: String) throws -> Explanation {
    try checked { _ in try base.explain(query, in: collection) }
  }

  func highestRowID(in collection: String) throws -> Int64? {
    try checked { check in
      let highest = try base.highestRowID(in: collection)
      check.require((highest ?? 0) >= 0, .negativeCount)
      return highest
    }
  }

  func version(ofRow rowID: Int64, in collection: String) throws -> ContentVersion? {
    try checked { _ in try base.version(ofRow: rowID, in: collection) }
  }
}
