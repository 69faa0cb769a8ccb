// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension PostgresWriter {
  func nextRowID(in collection: String) throws -> Int64 {
    try tableForWriting(collection).state.nextRowID
  }

  func insert(_ document: NewDocument, into collection: String) throws -> Int64 {
    let table = try tableForWriting(collection)
    let row = try newRow(document, table)
    try table.paths.observe(document.body)
    let columns = DocumentRow.columns(table.collection).joined(separator: ", ")
    let sql =
      "INSERT INTO \(table.collection.table) (\(columns)) VALUES (" + row.values
      + ") ON CONFLICT DO NOTHING"
    try requireFree(row, table)
    let result = try session.run(sql.statement)
    guard result.changes == 1 else { throw try conflict(row, table) }
    noteInserted(row, table)
    return row.id
  }

  private func newRow(_ document: NewDocument, _ table: WriterTable) throws -> DocumentRow {
    let id = document.rowID ?? table.state.nextRowID
    guard id < Int64.max else {
      throw StoreError(
        .valueNotStorable, "A row ID leaves no ID for the next document",
        [.collection: table.collection.description.name, .rowID: "\(id)"])
    }
    // A row with this ID may have existed before.
    let revision = id < table.state.nextRowID ? Int64.random(in: 2..<(1 << 52)) : 1
    return try DocumentRow(document, id: id, revision: revision, table.collection)
  }

  private func noteInserted(_ row: DocumentRow, _ table: WriterTable) {
    table.state.nextRowID = max(table.state.nextRowID, row.id + 1)
    table.note(row.id, .inserted)
  }

  /// Checks that a row ID is unused, in layouts where only an index that includes the key can be unique.
  private func requireFree(_ row: DocumentRow, _ table: WriterTable) throws {
    guard table.collection.layout.isSplit, row.id < table.state.nextRowID else { return }
    let found = try session.run(
      PostgresStatement(
        "SELECT id FROM \(table.collection.table) WHERE id = $1", [.int(row.id)]))
    if found.count > 0 { throw try conflict(row, table) }
  }

  /// The number of documents from which COPY is used. Below it, an INSERT with arrays is faster.
  private static let copyThreshold = 100

  func insert(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws {
    guard documents.count > 1 else {
      for document in documents { rowIDs.append(try insert(document, into: collection)) }
      return
    }
    let table = try tableForWriting(collection)
    guard try insertBatch(documents, table, &rowIDs) else {
      // One of the documents is rejected; those before it are stored.
      for document in documents { rowIDs.append(try insert(document, into: collection)) }
      return
    }
  }

  /// - Returns: False if one of the documents is rejected. None is stored then.
  private func insertBatch(
    _ documents: [NewDocument], _ table: WriterTable, _ rowIDs: inout [Int64]
  ) throws -> Bool {
    let before = table.state.nextRowID
    var rows: [DocumentRow] = []
    rows.reserveCapacity(documents.count)
    var seen: Set<Int64> = []
    for document in documents {
      let row = try newRow(document, table)
      if row.id < before, table.collection.layout.isSplit || !seen.insert(row.id).inserted {
        table.state.nextRowID = before
        return false
      }
      table.state.nextRowID = max(table.state.nextRowID, row.id + 1)
      rows.append(row)
    }
    table.state.nextRowID = before
    let byCopy = rows.count >= Self.copyThreshold && table.collection.fullTextIndexes.isEmpty
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
      noteInserted(row, table)
      rowIDs.append(row.id)
    }
    return true
  }

  private func copy(_ rows: [DocumentRow], _ table: WriterTable) throws -> Int {
    let size = rows.reduce(0) { $0 + 2 * $1.document.body.count + 160 }
    var buffer = CopyBuffer(capacity: size)
    for row in rows { row.append(to: &buffer) }
    buffer.end()
    let columns = DocumentRow.columns(table.collection).joined(separator: ", ")
    try session.copyIn(
      "COPY \(table.collection.table) (\(columns)) FROM STDIN (FORMAT binary)", buffer)
    return rows.count
  }

  private func insertArrays(_ rows: [DocumentRow], _ table: WriterTable) throws -> Int {
    let columns = DocumentRow.columns(table.collection).joined(separator: ", ")
    guard table.collection.fullTextIndexes.isEmpty else {
      let values = rows.map { "(" + $0.values + ")" }
      var stored = 0
      // The server accepts at most 65,535 parameters.
      let step = 60_000 / DocumentRow.columns(table.collection).count
      for start in stride(from: 0, to: values.count, by: step) {
        let part = Array(values[start..<min(start + step, values.count)])
        let sql =
          "INSERT INTO \(table.collection.table) (\(columns)) VALUES "
          + PostgresSQL.joined(part, by: ", ") + " ON CONFLICT DO NOTHING"
        stored += try session.run(sql.statement.once).changes
      }
      return stored
    }
    let sql = """
      INSERT INTO \(table.collection.table) (\(columns)) SELECT * FROM unnest($1::bigint[], $2::text[], \
      $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::jsonb[], $8::text[]) ON CONFLICT DO NOTHING
      """
    return try session.run(PostgresStatement(sql, DocumentRow.arrays(rows))).changes
  }

  func save(_ document: NewDocument, into collection: String) throws -> Int64 {
    guard document.key != nil else { return try insert(document, into: collection) }
    let table = try tableForWriting(collection)
    let row = try DocumentRow(
      document, id: table.state.nextRowID, revision: 1, table.collection)
    try table.paths.observe(document.body)
    let columns = DocumentRow.columns(table.collection)
    let sql =
      "INSERT INTO \(table.collection.table) AS t (\(columns.joined(separator: ", "))) VALUES ("
      + row.values + ")\(DocumentRow.onConflictReplace(table.collection)) RETURNING id"
    let result = try runReportingViolations(row, table, sql)
    let id = result.int(0, 0)
    if id == row.id { noteInserted(row, table) } else { table.note(id, .updated) }
    return id
  }

  func replace(
    _ identity: Identity, with document: NewDocument, in collection: String
  ) throws -> Bool {
    noteWrite()
    guard let table = try table(collection) else { return false }
    let row = try DocumentRow(document, id: 0, revision: 1, table.collection)
    var sql =
      "UPDATE \(table.collection.table) SET " + row.assignments(table.collection) + " WHERE "
      + identity.condition
    if let revision = document.replacedRevision {
      sql += " AND revision = " + .value(.int(revision))
    }
    try table.paths.observe(document.body)
    let result = try runReportingViolations(row, table, sql + " RETURNING id", identity)
    guard result.count > 0 else { return false }
    table.note(result.int(0, 0), .updated)
    return true
  }

  func delete(_ identity: Identity, from collection: String) throws -> Bool {
    noteWrite()
    guard let table = try table(collection) else { return false }
    let sql = "DELETE FROM \(table.collection.table) WHERE " + identity.condition + " RETURNING id"
    let result = try session.run(sql.statement)
    for row in 0..<result.count { table.note(result.int(row, 0), .deleted) }
    return result.count > 0
  }

  func delete(_ query: Query, from collection: String) throws -> Int {
    noteWrite()
    guard let table = try table(collection) else { return 0 }
    let metadata = collectionMetadata(table.collection)
    let compiled =
      query.isRanked
      ? nil
      : PostgresQueryCompiler(metadata: metadata).select(
        try metadata.resolved(query), columns: "id")
    var condition: PostgresSQL
    if let compiled, compiled.isCut {
      condition = "id IN (" + compiled.sql + ")"
    } else {
      let ids = try rowIDs(query, in: collection).rowIDs
      if ids.isEmpty { return 0 }
      condition = "id = ANY(" + .value(.ints(ids.map { $0 })) + ")"
    }
    // Large deletes report no individual row IDs.
    let sql =
      "WITH gone AS (DELETE FROM \(table.collection.table) WHERE " + condition
      + " RETURNING id), few AS (SELECT id FROM gone LIMIT \(Commit.maximumRows + 1)) "
      + "SELECT (SELECT count(*) FROM gone), id FROM few"
    let result = try session.run(sql.statement)
    guard result.count > 0 else { return 0 }
    if result.count > Commit.maximumRows {
      table.noteAll()
    } else {
      for row in 0..<result.count { table.note(result.int(row, 1), .deleted) }
    }
    return Int(result.int(0, 0))
  }
}

extension Identity {
  var condition: PostgresSQL {
    switch self {
    case .rowID(let id): "id = " + .value(.int(id))
    case .key(let key): "key = " + .value(.text(key.description))
    }
  }
}
