// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// Writing and deleting documents.
extension SQLiteWriter {
  func insert(_ document: NewDocument, into collection: String) throws -> Int64 {
    let table = try tableForWriting(collection)
    table.writes += 1
    if !connection.isUTF8 { try TextEncoding.requireUTF16(document) }
    if table.hasExpiredRows {
      try removeExpired(.rowID(document.rowID ?? 0), table)
      try removeExpired(document.key.map { .key($0) }, table)
    }
    return try recording(in: table) {
      guard let wildcardIndex = table.wildcardIndex else {
        try table.paths.observe(document.body)
        try prepareDecimals(table)
        let id = try insert(document, table)
        try noteWritten(table)
        return id
      }
      return try indexing(wildcardIndex) {
        try table.paths.observe(document.body, wildcardIndex.buffer)
        try prepareDecimals(table)
        return try insert(document, table)
      }
    }
  }

  /// Writes the path changes of the first documents early rather than before the commit: a catalog page that a
  /// long transaction changes both at its beginning and at its end makes SQLite recompute the checksums of the
  /// whole log, which took a sixth of the time of inserting 100,000 documents.
  @inline(__always)
  func noteWritten(_ table: CollectionTable) throws {
    written += 1
    if written & (written - 1) == 0, written <= Self.lastEarlyFlush { try flushPaths(of: table) }
  }

  /// The document count after which paths are no longer flushed early. Arbitrary: later documents rarely add a
  /// new path.
  private static let lastEarlyFlush = 1_024

  private func insert(_ document: NewDocument, _ table: CollectionTable) throws -> Int64 {
    table.note(document)
    let isPlain =
      table.nextRowID == nil && document.rowID == nil && document.type == nil
      && document.version == nil
    let kind: CollectionTable.Statement =
      isPlain ? .insertPlain : isFree(document.rowID, table) ? .insert : .insertAgain
    return try connection.with(table, kind) { statement in
      if isPlain {
        try statement.bind(document.key, at: 1)
        statement.bind(document.added, at: 2)
        try statement.bind(borrowedText: document.body, at: 3)
      } else {
        try bind(document, table, statement)
        if table.feed != nil {
          statement.bind(table.number(forNewRow: document.rowID ?? table.nextRowID), at: 8)
        }
      }
      do {
        _ = try statement.step()
      } catch {
        throw try violation(error, document, nil, table)
      }
      try requireWritten(table)
      let id = sqlite3_last_insert_rowid(connection.handle)
      table.noteRowID(id)
      noteInserted(id, table)
      insertions?.note(id...id)
      if let text = table.text { text.note(id) }
      try noteExpiration(document.body, ofRow: id, table)
      return id
    }
  }

  func save(_ document: NewDocument, into collection: String) throws -> Int64 {
    guard let key = document.key else { return try insert(document, into: collection) }
    let table = try tableForWriting(collection)
    table.writes += 1
    if !connection.isUTF8 { try TextEncoding.requireUTF16(document) }
    try removeExpired(.key(key), table)
    return try recording(in: table) {
      try table.paths.observe(document.body)
      try prepareDecimals(table)
      guard let wildcardIndex = table.wildcardIndex else {
        let id = try save(document, key, table)
        try noteExpiration(document.body, ofRow: id, table)
        try noteWritten(table)
        return id
      }
      let id =
        try indexing(wildcardIndex, replacing: .key(key), with: document.body, in: table) { _ in
          try save(document, key, table)
        } ?? 0
      try noteExpiration(document.body, ofRow: id, table)
      return id
    }
  }

  private func save(
    _ document: NewDocument, _ key: DocumentKey, _ table: CollectionTable
  ) throws -> Int64 {
    table.note(document)
    if try isAlone(table) { try connection.noteReplacement(indexes: table.indexes.count) }
    sqlite3_set_last_insert_rowid(connection.handle, 0)
    try connection.with(table, .save) { statement in
      try bind(document, table, statement)
      if table.feed != nil {
        // Whether the document is new turns out later.
        statement.bind(table.nextNumber, at: 7)
        statement.bind(table.number(forNewRow: document.rowID ?? table.nextRowID), at: 8)
      }
      do {
        _ = try statement.step()
      } catch {
        throw try failure(error, document, .key(key), table)
      }
      try requireWritten(table)
    }
    let inserted = sqlite3_last_insert_rowid(connection.handle)
    if inserted != 0 {
      table.noteRowID(inserted)
      noteInserted(inserted, table)
      if let text = table.text { text.note(inserted) }
      return inserted
    }
    if table.feed != nil {
      table.noteNumber(table.nextNumber)
      table.loggedBytes += document.body.count
    }
    return try connection.with(table, .rowIDOfKey) { statement in
      try statement.bind(key, at: 1)
      return try statement.step() ? statement.int(0) : 0
    }
  }

