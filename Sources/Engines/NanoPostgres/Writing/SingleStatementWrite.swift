// SPDX-License-Identifier: MIT

import Foundation
package import NanoDocument
package import NanoEngine
import NanoSQL

/// Stores one document in one round trip.
struct SingleStatementWrite {
  let core: PostgresCore
  let collection: PostgresCollection
  let document: NewDocument
  let replacing: Bool

  func run(_ row: DocumentRow, _ interruption: Interruption?) throws -> SingleWriteOutcome {
    var single = SingleStatement(core, collection)
    let (sql, upsert) = statement(row, single)
    switch try single.run(sql, keys: document.key.map { [$0] } ?? [], interruption) {
    case .needsTransaction: return .needsTransaction
    case .committed(let stamp): return .committed(stamp: stamp)
    case .rows(let rows):
      // The metadata is out of date.
      guard rows.count > 0 else { return .needsTransaction }
      core.tokens.noteCommit(core)
      let isNew = upsert?.isNew(rows.int(0, 1)) ?? true
      return .stored(
        SingleWriteResult(
          rowID: rows.int(0, 0), kind: isNew ? .inserted : .updated, stamp: rows.int(0, 2)))
    }
  }

  /// Returns the result of a committed write whose response was lost.
  func stored(stamp: Int64) throws -> SingleWriteResult {
    guard let key = document.key, let rows = rows(of: key) else {
      throw StoreError(
        .outcomeUnknown, "The connection was lost; the document was stored with an unknown row ID",
        [.collection: collection.description.name])
    }
    guard rows.count > 0 else {
      // Another connection has removed it since.
      throw StoreError(
        .notFound, "The document was stored, and has been removed since", [.key: key.description])
    }
    // The first revision of a row is 1.
    let isNew = !replacing || rows.int(0, 5) == 1
    return SingleWriteResult(
      rowID: rows.int(0, 0), kind: isNew ? .inserted : .updated, stamp: stamp)
  }

  /// Reads a document; `nil` if the server cannot be reached in time. The loss of a connection must not end the call
  /// with an error that says that nothing was written.
  private func rows(of key: DocumentKey) -> PostgresResult? {
    let deadline = ContinuousClock.now + core.configuration.busyTimeout
    repeat {
      let session = PostgresSession(core.pool, .none, nil)
      defer { session.end() }
      if let rows = try? session.run(core.get(.key(key), collection, at: nil)) { return rows }
      Thread.sleep(forTimeInterval: 0.01)
    } while ContinuousClock.now < deadline
    return nil
  }

  private func statement(
    _ row: DocumentRow, _ single: SingleStatement
  ) -> (PostgresSQL, DocumentRow.Upsert?) {
    var sql: PostgresSQL = "WITH " + single.valid() + ", doc AS ("
    var upsert: DocumentRow.Upsert?
    if replacing, document.key != nil {
      let statement = row.upsert(collection, from: "c")
      sql += statement.sql
      upsert = statement
    } else {
      let columns = DocumentRow.columns(collection).joined(separator: ", ")
      sql += "INSERT INTO \(collection.table) (\(columns)) SELECT "
      sql += row.values(collection) + " FROM c"
    }
    sql += " RETURNING id, revision), " + single.tokenInsert()
    return (sql + " SELECT doc.id, doc.revision, tok.stamp FROM doc, tok", upsert)
  }
}

extension PostgresEngine {
  package func put(
    _ document: NewDocument, newKey: DocumentKey, replacing: Bool, into collection: String,
    _ interruption: Interruption?
  ) throws -> (rowID: Int64, key: DocumentKey?)? {
    try interruption?.check()
    // An expired document has to be deleted first.
    guard document.rowID == nil, let cached = core.cache[collection.folded], !cached.hasExpirations
    else { return nil }
    var document = document
    if document.key == nil, cached.description.identity == .key { document.key = newKey }
    return try withRow(document, cached) { row in
      let write = SingleStatementWrite(
        core: core, collection: cached, document: document, replacing: replacing)
      let name = cached.description.name
      var stored: Result<SingleWriteResult, any Error>?
      try reporting(ifUnknown: Commit([Change(name, nil)])) {
        let kind = replacing ? GroupedWrite.Kind.save : .insert
        let grouped = document.key.map {
          GroupedWrite(kind: kind, collection: cached, key: $0, row: row)
        }
        switch try groups.run(grouped, core, alone: { try write.run(row, interruption) }) {
        case .stored(let result): stored = .success(result)
        case .committed(let stamp):
          stored = Result { try write.stored(stamp: stamp) }
          // The commit is reported even if the document cannot be read.
          if case .failure? = stored { return (stamp, Commit([Change(name, nil)])) }
        case .unchanged, .needsTransaction: return nil
        }
        guard case .success(let result)? = stored else { return nil }
        return (result.stamp, Commit([Change(name, [result.rowID: result.kind])]))
      }
      return try stored.map { try $0.get() }.map { ($0.rowID, document.key) }
    }
  }

  /// Passes the columns of a document to a closure that stores it, unless it has paths that the catalog lacks: then it
  /// needs a transaction.
  func withRow<Result>(
    _ document: NewDocument, _ collection: PostgresCollection,
    _ store: (DocumentRow) throws -> Result?
  ) throws -> Result? {
    let paths = core.cache.checkOutPaths(of: collection)
    defer {
      if paths.changed.isEmpty {
        core.cache.checkInPaths(paths, of: collection, generation: collection.generation)
      }
    }
    defer { commits.deliver() }
    return try core.convertingErrors {
      try paths.observe(document.body)
      guard paths.changed.isEmpty else { return nil }
      return try store(try DocumentRow(document, id: nil, revision: 1, collection))
    }
  }
}
