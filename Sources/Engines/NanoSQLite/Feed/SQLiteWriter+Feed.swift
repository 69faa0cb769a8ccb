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
      try connection.execute(FeedSchema.createInternalTable)
      if try !connection.hasColumn(FeedSchema.column, name) {
        try connection.execute(schema.addColumn)
      }
      try connection.execute(schema.create)
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
    try nextGeneration(name)
  }

  func setFeedRows(_ rows: [FeedRow], of collection: String) throws {
    guard let table = try existing(collection), table.feed != nil else { return }
    let (documents, schema) = (
      SQLName.quoted(table.description.name), FeedSchema(table.description.name)
    )
    for row in rows where row.position > 0 {
      if let deleted = row.deleted {
        try connection.with(
          "INSERT INTO \(schema.tombstones)(id, position, key, type, deleted) VALUES (?, ?, ?, ?, ?)"
        ) { statement in
          statement.bind(row.rowID, at: 1)
          statement.bind(row.position, at: 2)
          try statement.bind(row.key, at: 3)
          if let type = row.type { try statement.bind(type, at: 4) } else { statement.bindNull(at: 4) }
          statement.bind(deleted, at: 5)
          try statement.run()
        }
      } else {
        try connection.with("UPDATE \(documents) SET position = ? WHERE id = ?") { statement in
          statement.bind(row.position, at: 1)
          statement.bind(row.rowID, at: 2)
          try statement.run()
        }
      }
    }
    table.nextPosition = nil
  }

  func pruneTombstones(before time: Int64, in collection: String) throws -> Int {
    guard let table = try existing(collection), table.feed != nil else { return 0 }
    let name = table.description.name
    let tombstones = FeedSchema(name).tombstones
    // The last entry stays, so that its position is not assigned again.
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

  /// Returns the position for the next entry of a tracked collection, and reserves some more after it.
  @inline(never)
  func takePositions(_ count: Int, _ table: CollectionTable) throws -> Int64 {
    let next: Int64
    if let known = table.nextPosition {
      next = known
    } else {
      next =
        try connection.first(SQLFragment("SELECT " + FeedSchema(table.description.name).next)) {
          $0.int(0)
        } ?? 1
    }
    table.nextPosition = next + Int64(count)
    return next
  }
}
