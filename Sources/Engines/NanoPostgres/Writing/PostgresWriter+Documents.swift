// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension PostgresWriter {
  func insert(_ document: NewDocument, into collection: String) throws -> Int64 {
    // Other transactions take row IDs from the sequence.
    let table = try tableForWriting(collection, isWhole: document.rowID != nil)
    if table.hasExpiredRows { try removeExpired(document.identities, table) }
    let id = try table.isWhole ? document.rowID ?? nextRowID(table) : nil
    let row = try newRow(document, id, table)
    if let id = try insertKnown(row, table) { return id }
    let columns = DocumentRow.columns(table.collection).joined(separator: ", ")
    let sql =
      "INSERT INTO \(table.collection.table) (\(columns)) VALUES (" + row.values(table.collection)
      + ") ON CONFLICT DO NOTHING RETURNING id"
    try requireFree(row, table)
    let locks = try lock([document.key].compactMap { $0 }, table)
    let rowID = try runReportingConflicts(row, table, sql, after: locks)
    try table.paths.observe(document.body)
    if let key = document.key { table.known.forget(.key(key)) }
    noteInserted(rowID, table)
    try noteExpirations([(rowID, document)], table)
    return rowID
  }

  /// Inserts a document whose key is locked and known to be missing, with a row ID that is reserved; returns `nil` for
  /// others.
  private func insertKnown(_ row: DocumentRow, _ table: WriterTable) throws -> Int64? {
    guard let key = row.document.key, !table.collection.hasUniqueIndexes, row.document.rowID == nil,
      case .missing = table.known[.key(key)], let id = row.id ?? table.known.reserved.popLast()
    else { return nil }
    var row = row
    row.id = id
    let columns = DocumentRow.columns(table.collection).joined(separator: ", ")
    let sql =
      "INSERT INTO \(table.collection.table) (\(columns)) VALUES ("
      + row.values(table.collection) + ")"
    try table.paths.observe(row.document.body)
    session.enqueue(sql.statement)
    table.known.note(
      KnownDocument(
        row.document, rowID: id, key: key, added: row.document.added, revision: row.revision))
    noteInserted(id, table)
    try noteExpirations([(id, row.document)], table)
    return id
  }

  private func newRow(
    _ document: NewDocument, _ id: Int64?, _ table: WriterTable
  ) throws -> DocumentRow {
    guard let id else { return try DocumentRow(document, id: nil, revision: 1, table.collection) }
    guard id < Int64.max else { throw noRowIDs(table, id) }
    // A row with this ID may have existed before.
    let revision = try id < nextRowID(table) ? DocumentRow.unusedRevision() : 1
    return try DocumentRow(document, id: id, revision: revision, table.collection)
  }

  func noteInserted(_ rowID: Int64, _ table: WriterTable) {
    if let next = table.nextRowID, rowID >= next {
      table.nextRowID = rowID + 1
      table.hasNewRowIDs = true
    }
    table.note(rowID, .inserted)
  }

  /// Checks that a row ID is unused, in layouts where only an index that includes the key can be unique.
  private func requireFree(_ row: DocumentRow, _ table: WriterTable) throws {
    guard table.collection.layout.isSplit, let id = row.id, try id < nextRowID(table) else {
      return
    }
    let found = try session.run(
      PostgresStatement("SELECT id FROM \(table.collection.table) WHERE id = $1", [.int(id)]))
    if found.count > 0 { throw try conflict(row, table).error }
  }

  func save(_ document: NewDocument, into collection: String) throws -> Int64 {
    guard let key = document.key else { return try insert(document, into: collection) }
    let table = try tableForWriting(collection)
    if table.mayHaveExpiredRows {
      try removeExpired([.key(key)], table, locksKeys: true, locksOthers: true)
    }
    switch table.known[.key(key)] {
    case .missing: return try insert(document, into: collection)
    case .stored(let known) where !table.collection.hasUniqueIndexes:
      try replace(known, with: document, table)
      return known.rowID
    case .stored, .unknown: break
    }
    let id = try table.isWhole ? nextRowID(table) : nil
    // An existing document keeps its row ID.
    if let id, id == .max, try self.document(.key(key), in: collection) == nil {
      throw noRowIDs(table, id)
    }
    let row = try DocumentRow(document, id: id, revision: 1, table.collection)
    // No other transaction can insert the key of a document that is locked. One that has the lock of the key waits for the
    // document.
    let isLocked = if case .stored = table.known[.key(key)] { true } else { false }
    let locks = isLocked ? [] : try lock([key], table)
    if !locks.isEmpty { _ = try session.run(locks) }
    let upsert = row.upsert(table.collection)
    let result = try runReportingViolations(row, table, upsert.sql + " RETURNING id, revision")
    try table.paths.observe(document.body)
    let rowID = note(result.int(0, 0), isNew: upsert.isNew(result.int(0, 1)), key, table)
    try noteExpirations([(rowID, document)], table)
    return rowID
  }

  private func note(_ id: Int64, isNew: Bool, _ key: DocumentKey, _ table: WriterTable) -> Int64 {
    table.known.forget(.key(key))
    if isNew { noteInserted(id, table) } else { table.note(id, .updated) }
    return id
  }

  func replace(
    _ identity: Identity, with document: NewDocument, in collection: String
  ) throws -> Bool {
    noteWrite()
    guard let table = try table(collection) else { return false }
    if table.mayHaveExpiredRows,
      try removeExpired([identity], table, locksOthers: true) == .deleted
    {
      return false
    }
    switch table.known[identity] {
    case .missing: return false
    case .stored(let known) where !table.collection.hasUniqueIndexes:
      guard document.mayReplace(rowID: known.rowID, revision: known.revision) else { return false }
      try replace(known, with: document, table)
      return true
    case .stored, .unknown: break
    }
    let wasLocked = if case .stored = table.known[identity] { true } else { false }
    let row = try DocumentRow(document, id: nil, revision: 1, table.collection)
    var sql =
      "UPDATE \(table.collection.table) SET " + row.assignments(table.collection) + " WHERE "
      + identity.condition
    if let revision = document.replacedRevision {
      sql += " AND revision = " + .value(.int(revision))
      if let rowID = document.rowID { sql += " AND id = " + .value(.int(rowID)) }
    }
    let result = try runReportingViolations(row, table, sql + " RETURNING id", identity)
    table.known.forget(identity)
    guard result.count > 0 else {
      // The caller may act on it, so the document must not change afterward.
      guard isSerializable, try self.document(identity, in: collection) != nil,
        document.replacedRevision == nil
      else { return false }
      guard !wasLocked else {
        throw StoreError(
          .database, "A trigger skipped a document",
          [.collection: table.collection.description.name])
      }
      return try replace(identity, with: document, in: collection)
    }
    try table.paths.observe(document.body)
    table.note(result.int(0, 0), .updated)
    try noteExpirations([(result.int(0, 0), document)], table)
    return true
  }

  /// Replaces a document that is locked.
  private func replace(
    _ known: KnownDocument, with document: NewDocument, _ table: WriterTable
  ) throws {
    let row = try DocumentRow(document, id: nil, revision: 1, table.collection)
    try table.paths.observe(document.body)
    let sql =
      "UPDATE \(table.collection.table) SET " + row.assignments(table.collection) + " WHERE "
      + known.condition
    session.enqueue(sql.statement)
    if let revision = known.revision.nextRevision {
      table.known.note(
        KnownDocument(
          document, rowID: known.rowID, key: known.key, added: known.added, revision: revision,
          type: known.type))
    } else {
      table.known.forget(.rowID(known.rowID))
    }
    table.note(known.rowID, .updated)
    try noteExpirations([(known.rowID, document)], table)
  }

  func delete(_ identity: Identity, from collection: String) throws -> Bool {
    noteWrite()
    guard let table = try table(collection) else { return false }
    if table.mayHaveExpiredRows,
      try removeExpired([identity], table, locksOthers: true) == .deleted
    {
      return false
    }
    switch table.known[identity] {
    case .missing: return false
    case .stored(let known):
      session.enqueue(("DELETE FROM \(table.collection.table) WHERE " + known.condition).statement)
      table.known.forget(.rowID(known.rowID))
      if let key = known.key, table.isWhole || table.lockedKeys.contains(key) {
        table.known.noteMissing(key)
      }
      table.note(known.rowID, .deleted)
      return true
    case .unknown: break
    }
    let sql = "DELETE FROM \(table.collection.table) WHERE " + identity.condition + " RETURNING id"
    let result = try session.run(sql.statement)
    for row in 0..<result.count { table.note(result.int(row, 0), .deleted) }
    if result.count > 0 { return true }
    // The caller may act on it, so the document must not appear afterward.
    guard isSerializable, try document(identity, in: collection) != nil else { return false }
    return try delete(identity, from: collection)
  }

  func delete(_ query: Query, from collection: String) throws -> Int {
    noteWrite()
    let query = try joining(query, in: collection)
    defer { related = [:] }
    guard let table = try table(collection, isWhole: isSerializable) else { return 0 }
    guard table.isWhole else { return try deleteUnlocked(query, table) }
    var metadata = collectionMetadata(table.collection)
    metadata.related = related
    let compiled =
      query.isRanked
      ? nil
      : PostgresQueryCompiler(metadata: metadata).select(
        try resolved(query, metadata), columns: "id")
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
    table.known.removeAll()
    if result.count > Commit.maximumRows {
      table.noteAll()
    } else {
      for row in 0..<result.count { table.note(result.int(row, 1), .deleted) }
    }
    return Int(result.int(0, 0))
  }

  /// Deletes the documents that match a query, while other transactions change documents of the collection.
  private func deleteUnlocked(_ query: Query, _ table: WriterTable) throws -> Int {
    var query = query
    query.fields = []
    var count = 0
    var kept: [Int64: Int64] = [:]
    while true {
      var revisions: [Int64: Int64] = [:]
      try find(query, in: table.collection.description.name) { document in
        revisions[document.rowID] = document.revision
        return true
      }
      // A document that is found again in the same revision is kept by a trigger.
      if revisions.isEmpty || revisions == kept { return count }
      let ids = revisions.keys.sorted()
      let result = try session.run(
        PostgresStatement(
          """
          DELETE FROM \(table.collection.table) AS t USING unnest($1::bigint[], $2::bigint[]) \
          AS f(id, revision) WHERE t.id = f.id AND t.revision = f.revision RETURNING t.id
          """, [.ints(ids.map { $0 }), .ints(ids.map { revisions[$0] })]))
      table.known.removeAll()
      for row in 0..<result.count {
        table.note(result.int(row, 0), .deleted)
        revisions[result.int(row, 0)] = nil
      }
      count += result.count
      kept = revisions
      // The others have changed since they were found.
      query = Query(.all([query.condition, .rowID(in: revisions.keys)]), fields: [])
    }
  }
}

extension NewDocument {
  /// What identifies the document, as far as it is given.
  var identities: [Identity] {
    [key.map { .key($0) }, rowID.map { .rowID($0) }].compactMap(\.self)
  }
}

extension KnownDocument {
  /// Contains the key, by which partitions are found.
  fileprivate var condition: PostgresSQL {
    let row = Identity.rowID(rowID).condition
    guard let key else { return row }
    return row + " AND " + Identity.key(key).condition
  }
}

extension PostgresSQL {
  /// The condition for documents with one of the keys. The index on keys has those that are not null.
  static func hasKey(in keys: [DocumentKey]) -> PostgresSQL {
    "key = ANY(" + .value(.texts(keys.map(\.description))) + ") AND key IS NOT NULL"
  }

  /// The condition for documents with one of the row IDs.
  static func hasRowID(in rowIDs: [Int64]) -> PostgresSQL {
    "id = ANY(" + .value(.ints(rowIDs.map { $0 })) + ")"
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
