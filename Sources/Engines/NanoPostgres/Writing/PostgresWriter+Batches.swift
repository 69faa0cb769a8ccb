// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension PostgresWriter {
  /// Arbitrary: larger batches are hardly faster per document, and their bodies must fit in memory.
  var preferredBatchSize: Int { 2_000 }

  /// The number of documents from which COPY is used. Below it, an INSERT with arrays is faster.
  private static let copyThreshold = 100

  func insert(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws {
    let hasRowIDs = documents.contains { $0.rowID != nil }
    let table = try tableForWriting(collection, isWhole: hasRowIDs)
    if table.hasExpiredRows { try removeExpired(documents.flatMap(\.identities), table) }
    let areReserved = table.known.reserved.count >= documents.count
    guard documents.count > 1, !areReserved, try insertBatch(documents, table, &rowIDs) else {
      // One of the documents is rejected; those before it are stored.
      for document in documents { rowIDs.append(try insert(document, into: collection)) }
      return
    }
  }

  /// - Returns: False if one of the documents is rejected. None is stored then.
  private func insertBatch(
    _ documents: [NewDocument], _ table: WriterTable, _ rowIDs: inout [Int64]
  ) throws -> Bool {
    let locks = try lock(documents.compactMap(\.key), table)
    if !locks.isEmpty { _ = try session.run(locks) }
    let built: [DocumentRow]?
    do {
      built = try self.rows(documents, table)
    } catch is StoreError where session.failure == nil {
      return false
    }
    guard let rows = built else { return false }
    let byCopy = rows.count >= Self.copyThreshold
    _ = try session.run(PostgresStatement("SAVEPOINT nano_batch"))
    do {
      let stored = byCopy ? try copy(rows, table) : try insertArrays(rows, table)
      guard stored == rows.count else {
        try session.rollBack(to: "nano_batch")
        return false
      }
    } catch  where session.failure?.state == PostgresFailure.uniqueViolation {
      try session.rollBack(to: "nano_batch")
      return false
    }
    session.send([PostgresStatement("RELEASE SAVEPOINT nano_batch")])
    for row in rows {
      try table.paths.observe(row.document.body)
      if let key = row.document.key { table.known.forget(.key(key)) }
      guard let id = row.id else { continue }
      noteInserted(id, table)
      rowIDs.append(id)
    }
    try noteExpirations(rows.compactMap { row in row.id.map { ($0, row.document) } }, table)
    return true
  }

  /// Returns the rows of new documents; `nil` if a row ID may be taken.
  private func rows(_ documents: [NewDocument], _ table: WriterTable) throws -> [DocumentRow]? {
    guard documents.contains(where: { $0.rowID != nil }) else {
      return try zip(documents, newRowIDs(documents.count, table)).map {
        try DocumentRow($0, id: $1, revision: 1, table.collection)
      }
    }
    let before = try nextRowID(table)
    var next = before
    var seen: Set<Int64> = []
    var rows: [DocumentRow] = []
    rows.reserveCapacity(documents.count)
    for document in documents {
      let id = document.rowID ?? next
      guard id < Int64.max else { throw noRowIDs(table, id) }
      if id < before, table.collection.layout.isSplit || !seen.insert(id).inserted { return nil }
      let revision = id < next ? DocumentRow.unusedRevision() : 1
      rows.append(try DocumentRow(document, id: id, revision: revision, table.collection))
      next = max(next, id + 1)
    }
    return rows
  }

  private func copy(_ rows: [DocumentRow], _ table: WriterTable) throws -> Int {
    var buffer = CopyBuffer(capacity: rows.reduce(0) { $0 + $1.size })
    for row in rows { row.append(to: &buffer) }
    buffer.end()
    let columns = DocumentRow.columns(table.collection).joined(separator: ", ")
    try session.copyIn(
      "COPY \(table.collection.table) (\(columns)) FROM STDIN (FORMAT binary)", buffer)
    return rows.count
  }

  private func insertArrays(_ rows: [DocumentRow], _ table: WriterTable) throws -> Int {
    let columns = DocumentRow.columns(table.collection).joined(separator: ", ")
    return try Self.pieces(rows).reduce(0) { stored, piece in
      let sql =
        "INSERT INTO \(table.collection.table) (\(columns)) SELECT * FROM "
        + Self.unnest(piece, table.collection) + " ON CONFLICT DO NOTHING"
      return try stored + session.run(sql.statement).changes
    }
  }

  /// The size from which a batch is sent in several statements. Arbitrary: large enough for a statement's own cost not
  /// to matter, and far below the limit of the server.
  private static let pieceSize = 64 << 20

  /// Splits rows into the parts of a batch that are sent together.
  private static func pieces(_ rows: [DocumentRow]) -> [[DocumentRow]] {
    var pieces: [[DocumentRow]] = []
    var start = 0
    var size = 0
    for (number, row) in rows.enumerated() {
      if number > start, size + row.size > pieceSize {
        pieces.append(Array(rows[start..<number]))
        (start, size) = (number, 0)
      }
      size += row.size
    }
    return pieces + [Array(rows[start...])]
  }

  /// Returns a table expression with a row for each document.
  private static func unnest(
    _ rows: [DocumentRow], _ collection: PostgresCollection
  ) -> PostgresSQL {
    let arrays = zip(DocumentRow.arrays(rows), DocumentRow.types(collection))
    return "unnest(" + PostgresSQL.joined(arrays.map { .value($0) + "::\($1)[]" }, by: ", ") + ")"
  }

  func save(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws {
    let table = try tableForWriting(collection)
    if table.mayHaveExpiredRows {
      try removeExpired(documents.flatMap(\.identities), table, locksKeys: true, locksOthers: true)
    }
    let keys = documents.compactMap(\.key)
    // Documents that may be rejected are written individually. A repeated key is one document saved twice.
    let isPlain = !table.collection.hasUniqueIndexes
    // Those that are locked and known are written with the next statement.
    let areKnown = keys.count <= table.known.reserved.count + keys.count { table.isStored($0) }
    guard isPlain, documents.count > 1, keys.count == documents.count,
      Set(keys).count == keys.count, !areKnown
    else {
      return try saveEach(documents, collection, &rowIDs)
    }
    var rows: [DocumentRow]
    do {
      rows = try documents.map { try DocumentRow($0, id: nil, revision: 1, table.collection) }
    } catch is StoreError {
      return try saveEach(documents, collection, &rowIDs)
    }
    let existing = try existingIDs(keys, table)
    let new = try newRowIDs(keys.count { existing[$0] == nil }, table)
    var next = new.makeIterator()
    for (number, key) in keys.enumerated() { rows[number].id = existing[key] ?? next.next() }
    for piece in Self.pieces(rows) { try upsert(piece, table) }
    for (row, key) in zip(rows, keys) {
      try table.paths.observe(row.document.body)
      guard let id = row.id else { continue }
      table.known.forget(.key(key))
      if existing[key] == nil { noteInserted(id, table) } else { table.note(id, .updated) }
      rowIDs.append(id)
    }
    try noteExpirations(rows.compactMap { row in row.id.map { ($0, row.document) } }, table)
  }

  private func saveEach(
    _ documents: [NewDocument], _ collection: String, _ rowIDs: inout [Int64]
  ) throws {
    for document in documents { rowIDs.append(try save(document, into: collection)) }
  }

  /// Returns the row IDs of documents that already exist, which no other transaction deletes.
  private func existingIDs(
    _ keys: [DocumentKey], _ table: WriterTable
  ) throws -> [DocumentKey: Int64] {
    let locks = try lock(keys, table)
    let found = try session.run(
      locks + [
        ("SELECT key, id FROM \(table.collection.table) WHERE " + .hasKey(in: keys)
          + " ORDER BY key FOR UPDATE").statement
      ])[locks.count]
    var existing: [DocumentKey: Int64] = [:]
    for row in 0..<found.count { existing[try DocumentKey(found.text(row, 0))] = found.int(row, 1) }
    return existing
  }

  private func upsert(_ rows: [DocumentRow], _ table: WriterTable) throws {
    let columns = DocumentRow.columns(table.collection).joined(separator: ", ")
    let sql =
      "INSERT INTO \(table.collection.table) AS t (\(columns)) SELECT * FROM "
      + Self.unnest(rows, table.collection)
      + PostgresSQL(DocumentRow.onConflictReplace(table.collection))
    _ = try session.run(sql.statement)
  }
}
