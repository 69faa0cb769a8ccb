// SPDX-License-Identifier: MIT

package import NanoDocument
package import NanoEngine
import NanoSQL

/// Stores one document in one statement and one round trip. The statement locks the collection, allocates a
/// row ID, writes the document and inserts the transaction token, if the cached metadata of the collection is
/// valid.
struct SingleStatementWrite {
  let core: PostgresCore
  let collection: PostgresCollection
  let document: NewDocument
  let replacing: Bool

  /// Stores the document, or returns `nil` if the write needs a transaction: the document has paths that the
  /// catalog lacks, the metadata is out of date, or a unique index rejected the document.
  func run(
    _ paths: PathTrie, _ interruption: Interruption?
  ) throws -> (rowID: Int64, kind: Change.Kind)? {
    try paths.observe(document.body)
    guard paths.changed.isEmpty else { return nil }
    let row = try DocumentRow(document, id: 0, revision: 1, collection)
    var token = TransactionToken(nil)
    let session = PostgresSession(core.pool, .none, isRetryable: false, interruption)
    defer { session.end() }
    do {
      let results = try session.run(core.writeSettings + [statement(row, token).statement])
      let rows = results[1]
      guard rows.count > 0 else { return nil }
      core.tokens.noteCommit(core)
      let isNew = rows.int(0, 0) == rows.int(0, 1)
      return (rows.int(0, 0), isNew ? .inserted : .updated)
    } catch {
      guard let failure = session.failure else { throw error }
      if failure.isMissingObject || failure.state == PostgresFailure.uniqueViolation { return nil }
      guard failure.isConnectionLoss else { throw error }
      token.process = session.serverProcess
      session.release()
      try token.resolve(failure, core)
      return try stored()
    }
  }

  /// Returns the result of a committed write whose response was lost.
  private func stored() throws -> (rowID: Int64, kind: Change.Kind)? {
    guard let key = document.key else {
      throw StoreError(
        .outcomeUnknown, "The connection was lost; the document was stored with an unknown row ID",
        [.collection: collection.description.name])
    }
    let session = PostgresSession(core.pool, .none, nil)
    defer { session.end() }
    let rows = try session.run(core.get(.key(key), collection))
    guard rows.count > 0 else {
      // Another connection has removed it since.
      throw StoreError(
        .notFound, "The document was stored, and has been removed since", [.key: key.description])
    }
    // The first revision of a row is 1.
    return (rows.int(0, 0), !replacing || rows.int(0, 5) == 1 ? .inserted : .updated)
  }

  private func statement(_ row: DocumentRow, _ token: TransactionToken) -> PostgresSQL {
    let table = collection.table
    let columns = DocumentRow.columns(collection)
    let key = PostgresSQL.value(row.key)
    // A replacement allocates no row ID. If another connection inserts the key concurrently, one row ID is
    // skipped.
    let rowIDIncrement =
      replacing && document.key != nil
      ? "CASE WHEN EXISTS (SELECT 1 FROM \(table) WHERE key = " + key + ") THEN 0 ELSE 1 END" : "1"
    var sql: PostgresSQL =
      "WITH c AS (UPDATE \(core.names.qualified("nano_collections")) SET next_row_id = next_row_id + "
      + rowIDIncrement + ", changes = changes + 1 WHERE folded = "
      + .value(.exact(collection.folded))
    sql += " AND generation = " + .value(.int(collection.generation))
    sql += " AND incarnation = " + .value(.int(collection.incarnation))
    sql += " RETURNING next_row_id - " + rowIDIncrement + " AS id), "
    // A rejected document fails the entire statement, so that no row ID is allocated.
    sql += "doc AS (INSERT INTO \(table) AS t (\(columns.joined(separator: ", "))) SELECT c.id, "
    sql += row.valuesAfterID + " FROM c"
    if replacing, document.key != nil {
      sql += PostgresSQL(DocumentRow.onConflictReplace(collection))
    }
    sql += " RETURNING id), "
    // Inserted only with the document: a rejected write must not appear committed.
    sql +=
      "tok AS (INSERT INTO \(core.names.qualified("nano_transactions")) (id) SELECT "
      + .value(token.value) + " FROM doc) "
    return sql + "SELECT doc.id, c.id FROM doc, c"
  }
}

extension PostgresEngine {
  package func put(
    _ document: NewDocument, newKey: DocumentKey, replacing: Bool, into collection: String,
    _ interruption: Interruption?
  ) throws -> (rowID: Int64, key: DocumentKey?)? {
    try interruption?.check()
    guard document.rowID == nil, let cached = core.cache[collection.folded] else { return nil }
    var document = document
    if document.key == nil, cached.description.identity == .key { document.key = newKey }
    let write = SingleStatementWrite(
      core: core, collection: cached, document: document, replacing: replacing)
    // Taken exclusively, since several documents may be written concurrently.
    let paths = core.cache.checkOutPaths(of: cached)
    defer {
      if paths.changed.isEmpty {
        core.cache.checkInPaths(paths, of: cached, generation: cached.generation)
      }
    }
    defer { commits.deliver() }
    return try core.convertingErrors {
      guard commits.isObserved else {
        return try write.run(paths, interruption).map { ($0.rowID, document.key) }
      }
      return try poller.serialized {
        guard let found = try write.run(paths, interruption) else { return nil }
        poller.recordOwnWrite(cached.folded)
        commits.post(Commit([Change(cached.description.name, [found.rowID: found.kind])]))
        return (found.rowID, document.key)
      }
    }
  }
}
