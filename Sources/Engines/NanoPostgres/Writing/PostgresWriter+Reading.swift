// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

extension PostgresWriter {
  /// Returns a document of a collection, locked until the transaction ends; or what is committed now, in a transaction
  /// that does not lock what it reads.
  func document(_ identity: Identity, in name: String) throws -> (KnownDocument, Int64)? {
    let folded = name.folded
    if tables[folded] == nil, let cached = core.cache[folded], !name.utf8.contains(0) {
      let use = FirstUse(collection: cached, statements: select(identity, cached))
      if let found = try begin([use])?.first, let table = tables[folded] {
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

  /// Selects a document that has not expired, and locks it; then its state, since another transaction may have let it
  /// expire before it was locked.
  private func select(
    _ identity: Identity, _ collection: PostgresCollection
  ) -> [PostgresStatement] {
    var sql =
      "SELECT \(PostgresQueryCompiler.columns) FROM \(collection.table) WHERE " + identity.condition
    if let visible = collection.isVisible(at: time(collection)) { sql += " AND " + visible }
    guard isSerializable else { return [sql.statement] }
    let states = collection.expiry.map { $0.states(identity.condition, at: time) }
    return [(sql + " FOR UPDATE").statement] + [states].compactMap(\.self)
  }

  /// - Parameter results: Those of ``select(_:_:)``.
  private func read(
    _ identity: Identity, _ results: [PostgresResult], _ table: WriterTable
  ) throws -> KnownDocument? {
    var results = results
    for _ in 0..<Self.attempts {
      let state = results.count > 1 && results[1].count > 0 ? results[1] : nil
      let hasExpired = state?.bool(0, 2) == true
      let isFound = results[0].count > 0
      if isFound, !hasExpired { return note(results[0], table) }
      guard isSerializable else { return nil }
      if let state, hasExpired {
        guard expiry.sweeps else { return nil }
        var keys: [DocumentKey] = []
        if case .key(let key) = identity { keys = [key] }
        let deleted = try delete(
          "t.id = " + .value(.int(state.int(0, 0))), keys: isFound ? [] : keys, table)
        if deleted > 0 || isFound {
          // Until this transaction ends, a row that it has deleted keeps others from inserting the document.
          if deleted > 0 { for key in keys { table.known.noteMissing(key) } }
          return nil
        }
      } else if state == nil, isLocked(identity, table) {
        if case .key(let key) = identity { table.known.noteMissing(key) }
        return nil
      }
      // There is no row to lock, so that another transaction could insert the document.
      var locks: [PostgresStatement] = []
      switch identity {
      case .key(let key): locks = try lock([key], table)
      case .rowID: try lockWhole(table)
      }
      let statements = locks + select(identity, table.collection)
      results = Array(try session.run(statements).dropFirst(locks.count))
    }
    // Another program keeps an expired document, or the role may read and not lock it.
    return nil
  }

  /// Others may change the document between two attempts. Arbitrary.
  private static let attempts = 3

  /// Whether no other transaction can insert a document.
  private func isLocked(_ identity: Identity, _ table: WriterTable) -> Bool {
    if case .key(let key) = identity, table.lockedKeys.contains(key) { return true }
    return table.isWhole
  }

  private func note(_ found: PostgresResult, _ table: WriterTable) -> KnownDocument {
    let document = found.withDocument(0, table.collection.incarnation) { KnownDocument($0) }
    if isSerializable {
      table.known.note(document)
      noteRead(document, table)
    }
    return document
  }
}
