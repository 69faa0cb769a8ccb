// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

extension StoreCopy {
  /// Copies the change feed, so that the positions of its readers stay valid. Bodies from before updates are not copied,
  /// nor is that they are kept: the copy is not part of a sync until it begins one.
  func copyFeed(of collection: String) throws {
    let feed = try source.feed(of: collection)
    do {
      try target.write(nil) { writer in
        // An earlier copy that was not completed may have begun it.
        try writer.setTracking(nil, of: collection)
        guard let feed else { return }
        // Expired documents: the feed gets the entries of their deletions below.
        while try writer.sweepExpired(limit: ExpiryLog.step, from: collection) > 0 {}
        try writer.setTracking(feed, of: collection)
        try copyFeedRows(of: collection, writer)
      }
    } catch let error as StoreError {
      guard error.code == .unsupported, options.skippingUnsupported else {
        throw error.adding(.collection, collection)
      }
      omit(StoreComparison.feedName, of: collection, error)
    }
  }

  /// Copies the entries. A document that has expired is not in the copy, so its deletion becomes an entry after all
  /// others, where readers find it who have read the entry of the document.
  private func copyFeedRows(of collection: String, _ writer: any EngineWriter) throws {
    let mayExpire = try source.expiringCollections().contains { $0.folded == collection.folded }
    var cursor = FeedCursor.start
    var deletions = FeedDeletions()
    while true {
      let rows = try source.feedRows(
        after: cursor, limit: Self.feedRowsPerStep, settledOnly: false, in: collection
      ).rows
      let expired = mayExpire ? try expiredRowIDs(rows, in: collection, writer) : []
      let time = now() / 1_000_000
      var copied: [FeedRow] = []
      for var row in rows {
        cursor.advance(row)
        let hasExpired = !row.isDeleted && expired.contains(row.rowID)
        if hasExpired { (row.deleted, row.revision) = (time, nil) }
        // Entries without a number follow all others, and get the next numbers.
        if case .number(let number) = row.place {
          deletions.noteNumber(number)
          if hasExpired {
            deletions.rows.append(row)
            continue
          }
        } else {
          copied += deletions.takeNumbered()
        }
        copied.append(row)
      }
      if rows.isEmpty { copied += deletions.takeNumbered() }
      try writer.setFeedRows(copied, of: collection)
      if rows.isEmpty { return }
    }
  }

  /// Returns the row IDs of the documents with an entry that the target does not have, since they have expired: before
  /// they could be copied, or since then.
  private func expiredRowIDs(
    _ rows: [FeedRow], in collection: String, _ target: any EngineReader
  ) throws -> Set<Int64> {
    let existing = rows.filter { !$0.isDeleted }.map(\.rowID)
    let time = now()
    var expired: Set<Int64> = []
    for (rowID, expiration) in try source.expirations(ofRows: existing, in: collection)
    where expiration <= time { expired.insert(rowID) }
    guard !expired.isEmpty else { return [] }
    try target.get(rowIDs: expired.sorted(), in: collection) { document in
      _ = expired.remove(document.rowID)
    }
    return expired
  }

  /// Arbitrary.
  private static let feedRowsPerStep = 1_000
}

/// Entries of deletions that wait for the last number of a feed.
private struct FeedDeletions {
  var rows: [FeedRow] = []
  private var last: Int64 = 0

  mutating func noteNumber(_ number: Int64) { last = max(last, number) }

  /// Returns the entries with the next numbers, and removes them.
  mutating func takeNumbered() -> [FeedRow] {
    for index in rows.indices {
      last += 1
      rows[index].place = .number(last)
    }
    defer { rows = [] }
    return rows
  }
}
