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
