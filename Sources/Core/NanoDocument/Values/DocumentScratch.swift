// SPDX-License-Identifier: MIT

/// The storage that the documents of a scan share as long as the program keeps none of them.
///
/// Allocating and releasing one instance for each document took a third of what a scan costs beyond SQLite.
package struct DocumentScratch: ~Copyable {
  private var storage: DocumentStorage?
  /// The room in `storage` or, once that is taken, in the storage of the current document, in bytes.
  private var capacity = 0
  /// Whether storage was taken for the current document. That of a row of another program never is, and has room only
  /// for that row.
  private var isTaken = false

  package init() {}

  /// Returns the storage of an earlier document that no longer exists, if it has room for this many bytes.
  @inline(__always)
  mutating func take(_ count: Int) -> DocumentStorage? {
    isTaken = true
    guard capacity >= count, storage != nil else {
      capacity = count
      storage = nil
      return nil
    }
    defer { storage = nil }
    return storage
  }

  /// Keeps the storage of the document for which ``take(_:)`` was called, unless the program has kept a copy of it.
  @inline(__always)
  mutating func put(_ used: consuming DocumentStorage?) {
    guard isTaken else { return }
    isTaken = false
    if isKnownUniquelyReferenced(&used) { storage = used } else { capacity = 0 }
  }
}
