// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoSQL

/// Adoption of rows that another program wrote.
extension SQLiteWriter {
  /// Adds foreign rows to the path catalog and assigns them a revision. Keys and bodies that are not in stored
  /// form are rewritten in the same update, so that SQLite's indexes contain the values that queries look up.
  ///
  /// A row stays foreign if it has no stored form, or if a unique index rejects that form: its adoption must not
  /// fail the write that triggered it. Queries read foreign rows in addition to the results of indexes. Its key is
  /// rewritten all the same, unless another row has that key.
  func adoptForeignRows(_ table: CollectionTable) throws {
    try removeOrphans(of: table)
    table.hasStuckRows = false
    table.rejectedDecimals = []
    try eachRow(of: table, where: "revision IS NULL") { row in
      if table.feed != nil {
        try ignoringUpdates(row, of: table) { try numberForeignRow(row.id, table) }
      }
      guard try !adopt(row, table) else { return }
      table.hasStuckRows = true
      if row.newKey != nil { try adoptKey(of: row, table) }
    }
  }

  /// Converts rows that have a revision to stored form, which an earlier version of the library may have left in
  /// a different form. A row that cannot be converted becomes foreign.
  func rewriteAdoptedRows(_ table: CollectionTable) throws {
    try eachRow(of: table, where: "revision IS NOT NULL") { row in
      guard !row.isSound || row.isRewritten || row.newKey != nil else { return }
      if try !adopt(row, table) { try release(row, table) }
    }
  }

  /// Makes a row foreign.
  private func release(_ row: ForeignRow, _ table: CollectionTable) throws {
    let name = SQLName.quoted(table.description.name)
    let release = SQLFragment("UPDATE \(name) SET revision = NULL WHERE id = ?", [.int(row.id)])
    try ignoringUpdates(row, of: table) { try connection.run(release) }
  }

  /// Rewrites the key of a row that stays foreign, so that the statements for single documents find it. The revision
  /// changes in between, because triggers treat an update without a new one as a write of another program.
  private func adoptKey(of row: ForeignRow, _ table: CollectionTable) throws {
    do {
      try withoutKeepingBody(ofRow: row.id, table) { try update(row, nil, table) }
    } catch let error as StoreError where error.isConstraint && connection.isInTransaction {
      // Another row has this key.
      return
    }
    try release(row, table)
  }

  private func eachRow(
    of table: CollectionTable, where condition: String, _ work: (ForeignRow) throws -> Void
  ) throws {
    var first: Int64? = Int64.min
    while let start = first {
      let (rows, next) = try rows(of: table, where: condition, from: start)
      for row in rows { try work(row) }
      first = next
      try connection.interruption?.check()
    }
  }

  /// Removes index entries of rows that the other program replaced, which does not fire the triggers that remove
  /// entries.
  private func removeOrphans(of table: CollectionTable) throws {
    let name = SQLName.quoted(table.description.name)
    for schema in table.allSchemas where schema.index.kind.hasSideTable {
      let side = SQLName.quoted(schema.sqlName)
      try connection.execute("DELETE FROM \(side) WHERE id NOT IN (SELECT id FROM \(name))")
    }
    try table.text?.removeOrphans(connection)
    if let expiry = table.expiry {
      try connection.execute(
        "DELETE FROM \(expiry.expirations) WHERE id NOT IN (SELECT id FROM \(name))")
    }
  }

  /// Returns the next rows, and the ID at which to continue; `nil` at the end.
  private func rows(
    of table: CollectionTable, where condition: String, from start: Int64
  ) throws -> (rows: [ForeignRow], next: Int64?) {
    let name = SQLName.quoted(table.description.name)
    return try connection.with(
      SQLFragment(
        "SELECT \(ForeignRow.columns) FROM \(name) WHERE \(condition) AND id >= ? ORDER BY id",
        [.int(start)])
    ) { statement in
      var rows: [ForeignRow] = []
      var size = 0
      while try statement.step() {
        let row = ForeignRow(statement)
        if row.hasKey { table.note(.key) }
        if row.hasType { table.note(.type) }
        rows.append(row)
        size += row.body.count
        if rows.count == Self.rowsPerBatch || size >= Self.bytesPerBatch {
          return (rows, row.id == .max ? nil : row.id + 1)
        }
      }
      return (rows, nil)
    }
  }

  /// The maximum number of rows in memory, and of their bytes. Arbitrary.
  private static let rowsPerBatch = 500
  private static let bytesPerBatch = 8 << 20

