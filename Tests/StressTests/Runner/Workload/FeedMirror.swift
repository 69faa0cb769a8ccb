// SPDX-License-Identifier: MIT

import NanoStore
import NanoTesting

/// A copy of a collection that follows its change feed.
struct FeedMirror {
  private var position: FeedPosition?
  private var documents: [Int64: String] = [:]

  /// Applies all changes since the last time.
  ///
  /// - Parameter mayRestart: Whether the feed may start again, once.
  mutating func follow(_ collection: DocumentCollection, mayRestart: Bool = false) throws {
    var mayRestart = mayRestart
    while true {
      switch try collection.changes(since: position, limit: 3, withDocuments: true) {
      case .entries(let entries, let next, let hasMore):
        for entry in entries {
          if !entry.isDeleted, entry.document == nil {
            throw StressTestFailure("a change feed has an entry without its document")
          }
          documents[entry.rowID] = try entry.document?.allText()
        }
        position = next
        if !hasMore { return }
      case .reset(let reason):
        try require(mayRestart, "a change feed starts again (\(reason)) for no reason")
        mayRestart = false
        self = FeedMirror()
      }
    }
  }

  /// Returns whether the copy has the documents of the collection.
  func agrees(with collection: DocumentCollection) throws -> Bool {
    var found: [Int64: String] = [:]
    for document in try collection.fetch() { found[document.rowID ?? 0] = try document.allText() }
    return found == documents
  }
}

extension Document {
  /// Everything that identifies the state of the document, for comparisons.
  func allText() throws -> String {
    let body = try withBytes { String(decoding: $0, as: UTF8.self) }
    return "\(rowID ?? 0) \(key ?? "-") \(type ?? "-") \(revision ?? 0) \(body)"
  }
}