  /// Checks that the last statement has written its document. A trigger of the user can skip it (`RAISE(IGNORE)`), and
  /// SQLite then still has the row ID of an earlier one.
  @inline(__always)
  private func requireWritten(_ table: CollectionTable) throws {
    guard connection.changes == 1 else {
      throw StoreError(
        .database, "A trigger skipped a document", [.collection: table.description.name])
    }
  }

  @inline(__always)
  private func bind(
    _ document: NewDocument, _ table: CollectionTable, _ statement: SQLiteStatement
  ) throws {
    statement.bind(document.rowID ?? table.nextRowID, at: 1)
    try statement.bind(document.key, at: 2)
    if let type = document.type {
      try statement.bind(type, at: 3)
    } else {
      statement.bindNull(at: 3)
    }
    statement.bind(document.version, at: 4)
    statement.bind(document.added, at: 5)
    try statement.bind(borrowedText: document.body, at: 6)
  }

  func replace(
    _ identity: Identity, with document: NewDocument, in collection: String
  ) throws -> Bool {
    guard let table = try existing(collection) else { return false }
    table.writes += 1
    if !connection.isUTF8 { try TextEncoding.requireUTF16(document) }
    try removeExpired(identity, table)
    do {
      try recording(in: table) {
        if let fields = document.changedFields {
          try table.paths.observe(fields, of: document.body)
        } else {
          try table.paths.observe(document.body)
        }
        try prepareDecimals(table)
        let isReplaced =
          if let wildcardIndex = table.wildcardIndex {
            try indexing(wildcardIndex, replacing: identity, with: document.body, in: table) {
              existingID in
              try replace(identity, document, table) ? existingID : nil
            } != nil
          } else {
            try replace(identity, document, table)
          }
        if !isReplaced { throw NotReplaced() }
      }
    } catch is NotReplaced {
      return false
    }
    if table.expiry != nil { try noteExpiration(document.body, of: identity, table) }
    return true
  }

  func nextRowID(in collection: String) throws -> Int64 {
    let table = try tableForWriting(collection)
    let next =
      try table.nextRowID
      ?? connection.with(table, .lastRowID) { row in
        try row.step() && row.int(0) < Int64.max ? row.int(0) + 1 : nil
      }
    guard let next else {
      throw StoreError(
        .database, "A collection has run out of row IDs", [.collection: table.description.name])
    }
    if !freeRowIDs.contains(where: { $0.table === table }) {
      freeRowIDs.append(FreeRowIDs(table: table, from: next, next: next))
    }
    return next
  }

  /// Returns whether no row has ever had this ID.
  @inline(__always)
  func isFree(_ rowID: Int64?, _ table: CollectionTable) -> Bool {
    guard let rowID else { return true }
    for free in freeRowIDs where free.table === table { return rowID >= free.from }
    return false
  }

  /// Records that a row received this ID.
  @inline(__always)
  func noteInserted(_ rowID: Int64, _ table: CollectionTable) {
    for index in freeRowIDs.indices where freeRowIDs[index].table === table {
      freeRowIDs[index].next = max(freeRowIDs[index].next, rowID &+ 1)
    }
  }

  func bind(_ identity: Identity, _ statement: SQLiteStatement) throws {
    switch identity {
    case .key(let key): try statement.bind(key, at: 1)
    case .rowID(let id): statement.bind(id, at: 1)
    }
  }

  func delete(_ identity: Identity, from collection: String) throws -> Bool {
    guard let table = try existing(collection) else { return false }
    try removeExpired(identity, table)
    let isFound = try delete(identity, table)
    table.writes += 1
    try removed(isFound ? 1 : 0, from: table)
    return isFound
  }

  func delete(_ identity: Identity, _ table: CollectionTable) throws -> Bool {
    guard let wildcardIndex = table.wildcardIndex else { return try deleteRow(identity, table) }
    return try indexing(wildcardIndex, replacing: identity, with: nil, in: table) { existingID in
      try deleteRow(identity, table) ? existingID : nil
    } != nil
  }

  private func deleteRow(_ identity: Identity, _ table: CollectionTable) throws -> Bool {
    let kind: CollectionTable.Statement = identity.isKey ? .removeByKey : .removeByRowID
    return try connection.with(table, kind) { statement in
      try bind(identity, statement)
      try statement.finish()
      return connection.changes > 0
    }
  }

