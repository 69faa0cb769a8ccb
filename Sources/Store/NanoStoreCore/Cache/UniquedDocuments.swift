// SPDX-License-Identifier: MIT

import NanoDocument

/// Documents that the program holds and the cache does not: as long as it does, the same one is given
/// for the same content.
struct UniquedDocuments {
  private struct Entry {
    let document: Document.Weak
    let content: CachedContent
  }
  private var entries: [Int64: Entry] = [:]
  /// When so many are there, those that are gone are looked for.
  private var sweepCount = Self.smallestSweep

  /// Arbitrary; a sweep of so many takes some microseconds.
  private static let smallestSweep = 64

  mutating func insert(_ document: Document, _ rowID: Int64, _ content: CachedContent) {
    if entries.count >= sweepCount {
      entries = entries.filter { $0.value.document.document != nil }
      sweepCount = max(Self.smallestSweep, entries.count * 2)
    }
    entries[rowID] = Entry(document: Document.Weak(document), content: content)
  }

  /// What is known of a row, if the program still has its document.
  func content(of rowID: Int64) -> (document: Document, content: CachedContent)? {
    guard !entries.isEmpty, let entry = entries[rowID], let document = entry.document.document
    else { return nil }
    return (document, entry.content)
  }

  mutating func remove(_ rowID: Int64) { entries[rowID] = nil }

  mutating func removeAll() { self = UniquedDocuments() }
}
