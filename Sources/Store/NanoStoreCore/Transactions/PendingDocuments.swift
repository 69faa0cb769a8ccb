// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// Documents that were saved but not yet written, in the order of their first save.
struct PendingDocuments {
  struct Entry {
    let collection: String
    let key: DocumentKey
    let header: Document.Header
    /// The insertion time, if the document is new.
    var added: Int64
    let body: [UInt8]
    /// Distinguishes this save from a later one of the same document.
    var number = 0
  }
  private struct Identity: Hashable {
    let collection: ExactName
    let key: DocumentKey
    /// Collection names are equal if they differ only in the case of ASCII letters.
    init(_ collection: String, _ key: DocumentKey) {
      self.collection = collection.folded
      self.key = key
    }
  }

  /// See ``Store/saveInterval``.
  var interval = 1
  /// See ``Store/showsUnsavedChanges``.
  var isShown = true
  private(set) var entries: [Entry] = []
  private var indices: [Identity: Int] = [:]
  private var lastNumber = 0

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }

  mutating func add(_ entry: Entry) {
    var entry = entry
    lastNumber += 1
    entry.number = lastNumber
    let identity = Identity(entry.collection, entry.key)
    if let index = indices[identity] {
      entry.added = entries[index].added
      entries[index] = entry
    } else {
      indices[identity] = entries.count
      entries.append(entry)
    }
  }

  func entry(_ collection: String, _ key: DocumentKey) -> Entry? {
    guard !entries.isEmpty else { return nil }
    return indices[Identity(collection, key)].map { entries[$0] }
  }

  /// Removes entries that were written, except those saved again in the meantime.
  mutating func remove(_ written: [Entry]) {
    let numbers = Set(written.map(\.number))
    entries.removeAll { numbers.contains($0.number) }
    indices.removeAll()
    for (index, entry) in entries.enumerated() {
      indices[Identity(entry.collection, entry.key)] = index
    }
  }

  mutating func removeAll() {
    entries.removeAll()
    indices.removeAll()
  }
}

extension PendingDocuments.Entry {
  func write(to writer: any EngineWriter) throws {
    _ = try body.withUnsafeBytes { bytes in
      try writer.save(
        NewDocument(
          key: key, type: header.type, version: header.version, added: added, body: bytes),
        into: collection)
    }
  }

  /// Returns the document as it will be after replacing the stored one.
  func document(over stored: Document.Header?) -> Document {
    var header = header
    header.key = key
    header.rowID = stored?.rowID
    header.added = stored.map(\.added) ?? added
    header.revision = stored.map { $0.revision.flatMap(\.nextRevision) } ?? 1
    return body.withUnsafeBytes { Document(header, copying: $0) }
  }
}