  /// Adopts a row; returns `false` if it stays foreign.
  private func adopt(_ row: ForeignRow, _ table: CollectionTable) throws -> Bool {
    guard row.isSound else { return false }
    return try row.body.withUnsafeBytes { body in
      let position = table.paths.position
      do throws(StoreError) {
        try table.paths.observe(body, table.wildcardIndex?.buffer)
      } catch {
        table.wildcardIndex?.buffer.discard()
        return false
      }
      do {
        if table.paths.hasNewDecimals {
          let new = table.fieldsWithDecimals.subtracting(table.decimalFields)
          // The indexes would be created again for each such row.
          guard !table.rejectedDecimals.contains(where: { $0.isSubset(of: new) }) else {
            table.paths.forget(after: position)
            table.wildcardIndex?.buffer.discard()
            return false
          }
          do { try flushPaths(of: table) } catch let error as StoreError
            where error.code == .uniqueViolation
          {
            table.rejectedDecimals.append(new)
            throw error
          }
        }
        let newBody = row.isRewritten ? body : nil
        if newBody != nil || row.newKey != nil {
          try withoutKeepingBody(ofRow: row.id, table) { try update(row, newBody, table) }
        } else {
          try update(row, nil, table)
        }
        if case .field? = table.settings.expiration {
          try noteExpiration(body, ofRow: row.id, table)
        }
        table.wildcardIndex?.buffer.commit(id: row.id)
        return true
      } catch let error as StoreError
        where (error.isConstraint || error.code == .uniqueViolation) && connection.isInTransaction
      {
        // Its first decimal, which equals a number, may be the violation: then no row has decimals.
        table.paths.forget(after: position)
        table.wildcardIndex?.buffer.discard()
        return false
      } catch {
        table.wildcardIndex?.buffer.discard()
        throw error
      }
    }
  }

  /// Gives a row a revision and the new key, if any.
  ///
  /// - Parameter body: The body in stored form if the row has another one; `nil` to keep that.
  private func update(
    _ row: ForeignRow, _ body: UnsafeRawBufferPointer?, _ table: CollectionTable
  ) throws {
    let name = table.description.name
    let revision = CollectionTable.Statement.anyRevision
    // Otherwise a trigger of the feed would number the row, and the next update would take the same number.
    let isNumbered = table.feed != nil && (body != nil || row.newKey != nil)
    let sql =
      "UPDATE \(SQLName.quoted(name)) SET revision = \(revision)"
      + (body == nil ? "" : ", body = ?2") + (row.newKey == nil ? "" : ", key = ?3")
      + (isNumbered ? ", \(FeedSchema.column) = ?4" : "") + " WHERE id = ?1"
    try ignoringUpdates(row, of: table) {
      try connection.with(sql) { statement in
        statement.bind(row.id, at: 1)
        if let body { try statement.bind(borrowedText: body, at: 2) }
        if let key = row.newKey { try statement.bind(key, at: 3) }
        if isNumbered { statement.bind(table.takeNumber(), at: 4) }
        defer { sqlite3_clear_bindings(statement.handle) }
        try statement.run()
      }
    }
  }

  /// Runs an update that does not change the meaning of the row, without notifying observers.
  private func ignoringUpdates(
    _ row: ForeignRow, of table: CollectionTable, _ update: () throws -> Void
  ) throws {
    guard let recorder = connection.recorder else { return try update() }
    try recorder.ignoringUpdates(row.id, of: table.description.name, update)
  }
}

/// A row that another program wrote, in the form in which a writer adopts it.
struct ForeignRow {
  static let columns = "id, body, key, type, version, added"

  let id: Int64
  /// The body in stored form, if it has one.
  private(set) var body: [UInt8] = []
  /// Whether the body in the row differs from it.
  private(set) var isRewritten = false
  /// The key in the form in which it is looked up; `nil` if the row has it in that form.
  private(set) var newKey: DocumentKey?
  let hasKey: Bool
  let hasType: Bool
  /// Whether the row can be adopted without loss.
  private(set) var isSound = true

  /// - Parameter row: Positioned at a row with the columns ``columns``.
  init(_ row: SQLiteStatement) {
    // Checked first: reading a value as text may change its type.
    let types = (0..<6).map { sqlite3_column_type(row.handle, $0) }
    id = row.int(0)
    hasKey = types[2] != SQLITE_NULL
    hasType = types[3] != SQLITE_NULL || types[4] != SQLITE_NULL
    isSound =
      [SQLITE_NULL, SQLITE_TEXT].contains(types[3])
      && types[4...5].allSatisfy { [SQLITE_NULL, SQLITE_INTEGER].contains($0) }
    readBody(row, types[1])
    readKey(row, types[2])
  }

  private mutating func readBody(_ row: SQLiteStatement, _ type: Int32) {
    let stored = row.bytes(1)
    do throws(StoreError) {
      let rewritten = try CanonicalBody.rewritten(stored)
      isRewritten = rewritten != nil || type != SQLITE_TEXT
      body = rewritten ?? Array(stored)
    } catch {
      isSound = false
    }
  }

  /// Converts numbers to their text form, and UUIDs written as text to their 16 bytes.
  private mutating func readKey(_ row: SQLiteStatement, _ type: Int32) {
    switch type {
    case SQLITE_NULL: break
    case SQLITE_BLOB: if row.data(2)?.count != 16 { isSound = false }
    default:
      guard let text = String(validating: row.bytes(2), as: UTF8.self),
        let key = try? DocumentKey(text)
      else {
        isSound = false
        return
      }
      if case .text = key, type == SQLITE_TEXT { return }
      newKey = key
    }
  }
}
