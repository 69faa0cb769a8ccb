// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// What other connections and processes have changed in a file: in tracked collections the documents that their feeds
/// return, in others any document.
struct OtherCommits {
  fileprivate struct Position {
    let timeline: Int64
    /// The settings of the collection: new defaults change the results of queries, but no document.
    let settings: String
    var cursor: FeedCursor
    /// No row had a larger ID.
    var largestRowID: Int64
    /// The earliest expiration.
    var expiration: Int64?
  }
  /// Where each feed was read last.
  private var positions: [ExactName: Position] = [:]
  private var hasUntracked = true

  /// Returns what was changed since the last call. Includes the changes of this connection: telling them apart would
  /// make its commits slower.
  mutating func read(_ connection: SQLiteConnection) -> Commit {
    do {
      return try connection.consistently { try changes(connection) }
    } catch {
      // Observers read again, and receive the error if it persists.
      self = OtherCommits()
      return .everything
    }
  }

  private mutating func changes(_ connection: SQLiteConnection) throws -> Commit {
    var current = OtherCommits()
    guard try connection.hasTable(FeedSchema.internalTable) else {
      self = current
      return .everything
    }
    current.hasUntracked = false
    var commit = Commit([])
    let collections = try connection.all(
      SQLFragment("SELECT name, settings FROM nano_collections")
    ) { (name: $0.text(0) ?? "", settings: $0.text(1) ?? "") }
    for (name, settings) in collections {
      guard let feed = try connection.storedFeed(of: name) else {
        current.hasUntracked = true
        continue
      }
      var (position, change) = try changes(in: name, feed, settings, connection)
      position.expiration = try SQLiteReader(connection).earliestExpiration(after: nil, in: name)
      current.positions[ExactName(name)] = position
      // One that has passed may be new, and hides later ones.
      if let expiration = position.expiration,
        expiration != positions[ExactName(name)]?.expiration || expiration <= connection.clock.now()
      {
        commit.mayHaveNewExpirations = true
      }
      commit.changes.append(change)
    }
    // A collection that was dropped.
    for name in positions.keys where current.positions[name] == nil {
      commit.changes.append(Change(name.text, nil))
    }
    commit.isEverything = hasUntracked || current.hasUntracked
    if !commit.isEverything { commit.changes.removeAll { $0.rows?.isEmpty == true } }
    self = current
    return commit
  }

  private func changes(
    in name: String, _ feed: FeedState, _ settings: String, _ connection: SQLiteConnection
  ) throws -> (Position, Change) {
    let largestRowID = try connection.largestRowID(in: name)
    let limit = Commit.maximumRows + 1
    if var position = positions[ExactName(name)], position.settings.hasSameBytes(as: settings),
      try position.isContinued(by: feed, of: name, connection)
    {
      let rows = try connection.feedRows(after: position.cursor, limit: limit, name)
      if rows.count < limit, try !position.mayHideDeletions(rows, of: name, connection) {
        for row in rows { position.cursor.advance(row) }
        // Documents without a number are read again by each poll: another program can replace one by another with the same
        // row ID, which neither their count nor a tombstone shows.
        position.cursor.unnumbered = nil
        position.largestRowID = largestRowID
        let kinds = Dictionary(rows.map { ($0.rowID, $0.change) }) { _, new in new }
        return (position, Change(name, kinds))
      }
    }
    let position = Position(
      timeline: feed.timeline, settings: settings, cursor: try connection.endOfFeed(of: name),
      largestRowID: largestRowID)
    return (position, Change(name, nil))
  }
}

extension OtherCommits.Position {
  /// Whether the feed has all changes since the position: the last entry is still there, was moved by a later change, or
  /// is a pruned deletion. Positions of readers that are at a pruned deletion are reset, since they may be those of
  /// entries with equal numbers; polls read all of these at once. Feeds from servers have such entries, and in a file an
  /// update can take the number that is the row ID of a document inserted later, if the ID was assigned in advance.
  fileprivate func isContinued(
    by feed: FeedState, of name: String, _ connection: SQLiteConnection
  ) throws -> Bool {
    guard timeline == feed.timeline, feed.pruned <= cursor.number else { return false }
    guard cursor.number > 0 else { return true }
    let sql = SQLFragment(FeedSchema(name).numberOfRow, [.int(cursor.rowID)])
    let number = try connection.first(sql) { $0.isInt(0) ? $0.int(0) : nil } ?? nil
    return number.map { $0 >= cursor.number } ?? (cursor.number <= feed.pruned)
  }

  /// Whether documents may be gone that have no entry: those that a statement of another program with `OR REPLACE`
  /// deleted because it wrote one with the same key or another unique value
  /// (https://www.sqlite.org/lang_conflict.html). Such a statement leaves a document without a revision, one with the
  /// random revision of its adoption, or the deletion of a row that was not there before.
  fileprivate func mayHideDeletions(
    _ rows: [FeedRow], of name: String, _ connection: SQLiteConnection
  ) throws -> Bool {
    let foreign = rows.filter { row in
      row.isDeleted ? row.rowID > largestRowID : row.revision ?? .max > Self.largestOwnRevision
    }
    guard !foreign.isEmpty, foreign.allSatisfy({ $0.key == nil }) else { return !foreign.isEmpty }
    return try connection.countOfUniqueIndexes(of: name) > 1
  }

  /// Documents that only stores have written do not reach it, and adopted ones exceed it: their first revision is a
  /// random number of 52 bits.
  private static let largestOwnRevision: Int64 = 1 << 32
}

extension SQLiteConnection {
  /// Returns the position after the last entry that has a number.
  fileprivate func endOfFeed(of collection: String) throws -> FeedCursor {
    let next = "SELECT " + FeedSchema(collection).next
    let last = (try first(SQLFragment(next)) { $0.int(0) } ?? 1) - 1
    var cursor = FeedCursor(number: last - 1, rowID: .max)
    guard let row = try feedRows(after: cursor, limit: 1, collection).first,
      row.place == .number(last)
    else { return .start }
    cursor.advance(row)
    return cursor
  }

  fileprivate func largestRowID(in collection: String) throws -> Int64 {
    let sql = "SELECT coalesce(max(id), 0) FROM " + SQLName.quoted(collection)
    return try first(SQLFragment(sql)) { $0.int(0) } ?? 0
  }

  /// The number of unique indexes, one of which is that of keys.
  fileprivate func countOfUniqueIndexes(of collection: String) throws -> Int64 {
    let list = "pragma_index_list(\(SQLName.literal(collection)))"
    return try first(SQLFragment("SELECT count(*) FROM \(list) WHERE \"unique\"")) { $0.int(0) }
      ?? 0
  }
}

extension FeedRow {
  /// The change that it reports. A document without a number may have been reported before.
  fileprivate var change: Change.Kind {
    if isDeleted { return .deleted }
    return place == .number(rowID) ? .inserted : .updated
  }
}
