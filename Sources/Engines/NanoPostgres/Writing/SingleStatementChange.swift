// SPDX-License-Identifier: MIT

package import NanoDocument
package import NanoEngine
import NanoSQL

extension PostgresEngine {
  package func replace(
    key: DocumentKey, with document: NewDocument, in collection: String,
    _ interruption: Interruption?
  ) throws -> Bool? {
    guard let cached = core.cache[collection.folded], let revision = document.replacedRevision
    else { return nil }
    let paths = core.cache.checkOutPaths(of: cached)
    defer {
      if paths.changed.isEmpty {
        core.cache.checkInPaths(paths, of: cached, generation: cached.generation)
      }
    }
    try paths.observe(document.body)
    guard paths.changed.isEmpty else { return nil }
    let row = try DocumentRow(document, id: nil, revision: 1, cached)
    return try change(cached, .updated, interruption) { single in
      var sql: PostgresSQL = "UPDATE \(cached.table) AS t SET " + row.assignments(cached)
      sql += " FROM c WHERE t.key = " + .value(.text(key.description))
      sql += " AND t.revision = " + .value(.int(revision))
      let statement = Self.statement(sql, single.valid(), single)
      return try single.run(statement, key: nil, interruption)
    }
  }

  package func delete(
    key: DocumentKey, from collection: String, unless references: String,
    _ interruption: Interruption?
  ) throws -> Bool? {
    guard let cached = core.cache[collection.folded] else { return nil }
    let references = references.folded
    return try change(cached, .deleted, interruption) { single in
      var sql: PostgresSQL = "DELETE FROM \(cached.table) AS t USING c WHERE t.key = "
      sql += .value(.text(key.description))
      let statement = Self.statement(sql, single.valid(absent: references), single)
      return try single.run(statement, key: nil, absent: references, interruption)
    }
  }

  /// Returns a statement with one row, which has an ID and a stamp if a document was changed; no row if the metadata is
  /// out of date.
  private static func statement(
    _ change: PostgresSQL, _ valid: PostgresSQL, _ single: SingleStatement
  ) -> PostgresSQL {
    "WITH " + valid + ", doc AS (" + change + " RETURNING t.id), " + single.tokenInsert
      + " SELECT doc.id, tok.stamp FROM c LEFT JOIN doc ON true LEFT JOIN tok ON true"
  }

  private func change(
    _ collection: PostgresCollection, _ kind: Change.Kind, _ interruption: Interruption?,
    _ run: (inout SingleStatement) throws -> SingleStatement.Outcome
  ) throws -> Bool? {
    try interruption?.check()
    defer { commits.deliver() }
    return try core.convertingErrors {
      var isChanged: Bool?
      try reporting {
        var single = SingleStatement(core, collection)
        let name = collection.description.name
        switch try run(&single) {
        case .needsTransaction: return nil
        case .committed(let stamp):
          isChanged = true
          return (stamp, Commit([Change(name, nil)]))
        case .rows(let rows):
          guard rows.count > 0 else { return nil }
          guard let id = rows.optionalInt(0, 0) else {
            isChanged = false
            return nil
          }
          isChanged = true
          core.tokens.noteCommit(core)
          return (rows.int(0, 1), Commit([Change(name, [id: kind])]))
        }
      }
      return isChanged
    }
  }
}
