// SPDX-License-Identifier: MIT

import NanoDocument

/// The change feeds, and previous bodies.
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

  func formerKeys(
    ofRows rowIDs: [Int64], in collection: String
  ) throws -> [Int64: DocumentKey] {
    try checked { check in
      let found = try base.formerKeys(ofRows: rowIDs, in: collection)
      check.require(Set(found.keys).isSubset(of: rowIDs), .wrongResult)
      return found
    }
  }

  func keepsPreviousBodies(in collection: String) throws -> Bool {
    try checked { _ in try base.keepsPreviousBodies(in: collection) }
  }

  func previousBody(
    ofRow rowID: Int64, in collection: String, _ visit: (StoredDocument) throws -> Void
  ) throws -> Bool {
    try checked { check in
      let isKept = try base.previousBody(ofRow: rowID, in: collection) { document in
        check.require(document.rowID == rowID, .wrongDocument)
        try check.callerClosure { try visit(document) }
      }
      check.require(check.count == (isKept ? 1 : 0), .wrongResult)
      return isKept
    }
  }

  func previousBodies(
    after rowID: Int64?, limit: Int, in collection: String,
    _ visit: (StoredDocument) throws -> Void
  ) throws {
    try checked { check in
      var last = rowID
      try base.previousBodies(after: rowID, limit: limit, in: collection) { document in
        check.require(last.map { $0 < document.rowID } ?? true, .notSorted)
        last = document.rowID
        try check.callerClosure { try visit(document) }
        check.require(check.count <= limit, .beyondLimit)
      }
    }
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

  func setKeepsPreviousBodies(_ keeps: Bool, of collection: String) throws {
    try checked { check in
      try writer.setKeepsPreviousBodies(keeps, of: collection)
      if keeps { noteWritten(to: collection, check) }
    }
  }

  func removePreviousBodies(ofRows rowIDs: [Int64], in collection: String) throws {
    try checked { _ in try writer.removePreviousBodies(ofRows: rowIDs, in: collection) }
  }

  func replacePreviousBody(
    ofRow rowID: Int64, with body: UnsafeRawBufferPointer, in collection: String
  ) throws {
    try checked { _ in
      try writer.replacePreviousBody(ofRow: rowID, with: body, in: collection)
    }
  }
}
