// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

extension PostgresWriter {
  /// Returns a document of a collection, locked until the transaction ends; or what is committed now, in a transaction
  /// that does not lock what it reads.
  func document(_ identity: Identity, in name: String) throws -> (KnownDocument, Int64)? {
    let folded = name.folded
    if tables[folded] == nil, let cached = core.cache[folded], !name.utf8.contains(0) {
      let use = FirstUse(collection: cached, statements: [select(identity, cached)])
      if let found = try begin([use])?.first?.first, let table = tables[folded] {
        return try read(identity, found, table).map { ($0, table.collection.incarnation) }
      }
    }
    guard let table = try table(name) else { return nil }
    switch table.known[identity] {
    case .stored(let document): return (document, table.collection.incarnation)
    case .missing: return nil
    case .unknown:
      let found = try session.run(select(identity, table.collection))
      return try read(identity, found, table).map { ($0, table.collection.incarnation) }
    }
  }

  private func select(_ identity: Identity, _ collection: PostgresCollection) -> PostgresStatement {
    var sql =
      "SELECT \(PostgresQueryCompiler.columns) FROM \(collection.table) WHERE " + identity.condition
    if let visible = collection.isVisible(at: time(collection)) { sql += " AND " + visible }
    return (isSerializable ? sql + " FOR UPDATE" : sql).statement
  }

  private func read(
    _ identity: Identity, _ found: PostgresResult, _ table: WriterTable
  ) throws -> KnownDocument? {
    guard found.count == 0, isSerializable, !table.isWhole else { return note(found, table) }
    // There is no row to lock, so that another transaction could insert the document.
    var statements: [PostgresStatement] = []
    switch identity {
    case .key(let key):
      // Otherwise, a transaction that has locked an expired document could extend its expiration.
      if table.hasExpiredRows, expiry.sweeps { try removeExpired([identity], table) }
      statements = try lock([key], table)
    case .rowID: try lockWhole(table)
    }
    statements.append(select(identity, table.collection))
    let document = note(try session.run(statements)[statements.count - 1], table)
    if document == nil, case .key(let key) = identity, !table.hasExpiredRows || expiry.sweeps {
      table.known.noteMissing(key)
    }
    return document
  }

  private func note(_ found: PostgresResult, _ table: WriterTable) -> KnownDocument? {
    guard found.count > 0 else { return nil }
    let document = found.withDocument(0, table.collection.incarnation) { KnownDocument($0) }
    if isSerializable { table.known.note(document) }
    return document
  }
}
