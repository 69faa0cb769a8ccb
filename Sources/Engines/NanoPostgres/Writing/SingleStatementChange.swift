// SPDX-License-Identifier: MIT

package import NanoDocument
package import NanoEngine
import NanoSQL

extension PostgresEngine {
  package func replace(
    key: DocumentKey, with document: NewDocument, in collection: String,
    _ interruption: Interruption?
  ) throws -> Bool? {
    guard let cached = core.cache[collection.folded], !cached.hasExpirations,
      let revision = document.replacedRevision
    else { return nil }
    try interruption?.check()
    return try withRow(document, cached) { row in
      let grouped = GroupedWrite(kind: .replace, collection: cached, key: key, row: row)
      return try change(grouped) { single in
        var sql: PostgresSQL = "UPDATE \(cached.table) AS t SET " + row.assignments(cached)
        sql += " FROM c WHERE t.key = " + .value(.text(key.description))
        sql += " AND t.revision = " + .value(.int(revision))
        if let rowID = document.rowID { sql += " AND t.id = " + .value(.int(rowID)) }
        return try single.run(Self.statement(sql, single.valid(), single), interruption)
      }
    }
  }

  package func delete(
    key: DocumentKey, from collection: String, unless references: String,
    _ interruption: Interruption?
  ) throws -> Bool? {
    try interruption?.check()
    guard let cached = core.cache[collection.folded], !cached.hasExpirations else { return nil }
    let absent = references.folded
    let grouped = GroupedWrite(kind: .delete, collection: cached, key: key, absent: absent)
    defer { commits.deliver() }
    return try core.convertingErrors {
      try change(grouped) { single in
        var sql: PostgresSQL = "DELETE FROM \(cached.table) AS t USING c WHERE t.key = "
        sql += .value(.text(key.description))
        let statement = Self.statement(sql, single.valid(absent: absent), single)
        return try single.run(statement, absent: absent, interruption)
      }
    }
  }

  /// Returns a statement with one row, which has an ID and a stamp if a document was changed; no row if the metadata is
  /// out of date.
  private static func statement(
    _ change: PostgresSQL, _ valid: PostgresSQL, _ single: SingleStatement
  ) -> PostgresSQL {
    "WITH " + valid + ", doc AS (" + change + " RETURNING t.id), " + single.tokenInsert()
      + " SELECT doc.id, tok.stamp FROM c LEFT JOIN doc ON true LEFT JOIN tok ON true"
  }

  /// Changes a document, and returns whether it existed; `nil` if that needs a transaction.
  private func change(
    _ write: GroupedWrite, alone: (inout SingleStatement) throws -> SingleStatement.Outcome
  ) throws -> Bool? {
    var isChanged: Bool?
    let name = write.collection.description.name
    try reporting(ifUnknown: Commit([Change(name, nil)])) {
      let outcome = try groups.run(write, core) {
        var single = SingleStatement(core, write.collection)
        switch try alone(&single) {
        case .needsTransaction: return .needsTransaction
        case .committed(let stamp): return .committed(stamp: stamp)
        case .rows(let rows):
          guard rows.count > 0 else { return .needsTransaction }
          guard let id = rows.optionalInt(0, 0) else { return .unchanged }
          core.tokens.noteCommit(core)
          return .stored(
            SingleWriteResult(rowID: id, kind: write.kind.change, stamp: rows.int(0, 1)))
        }
      }
      switch outcome {
      case .stored(let result):
        isChanged = true
        return (result.stamp, Commit([Change(name, [result.rowID: result.kind])]))
      case .committed(let stamp):
        isChanged = true
        return (stamp, Commit([Change(name, nil)]))
      case .unchanged: isChanged = false
      case .needsTransaction: break
      }
      return nil
    }
    return isChanged
  }
}
