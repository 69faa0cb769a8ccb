// SPDX-License-Identifier: MIT

/// The change feeds.
extension CheckedReader {
  func feed(of collection: String) throws -> FeedState? {
    try checked { _ in try base.feed(of: collection) }
  }

  func feedRows(
    after cursor: FeedCursor, limit: Int, settledOnly: Bool, in collection: String
  ) throws -> FeedRows {
    try checked { check in
      let found = try base.feedRows(
        after: cursor, limit: limit, settledOnly: settledOnly, in: collection)
      var last = cursor
      let isSorted = found.rows.allSatisfy { row in
        let previous = last
        last.advance(row)
        return previous < last
      }
      check.require(isSorted && found.rows.count <= limit, .notSorted)
      return found
    }
  }

  func feedNumber(ofRow rowID: Int64, in collection: String) throws -> Int64? {
    try checked { _ in try base.feedNumber(ofRow: rowID, in: collection) }
  }
}

extension CheckedWriter {
  func setTracking(_ state: FeedState?, of collection: String) throws {
    try checked { check in
      try writer.setTracking(state, of: collection)
      noteWritten(to: collection, check)
    }
  }

  func setFeedRows(_ rows: [FeedRow], of collection: String) throws {
    try checked { _ in try writer.setFeedRows(rows, of: collection) }
  }

  func pruneTombstones(before time: Int64, in collection: String) throws -> Int {
    try checked {
      $0.requireCount(try writer.pruneTombstones(before: time, in: collection), limit: nil)
    }
  }
}
