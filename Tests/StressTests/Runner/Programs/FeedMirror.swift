// SPDX-License-Identifier: MIT

import NanoStore
import NanoTesting

/// A copy of a collection that follows its change feed.
struct FeedMirror {
  private var position: FeedPosition?
  private var documents: [Int64: String] = [:]

  /// Applies all changes since the last time.
  mutating func follow(_ collection: DocumentCollection) throws {
    while true {
      switch try collection.changes(since: position, limit: 3, withDocuments: true) {
      case .entries(let entries, let next, let hasMore):
        for entry in entries {
          if !entry.isDeleted, entry.document == nil {
            throw StressTestFailure("a change feed has an entry without its document")
          }
          documents[entry.rowID] = try entry.document.map(Self.text)
        }
        position = next
        if !hasMore { return }
      case .reset: self = FeedMirror()
      }
    }
  }

  /// Returns whether the copy has the documents of the collection.
  func agrees(with collection: DocumentCollection) throws -> Bool {
    var found: [Int64: String] = [:]
    for document in try collection.fetch() { found[document.rowID ?? 0] = try Self.text(document) }
    return found == documents
  }

  private static func text(_ document: Document) throws -> String {
    let body = try document.withBytes { String(decoding: $0, as: UTF8.self) }
    return "\(document.key ?? "-") \(document.type ?? "-") \(document.revision ?? 0) \(body)"
  }
}

extension ProgramExecutor {
  /// Compares a collection with the copy that its change feed makes, and live queries with their results.
  func replay(_ name: String) throws -> Outcome {
    if store.isInTransaction { return .done }
    try store.flush()
    _ = try store.deleteExpired()
    guard !isReference else { return .done }
    let collection = store[name]
    if try collection.changeTracking() == .on {
      var mirror = mirrors[name] ?? FeedMirror()
      try mirror.follow(collection)
      mirrors[name] = mirror
      guard try mirror.agrees(with: collection) else {
        throw StressTestFailure("a copy by the change feed differs from \(name)")
      }
    }
    for observation in observations { try observation.requireCurrent() }
    return .done
  }
}
