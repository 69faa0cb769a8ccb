// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Why a document cannot be stored.
struct DocumentConflict {
  let error: StoreError
  /// The document that has its key, its row ID, or its values of a unique index.
  var rowID: Int64?
}

extension PostgresWriter {
  /// Runs a statement that a unique index may reject. A violation rolls back only the statement, and the
  /// transaction stays open.
  func runReportingViolations(
    _ row: DocumentRow, _ table: WriterTable, _ sql: PostgresSQL, _ identity: Identity? = nil
  ) throws -> PostgresResult {
    guard table.collection.hasUniqueIndexes else { return try runWithoutIndexes(table, sql) }
    var triesAgain = true
    while true {
      do {
        let results = try session.run([
          PostgresStatement("SAVEPOINT nano_single"), sql.statement,
          PostgresStatement("RELEASE SAVEPOINT nano_single"),
        ])
        return results[1]
      } catch  where session.failure?.state == PostgresFailure.uniqueViolation {
        try session.rollBack(to: "nano_single")
        // It would remain open, and the next attempt begin another one in it.
        session.send([PostgresStatement("RELEASE SAVEPOINT nano_single")])
        let own = try (identity ?? row.document.key.map(Identity.key)).flatMap {
          try rowID(of: $0, table)
        }
        let conflict = try violation(row, table, except: own)
        try retry(after: conflict, conflict?.error ?? error, table, &triesAgain)
      }
    }
  }

  /// Runs an INSERT that stores nothing if an index rejects the document, and returns the row ID.
  ///
  /// - Parameter locks: Statements to run before it.
  func runReportingConflicts(
    _ row: DocumentRow, _ table: WriterTable, _ sql: PostgresSQL, after locks: [PostgresStatement]
  ) throws -> Int64 {
    var result = try session.run(locks + [sql.statement])[locks.count]
    var triesAgain = true
    while result.count == 0 {
      let conflict = try conflict(row, table)
      try retry(after: conflict, conflict.error, table, &triesAgain)
      result = try session.run(sql.statement)
    }
    return result.int(0, 0)
  }

  /// Deletes the document that another one conflicts with, if it has expired. Permits one more attempt if there is none:
  /// others may have deleted it before it was looked up.
  private func retry(
    after conflict: DocumentConflict?, _ error: any Error, _ table: WriterTable,
    _ triesAgain: inout Bool
  ) throws {
    if let rowID = conflict?.rowID {
      switch try removeExpired([.rowID(rowID)], table) {
      case .deleted: return
      case .none: throw error
      case .unknown: break
      }
    }
    guard triesAgain, conflict?.rowID == nil || table.mayHaveExpiredRows else { throw error }
    triesAgain = false
  }

  private func rowID(of identity: Identity, _ table: WriterTable) throws -> Int64? {
    let sql =
      "SELECT id FROM \(table.collection.table) WHERE " + identity.condition + locking(table)
    let found = try session.run(sql.statement)
    return found.count > 0 ? found.int(0, 0) : nil
  }

  /// Locks a document that prevents another one from being stored: the caller may act on it, so it must not be deleted
  /// afterward.
  private func locking(
    _ table: WriterTable, _ clause: PostgresSQL = " FOR UPDATE"
  ) -> PostgresSQL {
    isSerializable && !table.isWhole ? clause : ""
  }

  /// Runs a statement that only a unique index may reject that is being created concurrently.
  private func runWithoutIndexes(
    _ table: WriterTable, _ sql: PostgresSQL
  ) throws -> PostgresResult {
    do {
      return try session.run(sql.statement)
    } catch  where session.failure?.state == PostgresFailure.uniqueViolation {
      throw Self.equalValues(table)
    }
  }

  private static func equalValues(_ table: WriterTable) -> StoreError {
    StoreError(
      .uniqueViolation, PostgresFailure.equalValues,
      [.collection: table.collection.description.name])
  }

  /// Returns the reason why a document was not inserted.
  func conflict(_ row: DocumentRow, _ table: WriterTable) throws -> DocumentConflict {
    let name = table.collection.description.name
    if let key = row.document.key {
      if let id = try rowID(of: .key(key), table) {
        return DocumentConflict(error: .duplicateKey(key, in: name), rowID: id)
      }
    }
    if let id = row.id {
      if try rowID(of: .rowID(id), table) != nil {
        return DocumentConflict(error: .duplicateRowID(id, in: name), rowID: id)
      }
    }
    // What remains is a unique index that is being created concurrently.
    return try violation(row, table, except: nil)
      ?? DocumentConflict(error: Self.equalValues(table))
  }

  /// Returns the unique index that a document violates, with the existing document that has its values.
  private func violation(
    _ row: DocumentRow, _ table: WriterTable, except own: Int64?
  ) throws -> DocumentConflict? {
    for index in table.collection.indexes where index.definition.isUnique {
      var conditions: [PostgresSQL] = []
      for column in index.definition.columns {
        guard let stored = PostgresFieldExpression(column.path, names, body: "t.body") else {
          continue
        }
        guard let new = PostgresFieldExpression(column.path, names, body: "new.body") else {
          continue
        }
        conditions += [
          "\(stored.number) = \(new.number)", "\(stored.text) = \(new.text)",
          "\(stored.unique) = \(new.unique)",
          "NOT (\(new.number) = '-Infinity' AND \(new.text) = '')",
        ].map { PostgresSQL($0) }
      }
      guard let all = PostgresSQL.all(conditions) else { continue }
      var sql: PostgresSQL =
        "SELECT t.id, t.key FROM \(table.collection.table) AS t, (SELECT " + .value(row.body)
        + "::jsonb AS body) AS new WHERE " + all
      if let own { sql += " AND t.id <> " + .value(.int(own)) }
      let found = try session.run(
        (sql + " LIMIT 1" + locking(table, " FOR UPDATE OF t")).statement)
      guard found.count > 0 else { continue }
      let error = StoreError.uniqueViolation(
        of: index.definition.name, in: table.collection.description.name,
        by: (found.int(0, 0), found.optionalText(0, 1)))
      return DocumentConflict(error: error, rowID: found.int(0, 0))
    }
    return nil
  }
}
