// SPDX-License-Identifier: MIT

/// How many documents are read or requested together: as many as fit in a number of bytes, judged by the ones before.
struct Portion {
  private let bytes: Int
  /// Before the size of documents is known, as many as PouchDB requests.
  private(set) var count = 100
  /// Several portions of a batch are in transit while others are stored. Arbitrary.
  private static let maximum = 200

  init(bytes: Int) { self.bytes = bytes }

  mutating func note(_ documents: [SyncDocument]) {
    guard !documents.isEmpty else { return }
    let size = documents.reduce(0) { $0 + $1.approximateSize } / documents.count
    // Slowly more, at once fewer: the next ones may be larger.
    count = max(1, min(bytes / max(1, size), Self.maximum, 2 * count))
  }
}
