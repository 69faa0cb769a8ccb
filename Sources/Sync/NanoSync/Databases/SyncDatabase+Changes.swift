// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoEngine
import NanoStoreCore

/// An entry of the changes of a database: the leaves of a document at its newest change.
package struct RevisionChange: Sendable {
  package let sequence: Sequence
  package let id: String
  /// The winner first.
  package let leaves: [RevisionTree.Leaf]
  package var isDeleted: Bool { leaves.first?.isDeleted ?? true }

  /// A position in the changes; the text is opaque to clients, and begins with a number.
  package struct Sequence: Sendable, Hashable, CustomStringConvertible {
    package let position: FeedPosition

    package init(_ position: FeedPosition) { self.position = position }

    /// Nil for any other text.
    package init?(_ text: String) {
      guard let hyphen = text.firstIndex(of: "-"), Int64(text[..<hyphen]) != nil,
        let position = FeedPosition(String(text[text.index(after: hyphen)...]))
      else { return nil }
      self.position = position
    }

    package var number: Int64 { position.cursor.number }
    package var description: String { "\(position.cursor.number)-\(position)" }
  }
}

/// A page of changes.
package struct RevisionChanges: Sendable {
  package var changes: [RevisionChange]
  /// The position after the last change.
  package var last: RevisionChange.Sequence
  package var hasMore: Bool
}

extension SyncDatabase {
  /// Returns the changes after a position, from the beginning if the position is not one of this database.
  ///
  /// A position of a store that was replaced by an older one counts as none, so that a client compares everything again.
  /// A change is returned as soon as it is committed: no later one gets a position before it.
  package func changes(
    since: RevisionChange.Sequence?, limit: Int
  ) throws -> RevisionChanges {
    try catchUp()
    return try store.read {
      try store.reading(.snapshot) { reader in
        let (timeline, start) = try self.start(since, reader)
        var cursor = start
        let rows = try reader.feedRows(
          after: cursor, limit: limit + 1, settledOnly: false, in: records
        ).rows
        let page = rows.prefix(limit)
        var found: [Int64: RevisionRecord] = [:]
        try reader.get(rowIDs: page.filter { !$0.isDeleted }.map(\.rowID).sorted(), in: records) {
          stored in
          found[stored.rowID] = try RevisionRecord(stored, in: records)
        }
        var changes: [RevisionChange] = []
        for row in page {
          cursor.advance(row)
          guard let record = found[row.rowID] else { continue }
          changes.append(
            RevisionChange(
              sequence: .init(FeedPosition(timeline: timeline, cursor: cursor)),
              id: record.id.description, leaves: record.tree.leaves))
        }
        return RevisionChanges(
          changes: changes, last: .init(FeedPosition(timeline: timeline, cursor: cursor)),
          hasMore: rows.count > limit)
      }
    }
  }

  private func start(
    _ since: RevisionChange.Sequence?, _ reader: any EngineReader
  ) throws -> (timeline: Int64, FeedCursor) {
    _ = try requireState(reader)
    guard let feed = try reader.feed(of: records) else { throw Self.untracked(records) }
    guard let position = since?.position, position.timeline == feed.timeline,
      position.cursor.number > 0
    else { return (feed.timeline, .start) }
    // The entry is still there, or was moved by a later change.
    let number = try reader.feedNumber(ofRow: position.cursor.rowID, in: records)
    guard let number, number >= position.cursor.number else { return (feed.timeline, .start) }
    return (feed.timeline, position.cursor)
  }

  /// The number of changes after a known position that are read before the end is searched. Arbitrary.
  private static let changesToEnd = 500

  /// Returns the position after the last change.
  ///
  /// - Parameter start: A position that is probably not far from it.
  package func lastSequence(
    from start: RevisionChange.Sequence?
  ) throws -> RevisionChange.Sequence {
    guard let start else { return try lastSequence() }
    let page = try changes(since: start, limit: Self.changesToEnd)
    return page.hasMore ? try lastSequence() : page.last
  }

  /// Returns the position after the last change.
  package func lastSequence() throws -> RevisionChange.Sequence {
    try catchUp()
    return try store.read {
      try store.reading(.snapshot) { reader in
        _ = try requireState(reader)
        guard let feed = try reader.feed(of: records) else { throw Self.untracked(records) }
        return .init(FeedPosition(timeline: feed.timeline, cursor: try end(reader)))
      }
    }
  }

  /// Returns the number of the last change of a document; nil if it has no revisions.
  package func changeNumber(of id: String) throws -> Int64? {
    guard let key = try? DocumentKey(id) else { return nil }
    try catchUp()
    return try store.read {
      try store.reading(.snapshot) { reader in
        var rowID: Int64?
        try reader.get(.key(key), in: records) { rowID = $0.rowID }
        return try rowID.flatMap { try reader.feedNumber(ofRow: $0, in: records) }
      }
    }
  }

  /// Finds the end of the feed in steps that halve the distance, since there is no call for it.
  private func end(_ reader: any EngineReader) throws -> FeedCursor {
    var (low, high) = (Int64(0), Int64(1) << 61)
    var last = FeedCursor.start
    while low < high {
      let middle = low + (high - low) / 2
      let row = try reader.feedRows(
        after: FeedCursor(number: middle, rowID: .min), limit: 1, settledOnly: false, in: records
      ).rows.first
      if let row, case .number(let number) = row.place {
        last.advance(row)
        low = number + 1
      } else {
        high = middle
      }
    }
    // On a server, the changes of one transaction have the same number.
    while true {
      let rows = try reader.feedRows(
        after: last, limit: Self.changesToEnd, settledOnly: false, in: records
      ).rows
      for row in rows { last.advance(row) }
      guard rows.count == Self.changesToEnd else { return last }
    }
  }

  /// Returns the number of changes after a position, at most the limit.
  package func countChanges(since: RevisionChange.Sequence?, limit: Int) throws -> Int {
    try store.read {
      try store.reading(.snapshot) { try countChanges(since: since, limit: limit, $0) }
    }
  }

  func countChanges(
    since: RevisionChange.Sequence?, limit: Int, _ reader: any EngineReader
  ) throws -> Int {
    let rows = try reader.feedRows(
      after: try start(since, reader).1, limit: limit, settledOnly: false, in: records
    ).rows
    // Purged documents are no changes, but after a full page there may be any number of changes.
    return rows.count < limit ? rows.count { !$0.isDeleted } : limit
  }
}
