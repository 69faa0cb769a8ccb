// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

extension SQLiteReader {
  func feed(of collection: String) throws -> FeedState? { try connection.table(collection)?.feed }

  func feedRows(after cursor: FeedCursor, limit: Int, settledOnly: Bool, in collection: String)
    throws -> FeedRows
  {
    guard let table = try connection.table(collection), table.feed != nil else {
      return FeedRows([])
    }
    return FeedRows(try connection.feedRows(after: cursor, limit: limit, table.description.name))
  }

  func feedNumber(ofRow rowID: Int64, in collection: String) throws -> Int64? {
    guard let table = try connection.table(collection), table.feed != nil else { return nil }
    let sql = FeedSchema(table.description.name).numberOfRow
    return try connection.first(SQLFragment(sql, [.int(rowID)])) { $0.isInt(0) ? $0.int(0) : nil }
      ?? nil
  }

  func formerKeys(
    ofRows rowIDs: [Int64], in collection: String
  ) throws -> [Int64: DocumentKey] {
    guard let table = try connection.table(collection), table.feed != nil else { return [:] }
    let sql = FeedSchema(table.description.name).formerKey
    var keys: [Int64: DocumentKey] = [:]
    for id in rowIDs {
      keys[id] = try connection.first(SQLFragment(sql, [.int(id)])) { $0.key(0) } ?? nil
    }
    return keys
  }
}

extension SQLiteConnection {
  /// Returns the next entries of the feed of a collection, whose name is spelled as in the file.
  func feedRows(after cursor: FeedCursor, limit: Int, _ collection: String) throws -> [FeedRow] {
    let schema = FeedSchema(collection)
    let parameters = [cursor.number, cursor.rowID, Int64(limit)]
    // Each statement reads its rows from an index in order, which a union of them would not.
    let numbered = try [schema.newDocuments, schema.updatedDocuments, schema.deletedDocuments]
      .flatMap { try feedRows($0, parameters) { .number($0) } }
    var last = cursor
    let rows = numbered.sorted { $0.isBefore($1) }.prefix(limit)
    rows.last.map { last.advance($0) }
    guard rows.count < limit, try hasForeignRows(collection) else { return Array(rows) }
    let count = try first(SQLFragment(schema.countOfUnnumbered)) { $0.int(0) } ?? 0
    let read = last.unnumbered.flatMap { $0.count == count ? $0.rowID : nil } ?? .min
    return rows
      + (try feedRows(schema.unnumberedDocuments, [read, Int64(limit - rows.count)]) { _ in
        .unnumbered(count)
      })
  }

  private func feedRows(
    _ sql: String, _ parameters: [Int64], _ place: (Int64) -> FeedRow.Place
  ) throws -> [FeedRow] {
    try all(SQLFragment(sql, parameters.map { .int($0) })) { row in
      FeedRow(
        rowID: row.int(0), place: place(row.int(1)), key: row.key(2), type: row.text(3),
        revision: row.isInt(4) ? row.int(4) : nil, deleted: row.isInt(5) ? row.int(5) : nil)
    }
  }
}

extension FeedRow {
  /// Whether an entry with a number precedes another one.
  fileprivate func isBefore(_ other: FeedRow) -> Bool {
    guard case .number(let number) = place, case .number(let otherNumber) = other.place else {
      return false
    }
    return (number, rowID) < (otherNumber, other.rowID)
  }
}

extension SQLiteConnection {
  /// Returns the state of the feed of a collection.
  func storedFeed(of collection: String) throws -> FeedState? {
    // Most files have no such table.
    guard try hasTable(FeedSchema.internalTable) else { return nil }
    return try first(
      SQLFragment(
        "SELECT timeline, origin, pruned FROM nano_feeds WHERE collection = ?",
        [.text(collection)])
    ) { row in
      let columns = ["timeline", "origin", "pruned"]
      let values = InternalRow(
        table: FeedSchema.internalTable, columns: columns, values: row.values(3),
        collection: collection)
      return FeedState(
        timeline: try values.int("timeline", 0...Int64.max),
        origin: values["origin"] == .null ? nil : try values.int("origin", 0...Int64.max),
        pruned: try values.int("pruned", 0...Int64.max))
    }
  }

  func hasTable(_ name: String) throws -> Bool {
    guard try hasTableOrView(name) else { return false }
    return try first(
      SQLFragment("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", [.text(name)])
    ) { _ in true } ?? false
  }

  /// Whether there is a table, view or index with this name, whatever the case of its ASCII letters.
  func hasTableOrIndex(_ name: String) throws -> Bool {
    try hasTableOrView(name)
      || first(SQLFragment("SELECT 1 FROM pragma_index_xinfo(?, 'main')", [.text(name)])) { _ in
        true
      }
        ?? false
  }

  /// Whether there is a table or view with this name, whatever the case of its ASCII letters.
  ///
  /// The pragma finds it by hash. A search in `sqlite_schema` reads all definitions, which makes defining thousands of
  /// collections take quadratic time.
  func hasTableOrView(_ name: String) throws -> Bool {
    do {
      return try first(SQLFragment("SELECT 1 FROM pragma_table_xinfo(?, 'main')", [.text(name)])) {
        _ in
        true
      } ?? false
    } catch let error as StoreError where error.code == .database {
      // The pragma fails for a view of a table that does not exist.
      return try first(
        SQLFragment(
          "SELECT 1 FROM sqlite_schema WHERE name = ? COLLATE NOCASE AND type IN ('table', 'view')",
          [.text(name)])
      ) { _ in true } ?? false
    }
  }

  func hasColumn(_ column: String, _ table: String) throws -> Bool {
    try first(
      SQLFragment(
        "SELECT 1 FROM pragma_table_info(?) WHERE name = ?", [.text(table), .text(column)])
    ) { _ in true } ?? false
  }
}
