// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

extension SQLiteReader {
  func feed(of collection: String) throws -> FeedState? { try connection.table(collection)?.feed }

  func feedRows(
    after position: (number: Int64, rowID: Int64)?, limit: Int, in collection: String
  ) throws -> FeedRows {
    guard let table = try connection.table(collection), table.feed != nil else { return FeedRows([]) }
    let schema = FeedSchema(table.description.name)
    let (number, rowID) = position ?? (0, .min)
    var rows: [FeedRow] = []
    if number == 0 {
      rows = try feedRows(schema.oldRows, [rowID, Int64(limit)])
      if rows.count == limit { return FeedRows(rows) }
    }
    let after = number == 0 ? [0, Int64.max] : [number, rowID]
    return FeedRows(rows + (try feedRows(schema.newRows, after + [Int64(limit - rows.count)])))
  }

  private func feedRows(_ sql: String, _ parameters: [Int64]) throws -> [FeedRow] {
    try connection.all(SQLFragment(sql, parameters.map { .int($0) })) { row in
      FeedRow(
        rowID: row.int(0), position: row.int(1), key: row.key(2), type: row.text(3),
        revision: row.isInt(4) ? row.int(4) : nil, deleted: row.isInt(5) ? row.int(5) : nil)
    }
  }

  func feedPosition(ofRow rowID: Int64, in collection: String) throws -> Int64? {
    guard let table = try connection.table(collection), table.feed != nil else { return nil }
    let sql = FeedSchema(table.description.name).positionOfRow
    return try connection.first(SQLFragment(sql, [.int(rowID)])) { $0.isInt(0) ? $0.int(0) : nil }
      ?? nil
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
    try first(
      SQLFragment("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", [.text(name)])
    ) { _ in true } ?? false
  }

  func hasColumn(_ column: String, _ table: String) throws -> Bool {
    try first(
      SQLFragment(
        "SELECT 1 FROM pragma_table_info(?) WHERE name = ?", [.text(table), .text(column)])
    ) { _ in true } ?? false
  }
}
