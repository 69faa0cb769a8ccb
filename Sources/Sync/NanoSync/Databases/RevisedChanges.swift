// SPDX-License-Identifier: MIT

import NanoEngine

/// Changes of a collection that have revisions although the feed has not been read up to them.
///
/// These are the changes that this process made with their revisions. On a server, a transaction that began earlier may also
/// still add changes before others. The feed is read again from there, and these changes are skipped.
struct RevisedChanges: Sendable {
  private var timeline: Int64 = 0
  private var cursor = FeedCursor.start
  private var changes: [Int64: Change] = [:]

  private struct Change: Hashable {
    var number: Int64
    /// The revision of the stored document; nil for a deletion, or what another program wrote.
    var revision: Int64?
  }

  /// The last own change. Those of later transactions come after it.
  private var lastOwn = FeedCursor.start

  /// The number of changes beyond which own ones are not remembered, in a process that only writes. Arbitrary,
  /// but more than a replication stores between two looks at the feed.
  private static let maximum = 2_500

  func contains(_ row: FeedRow, _ timeline: Int64) -> Bool {
    guard self.timeline == timeline, case .number(let number) = row.place else { return false }
    return changes[row.rowID] == Change(number: number, revision: row.revision)
  }

  /// Adds changes, and forgets those up to which the feed has been read.
  mutating func note(_ rows: [FeedRow], _ state: SyncState) {
    if timeline != state.timeline {
      self = RevisedChanges()
      timeline = state.timeline
    }
    for row in rows {
      if case .number(let number) = row.place {
        changes[row.rowID] = Change(number: number, revision: row.revision)
      }
    }
    guard cursor != state.cursor else { return }
    cursor = state.cursor
    changes = changes.filter { FeedCursor(number: $0.value.number, rowID: $0.key) > cursor }
  }
}

extension RevisedChanges {
  /// Adds changes that were made together with their revisions. Those that are not remembered are looked at again.
  mutating func note(_ own: OwnChanges) {
    note(Array(own.rows.prefix(max(0, Self.maximum - changes.count))), own.state)
    for row in own.rows {
      guard case .number(let number) = row.place else { continue }
      lastOwn = max(lastOwn, FeedCursor(number: number, rowID: row.rowID))
    }
  }

  /// Where to search for the changes of a transaction.
  func startOfOwn(_ state: SyncState) -> FeedCursor {
    timeline == state.timeline ? max(lastOwn, state.cursor) : state.cursor
  }
}

/// Changes that a transaction made together with their revisions.
struct OwnChanges: Sendable {
  var rows: [FeedRow] = []
  var state: SyncState
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
