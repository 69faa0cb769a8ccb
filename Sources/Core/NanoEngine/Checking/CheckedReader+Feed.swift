// SPDX-License-Identifier: MIT

/// The change feeds.
extension CheckedReader {
  func feed(of collection: String) throws -> FeedState? {
    try checked { _ in try base.feed(of: collection) }
  }

  func feedRows(
    after position: (number: Int64, rowID: Int64)?, limit: Int, in collection: String
  ) throws -> FeedRows {
    try checked { check in
      let found = try base.feedRows(after: position, limit: limit, in: collection)
      let ends = found.rows.map { ($0.position, $0.rowID) }
      let start = position.map { [($0.number, $0.rowID)] } ?? []
      let isSorted = zip(start + ends, (start + ends).dropFirst()).allSatisfy { $0 < $1 }
      check.require(isSorted && ends.count <= limit, .notSorted)
      return found
    }
  }

  func feedPosition(ofRow rowID: Int64, in collection: String) throws -> Int64? {
    try checked { _ in try base.feedPosition(ofRow: rowID, in: collection) }
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
    try checked { $0.requireCount(try writer.pruneTombstones(before: time, in: collection), limit: nil) }
  }
}
