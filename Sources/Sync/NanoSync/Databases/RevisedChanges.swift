// SPDX-License-Identifier: MIT

import NanoEngine

/// Changes of a collection that have revisions although the feed has not been read up to them.
///
/// On a server, a transaction that began earlier may still add changes before them. The feed is read again from there, and
/// these changes are skipped.
struct RevisedChanges: Sendable {
  private var timeline: Int64 = 0
  private var cursor = FeedCursor.start
  /// The numbers of the changes, by row ID.
  private var numbers: [Int64: Int64] = [:]

  func contains(_ row: FeedRow, _ timeline: Int64) -> Bool {
    guard self.timeline == timeline, case .number(let number) = row.place else { return false }
    return numbers[row.rowID] == number
  }

  /// Adds changes, and forgets those up to which the feed has been read.
  mutating func note(_ rows: [FeedRow], _ state: SyncState) {
    if timeline != state.timeline {
      self = RevisedChanges()
      timeline = state.timeline
    }
    for row in rows {
      if case .number(let number) = row.place { numbers[row.rowID] = number }
    }
    guard cursor != state.cursor || !rows.isEmpty else { return }
    cursor = state.cursor
    numbers = numbers.filter { FeedCursor(number: $0.value, rowID: $0.key) > state.cursor }
  }
}

/// The next changes of a collection.
struct NextChanges {
  /// Those that have no revision.
  var rows: [FeedRow] = []
  /// Those before which no transaction can add others.
  var settled: [FeedRow] = []
  /// Whether there are no more.
  var isComplete = true
}
