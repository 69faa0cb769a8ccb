// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// Documents that were saved but not yet written, in the order of their saves.
///
/// A save replaces an earlier one of the same document if nothing of the collection was saved in between. Otherwise both
/// are kept, because the later one may need a unique value that a save in between releases.
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
    /// Whether a later save of the same document is in the buffer.
    var isSuperseded = false
  }
  fileprivate struct Identity: Hashable {
    let collection: ExactName
    let key: DocumentKey
    /// Collection names are equal if they differ only in the case of ASCII letters.
    init(_ collection: String, _ key: DocumentKey) {
      self.collection = collection.folded
      self.key = key
    }
  }

  /// See ``Store/saveInterval``.
  var interval: Int {
    get { isAllowed ? requestedInterval : 1 }
    set { requestedInterval = newValue }
  }
  private var requestedInterval = 1
  /// See ``Store/writeSavesImmediately()``.
  var isAllowed = true
  /// See ``Store/showsUnsavedChanges``.
  var isShown = true
  /// Whether a transaction that writes the documents is running, or has committed.
  var isBeingWritten = false
  private(set) var entries: [Entry] = []
  private var indices: [Identity: Int] = [:]
  /// The position of the last entry of each collection.
  private var lastIndices: [ExactName: Int] = [:]
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
      if lastIndices[identity.collection] == index {
        entries[index] = entry
        return
      }
      entries[index].isSuperseded = true
    }
    indices[identity] = entries.count
    lastIndices[identity.collection] = entries.count
    entries.append(entry)
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
    lastIndices.removeAll()
    for (index, entry) in entries.enumerated() {
      let identity = Identity(entry.collection, entry.key)
      indices[identity] = index
      lastIndices[identity.collection] = index
    }
  }

  mutating func removeAll() {
    entries.removeAll()
    indices.removeAll()
    lastIndices.removeAll()
  }
}

extension [PendingDocuments.Entry] {
  /// Writes the last save of each document, or all in their order if a document needs a unique value that another one has
  /// only had in between.
  func write(to writer: any EngineWriter) throws {
    guard contains(where: \.isSuperseded) else { return try forEach { try $0.save(to: writer) } }
    do {
      try writer.savepoint { for entry in lastSaves { try entry.save(to: writer) } }
    } catch let error as StoreError where error.code == .uniqueViolation {
      for entry in self { try entry.save(to: writer) }
    }
  }

  /// The last save of each document, in the order of their first ones, in which new documents get their row IDs.
  private var lastSaves: [PendingDocuments.Entry] {
    var last: [PendingDocuments.Entry] = []
    var positions: [PendingDocuments.Identity: Int] = [:]
    for entry in self {
      let identity = PendingDocuments.Identity(entry.collection, entry.key)
      if let position = positions[identity] {
        last[position] = entry
      } else {
        positions[identity] = last.count
        last.append(entry)
      }
    }
    return last
  }
}

extension PendingDocuments.Entry {
  fileprivate func save(to writer: any EngineWriter) throws {
    _ = try body.withUnsafeBytes { bytes in
      try writer.save(
        NewDocument(
          key: key, type: header.type, version: header.version, added: added, body: bytes),
        into: collection)
    }
  }

  /// Returns the document as it will be after replacing the stored one. Its revision is too low if superseded saves have
  /// to be written too: then a condition on the revision fails.
  func document(over stored: Document.Header?) -> Document {
    var header = header
    header.key = key
    header.rowID = stored?.rowID
    header.added = stored.map(\.added) ?? added
    header.revision = stored.map { $0.revision.flatMap(\.nextRevision) } ?? 1
    return body.withUnsafeBytes { Document(header, copying: $0) }
  }
}
