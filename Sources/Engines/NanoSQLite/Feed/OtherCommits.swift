// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// What other connections and processes have changed in a file: in tracked collections the documents that their feeds
/// return, in others any document.
struct OtherCommits {
  fileprivate struct Position {
    var timeline: Int64
    var cursor: FeedCursor
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
    let names = try connection.all(SQLFragment("SELECT name FROM nano_collections")) {
      $0.text(0) ?? ""
    }
    for name in names {
      guard let feed = try connection.storedFeed(of: name) else {
        current.hasUntracked = true
        continue
      }
      let (position, change) = try changes(in: name, feed, connection)
      current.positions[ExactName(name)] = position
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
    in name: String, _ feed: FeedState, _ connection: SQLiteConnection
  ) throws -> (Position, Change) {
    let limit = Commit.maximumRows + 1
    if var position = positions[ExactName(name)],
      try position.isContinued(by: feed, of: name, connection)
    {
      let rows = try connection.feedRows(after: position.cursor, limit: limit, name)
      if rows.count < limit {
        for row in rows { position.cursor.advance(row) }
        let kinds = Dictionary(rows.map { ($0.rowID, $0.change) }) { _, new in new }
        return (position, Change(name, kinds))
      }
    }
    let end = try connection.endOfFeed(of: name)
    return (Position(timeline: feed.timeline, cursor: end), Change(name, nil))
  }
}

extension OtherCommits.Position {
  /// Whether the feed has all changes since the position, under the same conditions as for positions of readers: the
  /// last entry is still there, was moved by a later change, or is a pruned deletion.
  fileprivate func isContinued(
    by feed: FeedState, of name: String, _ connection: SQLiteConnection
  ) throws -> Bool {
    guard timeline == feed.timeline, feed.pruned <= cursor.number else { return false }
    guard cursor.number > 0 else { return true }
    let sql = SQLFragment(FeedSchema(name).numberOfRow, [.int(cursor.rowID)])
    let number = try connection.first(sql) { $0.isInt(0) ? $0.int(0) : nil } ?? nil
    return number.map { $0 >= cursor.number } ?? (cursor.number <= feed.pruned)
  }
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
}

extension FeedRow {
  /// The change that it reports. A document without a number may have been reported before.
  fileprivate var change: Change.Kind {
    if isDeleted { return .deleted }
    return place == .number(rowID) ? .inserted : .updated
  }
}
