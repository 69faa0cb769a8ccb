// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoStoreCore

// Transactions that change revisions.
extension SyncDatabase {
  /// Runs a transaction that changes revisions, after those of other processes that have begun.
  ///
  /// It locks the records before anything else. A server then numbers the changes of such transactions in the order of
  /// their commits, so that readers need not wait for other transactions of the server, as readers of other feeds do.
  func revising<Result>(_ work: (any EngineWriter) throws -> Result) throws -> Result {
    try store.write(retries: Self.retries) {
      try store.writing { writer in
        try lock(writer)
        return try work(writer)
      }
    }
  }

  /// An error that concerns all documents of a transaction, unlike others with the code of ``notEnabled(_:)``.
  struct NotEnabled: Error {}

  /// Runs a transaction that changes documents together with their revisions, which need not be looked at again.
  ///
  /// - Throws: ``NotEnabled`` if the collection was dropped meanwhile.
  func revising<Result>(
    _ work: (any EngineWriter, inout OwnChanges) throws -> Result
  ) throws -> Result {
    let isNested = store.isInTransaction
    let (result, own) = try revising { writer in
      guard let state = try enabledState(writer) else { throw NotEnabled() }
      var own = OwnChanges(state: state)
      return (try work(writer, &own), own)
    }
    // Not in a transaction of the caller, which may be rolled back.
    if !isNested { revised.withLock { $0.note(own) } }
    return result
  }

  /// Returns the entries of the feed for the documents that a transaction stored for records.
  func ownChanges(
    _ records: [RevisionRecord], _ state: SyncState, _ writer: any EngineWriter
  ) throws -> [FeedRow] {
    let own = Set(records.compactMap(\.row))
    let start = revised.withLock { $0.startOfOwn(state) }
    // Others that have no revision yet may come before them. Those that are not found are looked at again.
    let rows = try writer.feedRows(
      after: start, limit: 2 * own.count + Self.changesPerTransaction, settledOnly: false, in: name
    ).rows
    return rows.filter { row in
      row.revision != nil && own.contains(.init(rowID: row.rowID, revision: row.revision))
    }
  }

  func lock(_ writer: any EngineWriter) throws {
    try writer.prepare([
      TransactionUse(name, keys: nil), TransactionUse(records, keys: nil),
      TransactionUse(SyncState.collection, keys: [stateKey]),
    ])
  }

  /// Checks that records that the transaction has written are the last changes.
  ///
  /// On a server, they may not be if a program's own transaction wrote something else before it used revisions. A reader
  /// that has seen a later change would miss them.
  ///
  /// - Throws: ``StoreError/Code/locked``.
  func requireLast(_ rowIDs: [Int64], _ writer: any EngineWriter) throws {
    guard let last = rowIDs.last, let number = try writer.feedNumber(ofRow: last, in: records)
    else { return }
    let later = try writer.feedRows(
      after: FeedCursor(number: number, rowID: .max), limit: rowIDs.count + 1, settledOnly: false,
      in: records
    ).rows
    let own = Set(rowIDs)
    let areLast = later.allSatisfy { row in
      if case .unnumbered = row.place { true } else { own.contains(row.rowID) }
    }
    guard areLast else {
      throw StoreError(
        .locked, "Another transaction has changed revisions since this one began",
        [.collection: name, .hint: "repeat the transaction, for example with write(retries:)"])
    }
  }
}
