// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

extension SQLiteWriter {
  func setTracking(_ state: FeedState?, of collection: String) throws {
    let table = try tableForWriting(collection)
    guard (state == nil) != (table.feed == nil) else { return }
    let name = table.description.name
    let schema = FeedSchema(name)
    // Definitions of a feed that another program left behind would make the creation fail.
    try connection.execute(schema.drop)
    if let state {
      // Earlier versions of the library would insert documents with numbers that are in use.
      try connection.raiseFormat(to: Schema.feedFormatVersion)
      try connection.execute(FeedSchema.createInternalTable)
      if try !connection.hasColumn(FeedSchema.column, name) {
        try connection.execute(schema.addColumn)
      }
      try connection.execute(schema.create)
      // Those of an earlier feed: the new one numbers documents by row ID, or as its source does.
      try connection.execute(schema.clearPositions)
      try connection.execute(schema.numberOtherRowIDs)
      try connection.run(
        SQLFragment(
          "INSERT INTO nano_feeds(collection, timeline, origin, pruned) VALUES (?, ?, ?, ?)",
          [
            .text(name), .int(state.timeline), state.origin.map { .int($0) } ?? .null,
            .int(state.pruned),
          ]))
    } else {
      try connection.run(
        SQLFragment("DELETE FROM nano_feeds WHERE collection = ?", [.text(name)]))
    }
    // Readers that wait for entries of the feed receive an error or a reset.
    connection.recorder?.noteWhole(name)
    try nextGeneration(name)
  }

  func setFeedRows(_ rows: [FeedRow], of collection: String) throws {
    guard let table = try existing(collection), table.feed != nil else { return }
    let (documents, schema) = (
      SQLName.quoted(table.description.name), FeedSchema(table.description.name)
    )
    for row in rows {
      let number: Int64
      switch row.place {
      case .number(row.rowID) where !row.isDeleted: continue
      case .number(let other): number = try self.number(.int(other), table)
      case .unnumbered: number = table.takeNumber()
      }
      if let deleted = row.deleted {
        try connection.with(
          "INSERT INTO \(schema.tombstones)(id, position, key, type, deleted) VALUES (?, ?, ?, ?, ?)"
        ) { statement in
          statement.bind(row.rowID, at: 1)
          statement.bind(number, at: 2)
          try statement.bind(row.key, at: 3)
          if let type = row.type {
            try statement.bind(type, at: 4)
          } else {
            statement.bindNull(at: 4)
          }
          statement.bind(deleted, at: 5)
          try statement.run()
        }
      } else {
        try setNumber(number, ofRow: row.rowID, documents)
      }
      table.noteNumber(number)
    }
  }

  /// Returns the number of an entry, from a column that other programs can write.
  private func number(_ value: DocumentValue, _ table: CollectionTable) throws(StoreError) -> Int64
  {
    let name = table.description.name
    let row = InternalRow(
      table: name, columns: [FeedSchema.column], values: [value], collection: name)
    return try row.int(FeedSchema.column, FeedState.numbers)
  }

  private func setNumber(_ number: Int64, ofRow rowID: Int64, _ documents: String) throws {
    try connection.with("UPDATE \(documents) SET position = ? WHERE id = ?") { statement in
      statement.bind(number, at: 1)
      statement.bind(rowID, at: 2)
      try statement.run()
    }
  }

  /// Assigns a number to a document that another program inserted.
  func numberForeignRow(_ rowID: Int64, _ table: CollectionTable) throws {
    let documents = SQLName.quoted(table.description.name)
    try connection.with("UPDATE \(documents) SET position = ? WHERE id = ? AND position IS NULL") {
      statement in
      statement.bind(table.takeNumber(), at: 1)
      statement.bind(rowID, at: 2)
      try statement.run()
    }
  }

  func pruneTombstones(before time: Int64, in collection: String) throws -> Int {
    guard let table = try existing(collection), table.feed != nil else { return 0 }
    let name = table.description.name
    let tombstones = FeedSchema(name).tombstones
    // The last entry stays, so that its number is not assigned again.
    let condition = "deleted < ? AND position < (SELECT max(position) FROM \(tombstones))"
    let last = try connection.first(
      SQLFragment(
        "SELECT max(position) FROM \(tombstones) WHERE \(condition)", [.int(time)])
    ) { $0.isInt(0) ? $0.int(0) : nil }
    guard let last = last ?? nil else { return 0 }
    try connection.run(
      SQLFragment("DELETE FROM \(tombstones) WHERE \(condition)", [.int(time)]))
    let count = connection.changes
    try connection.run(
      SQLFragment(
        "UPDATE nano_feeds SET pruned = max(pruned, ?) WHERE collection = ?",
        [.int(last), .text(name)]))
    try nextGeneration(name)
    return count
  }

  /// Determines the number of the next entry of a tracked collection, which is also the next row ID.
  func prepareNumbers(_ table: CollectionTable, highestRowID: Int64) throws {
    guard table.feed != nil else { return }
    let sql = "SELECT " + FeedSchema(table.description.name).next
    let next = try connection.first(SQLFragment(sql)) { try number($0.value(0), table) } ?? 1
    let limit = FeedSchema.numberLimit
    table.nextNumber = next
    if let rowID = table.nextRowID, rowID < limit { table.nextNumber = max(next, rowID) }
    table.hasLargeRowIDs = highestRowID >= limit || table.nextRowID ?? 0 >= limit
    if table.hasLargeRowIDs || table.nextNumber > highestRowID + 1 {
      table.nextRowID = table.nextNumber
    }
  }
}

extension CollectionTable {
  /// Returns the number of the next entry of the feed, and reserves it.
  func takeNumber() -> Int64 {
    let number = nextNumber
    noteNumber(number)
    return number
  }

  /// Records that an entry has this number, so that it does not become a row ID.
  func noteNumber(_ number: Int64) {
    guard number >= nextNumber else { return }
    nextNumber = number + 1
    nextRowID = nextNumber
  }

  /// Records that a row received this ID.
  func noteNumber(ofRow rowID: Int64) {
    if rowID >= FeedSchema.numberLimit {
      hasLargeRowIDs = true
    } else if rowID >= nextNumber {
      nextNumber = rowID + 1
    }
    if hasLargeRowIDs { nextRowID = nextNumber }
  }

  /// Returns the number for a new document; `nil` if its row ID is the number, because readers have not seen one from
  /// there on.
  func number(forNewRow rowID: Int64?) -> Int64? {
    guard let rowID, !isNumber(rowID) else { return nil }
    return takeNumber()
  }

  /// Whether the ID of a new row can be its number.
  func isNumber(_ rowID: Int64) -> Bool {
    feed == nil || rowID >= firstNumber && rowID < FeedSchema.numberLimit
  }
}
