// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoStoreCore

// Reads the change feed up to its end.
extension SyncDatabase {
  /// The number of changes in a transaction. Arbitrary.
  static let changesPerTransaction = 500
  /// The number of changes that are read again and again before it is noted that they have revisions. Arbitrary.
  private static let maximumSkipped = 64

  /// Gives revisions to all changes that were committed before.
  package func catchUp() throws {
    // Those of a transaction that may be rolled back are no changes for others.
    let isNested = store.isInTransaction
    var known = revised.withLock { $0 }
    while try store.read({ try store.reading(.snapshot) { try isBehind($0, known) } }) {
      let (next, state) = try revising { try assignNext($0, known) }
      known.note(next.rows, state)
      if !isNested { revised.withLock { $0.note(next.rows, state) } }
      changeSignal.send()
      guard !next.rows.isEmpty || !next.isComplete else { return }
    }
  }

  /// Returns whether there are changes without a revision.
  private func isBehind(_ reader: any EngineReader, _ known: RevisedChanges) throws -> Bool {
    let state = try requireState(reader)
    guard let feed = try reader.feed(of: name) else { throw Self.untracked(name) }
    if state.isRestarted || !state.continues(feed) { return true }
    let next = try nextChanges(state, feed, known, limit: Self.maximumSkipped, reader)
    return !next.rows.isEmpty || !next.isComplete
  }

  /// Returns the next changes, those that are settled first.
  ///
  /// Those that are not have revisions, too, so that a program finds its own changes at once. It does no harm to look at a
  /// change twice.
  private func nextChanges(
    _ state: SyncState, _ feed: FeedState, _ known: RevisedChanges, limit: Int,
    _ reader: any EngineReader
  ) throws -> NextChanges {
    var next = NextChanges()
    let settled = try reader.feedRows(
      after: state.cursor, limit: limit, settledOnly: true, in: name)
    next.settled = settled.rows
    next.rows = settled.rows.filter { !known.contains($0, feed.timeline) }
    next.isComplete = settled.rows.count < limit
    guard next.isComplete, settled.isDelayed else { return next }
    var cursor = state.cursor
    for row in settled.rows { cursor.advance(row) }
    while true {
      let page = try reader.feedRows(
        after: cursor, limit: Self.changesPerTransaction, settledOnly: false, in: name
      ).rows
      for row in page {
        cursor.advance(row)
        guard !known.contains(row, feed.timeline) else { continue }
        guard next.rows.count < limit else {
          next.isComplete = false
          return next
        }
        next.rows.append(row)
      }
      guard page.count == Self.changesPerTransaction else { return next }
    }
  }

  static func untracked(_ name: String) -> StoreError {
    StoreError(
      .invalidArgument, "The changes of a synced collection are not tracked",
      [.collection: name, .hint: "turn tracking on with setChangeTracking(.on)"])
  }

  /// Gives revisions to the next changes.
  private func assignNext(
    _ writer: any EngineWriter, _ known: RevisedChanges
  ) throws -> (NextChanges, SyncState) {
    var state = try requireState(writer)
    let before = state
    guard let feed = try writer.feed(of: name) else { throw Self.untracked(name) }
    // Otherwise, it is a copy, whose records are connected with its documents when it is set up, or another collection,
    // whose documents are not those of the records.
    guard try writer.keepsPreviousBodies(in: name) else { throw Self.notEnabled(name) }
    try adopt(writer)
    if !state.continues(feed) {
      state.cursor = .start
      state.floor = feed.pruned
      state.isRestarted = true
    }
    state.timeline = feed.timeline
    let next = try nextChanges(state, feed, known, limit: Self.changesPerTransaction, writer)
    try assign(next.rows, &state, writer)
    for row in next.settled { state.cursor.advance(row) }
    if next.isComplete, state.isRestarted {
      try assignMissing(&state, writer)
      state.isRestarted = false
    }
    if state != before { try setState(state, writer) }
    return (next, state)
  }
}
