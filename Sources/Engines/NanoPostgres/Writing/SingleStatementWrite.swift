// SPDX-License-Identifier: MIT

package import NanoDocument
package import NanoEngine
import NanoSQL

/// Stores one document in one transaction and one round trip: locks, and a statement that writes the document and the
/// transaction token, if the cached metadata of the collection is valid.
struct SingleStatementWrite {
  let core: PostgresCore
  let collection: PostgresCollection
  let document: NewDocument
  let replacing: Bool

  /// Stores the document, or returns `nil` if the write needs a transaction: the document has paths that the
  /// catalog lacks, the metadata is out of date, or a unique index rejected the document.
  func run(_ paths: PathTrie, _ interruption: Interruption?) throws -> SingleWriteResult? {
    try paths.observe(document.body)
    guard paths.changed.isEmpty else { return nil }
    let row = try DocumentRow(document, id: nil, revision: 1, collection)
    var token = TransactionToken(nil)
    let session = PostgresSession(core.pool, .none, isRetryable: false, interruption)
    defer { session.end() }
    let (sql, upsert) = statement(row, token)
    do {
      let rows = try session.run([locks, sql.statement])[1]
      guard rows.count > 0 else { return nil }
      core.tokens.noteCommit(core)
      let isNew = upsert?.isNew(rows.int(0, 1)) ?? true
      return SingleWriteResult(
        rowID: rows.int(0, 0), kind: isNew ? .inserted : .updated, stamp: rows.int(0, 2))
    } catch {
      guard let failure = session.failure else { throw error }
      if failure.isMissingObject || failure.state == PostgresFailure.uniqueViolation { return nil }
      guard failure.isConnectionLoss else { throw error }
      token.process = session.serverProcess
      session.release()
      return try stored(stamp: token.resolve(failure, core))
    }
  }

  /// Returns the result of a committed write whose response was lost.
  private func stored(stamp: Int64) throws -> SingleWriteResult {
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
    let isNew = !replacing || rows.int(0, 5) == 1
    return SingleWriteResult(
      rowID: rows.int(0, 0), kind: isNew ? .inserted : .updated, stamp: stamp)
  }

  /// Sets the limits of the transaction and locks what the document needs, before the snapshot of the statement that
  /// stores it.
  private var locks: PostgresStatement {
    var sql: PostgresSQL = "SELECT " + core.limits + ", pg_advisory_xact_lock_shared("
    sql += .value(.int(core.locks.collection(collection.folded))) + ")"
    if let key = document.key {
      sql += ", pg_advisory_xact_lock("
      sql += .value(.int(core.locks.key(key, of: collection.folded))) + ")"
    }
    return sql.statement
  }

  private func statement(
    _ row: DocumentRow, _ token: TransactionToken
  ) -> (PostgresSQL, DocumentRow.Upsert?) {
    var sql: PostgresSQL = "WITH c AS (SELECT 1 FROM \(core.names.qualified("nano_collections"))"
    sql += " WHERE folded = " + .value(.exact(collection.folded))
    sql += " AND generation = " + .value(.int(collection.generation))
    sql += " AND incarnation = " + .value(.int(collection.incarnation)) + "), doc AS ("
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
    sql += " RETURNING id, revision), "
    // Inserted only with the document: a rejected write must not appear committed. The stamp is taken when the
    // document is locked.
    sql +=
      "tok AS (INSERT INTO \(core.names.qualified("nano_transactions")) (id, writer, changed) SELECT "
      + .value(token.value) + ", " + .value(.int(core.writer)) + ", "
    sql += .value(.texts([collection.folded.text])) + " FROM doc RETURNING stamp) "
    return (sql + "SELECT doc.id, doc.revision, tok.stamp FROM doc, tok", upsert)
  }
}

/// What a single statement stored.
struct SingleWriteResult {
  var rowID: Int64
  var kind: Change.Kind
  var stamp: Int64
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
    let paths = core.cache.checkOutPaths(of: cached)
    defer {
      if paths.changed.isEmpty {
        core.cache.checkInPaths(paths, of: cached, generation: cached.generation)
      }
    }
    defer { commits.deliver() }
    return try core.convertingErrors {
      var stored: SingleWriteResult?
      try reporting {
        stored = try write.run(paths, interruption)
        return stored.map {
          ($0.stamp, Commit([Change(cached.description.name, [$0.rowID: $0.kind])]))
        }
      }
      return stored.map { ($0.rowID, document.key) }
    }
  }
}