  func delete(_ query: Query, from collection: String) throws -> Int {
    guard let table = try existing(collection) else { return 0 }
    var query = try hidingExpired(try table.resolved(query), table)
    if query.condition.searches { try prepareForQuery(table) }
    table.hasForeignRows = try connection.hasForeignRows(table.description.name)
    query = try joining(query, table, isRemoval: true)
    let count = try deleteInBatches(query, table)
    table.writes += count
    try removed(count, from: table)
    return count
  }

  /// Deletes the documents that match a query. SQLite keeps the IDs of all rows that a statement deletes in
  /// memory; so a statement that scans a large table is split into several, which are rolled back together if
  /// one fails.
  private func deleteInBatches(_ query: Query, _ table: CollectionTable) throws -> Int {
    guard try isLarge(table), try scans(query, table) else { return try deleteBatch(query, table) }
    return try savepoint {
      var count = 0
      var first: Int64? = .min
      while let from = first {
        first = try rowID(after: Self.rowsPerDeletion, from: from, table)
        var batch = query
        batch.condition = .all([
          query.condition, .comparison(.attribute(.rowID), .greaterOrEqual, .value(.int(from))),
          .comparison(
            .attribute(.rowID), first == nil ? .lessOrEqual : .less, .value(.int(first ?? .max))),
        ])
        count += try deleteBatch(batch, table)
      }
      return count
    }
  }

  /// The maximum number of rows that one scanning statement deletes. Arbitrary: their IDs take 24 MB.
  static let rowsPerDeletion = 1_000_000

  /// Returns whether there may be more rows than one statement should delete. Row IDs are assigned
  /// consecutively.
  private func isLarge(_ table: CollectionTable) throws -> Bool {
    let name = SQLName.quoted(table.description.name)
    return try connection.first(
      SQLFragment("SELECT (SELECT min(id) FROM \(name)), (SELECT max(id) FROM \(name))")
    ) { row in
      let (length, overflow) = row.int(1).subtractingReportingOverflow(row.int(0))
      return overflow || length >= Int64(Self.rowsPerDeletion)
    } ?? false
  }

  private func scans(_ query: Query, _ table: CollectionTable) throws -> Bool {
    let isPage = query.limit != nil || query.offset > 0 || query.after != nil
    guard !isPage, query.condition != .constant(true) else { return !isPage }
    let removal = QueryCompiler(table.metadata).delete(query).sql
    let plan = try connection.all(SQLFragment("EXPLAIN QUERY PLAN ") + removal) { $0.text(3) ?? "" }
    return plan.first?.hasPrefix("SCAN") == true
  }

  /// Returns the row ID at an offset from another one; `nil` if there are fewer rows.
  private func rowID(after count: Int, from id: Int64, _ table: CollectionTable) throws -> Int64? {
    try connection.first(
      SQLFragment(
        "SELECT id FROM \(SQLName.quoted(table.description.name)) WHERE id >= ? "
          + "ORDER BY id LIMIT 1 OFFSET ?", [.int(id), .int(Int64(count))])
    ) { $0.int(0) }
  }

  private func deleteBatch(_ query: Query, _ table: CollectionTable) throws -> Int {
    try table.wildcardIndex == nil ? deleteRows(query, table) : deleteEach(query, table)
  }

  private func deleteRows(_ query: Query, _ table: CollectionTable) throws -> Int {
    let calls = connection.recorder?.calls ?? 0
    return try connection.with(QueryCompiler(table.metadata).delete(query).sql) { statement in
      let scanTimer = connection.scanTimer(statement, table, query)
      try statement.finish()
      let count = connection.changes
      scanTimer?.end(found: count, isRemoval: true)
      // SQLite truncates a table without calling the update hook for its rows.
      if let recorder = connection.recorder, recorder.calls - calls < count {
        recorder.noteWhole(table.description.name)
      }
      return count
    }
  }

  /// Deletes the documents one at a time, because the indexed values of each must be removed as well.
  private func deleteEach(_ query: Query, _ table: CollectionTable) throws -> Int {
    try prepareForQuery(table)
    let ids = try connection.all(QueryCompiler(table.metadata).select(query, columns: "id").sql) {
      $0.int(0)
    }
    // A savepoint rolls back all deletions if one fails, as a single statement would.
    return try savepoint {
      try ids.reduce(0) { try $0 + (delete(.rowID($1), table) ? 1 : 0) }
    }
  }
}
