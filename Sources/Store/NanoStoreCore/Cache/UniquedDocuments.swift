// SPDX-License-Identifier: MIT

import NanoDocument

/// Weak references to documents that the program retains and the cache does not, so that reading
/// the same content returns the same document.
struct UniquedDocuments {
  private struct Entry {
    let document: Document.Weak
    let content: CachedContent
  }
  private var entries: [Int64: Entry] = [:]
  /// The number of entries at which released documents are removed.
  private var sweepCount = Self.smallestSweep

  /// Arbitrary: a sweep of this size takes a few microseconds.
  private static let smallestSweep = 64

  mutating func insert(_ document: Document, _ rowID: Int64, _ content: CachedContent) {
    if entries.count >= sweepCount {
      entries = entries.filter { $0.value.document.document != nil }
      sweepCount = max(Self.smallestSweep, entries.count * 2)
    }
    entries[rowID] = Entry(document: Document.Weak(document), content: content)
  }

  /// Returns the entry of a row, if the program still retains its document.
  func content(of rowID: Int64) -> (document: Document, content: CachedContent)? {
    guard !entries.isEmpty, let entry = entries[rowID], let document = entry.document.document
    else { return nil }
    return (document, entry.content)
  }

  mutating func remove(_ rowID: Int64) { entries[rowID] = nil }

  mutating func removeAll() { self = UniquedDocuments() }
}
