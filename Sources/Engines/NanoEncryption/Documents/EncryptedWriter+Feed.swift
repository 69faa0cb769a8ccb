// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// The change feed contains row IDs, keys and class names, which are not encrypted.
extension EncryptedReader {
  func feed(of collection: String) throws -> FeedState? { try inner.feed(of: collection) }

  func feedRows(
    after cursor: FeedCursor, limit: Int, settledOnly: Bool, in collection: String
  ) throws -> FeedRows {
    try inner.feedRows(after: cursor, limit: limit, settledOnly: settledOnly, in: collection)
  }

  func feedNumber(ofRow rowID: Int64, in collection: String) throws -> Int64? {
    try inner.feedNumber(ofRow: rowID, in: collection)
  }

  func formerKeys(
    ofRows rowIDs: [Int64], in collection: String
  ) throws -> [Int64: DocumentKey] {
    try inner.formerKeys(ofRows: rowIDs, in: collection)
  }
}

extension EncryptedWriter {
  func setTracking(_ state: FeedState?, of collection: String) throws {
    try writer.setTracking(state, of: collection)
  }

  func setFeedRows(_ rows: [FeedRow], of collection: String) throws {
    try writer.setFeedRows(rows, of: collection)
  }

  func pruneTombstones(before time: Int64, in collection: String) throws -> Int {
    try writer.pruneTombstones(before: time, in: collection)
  }
}
