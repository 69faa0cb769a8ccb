// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// Documents that were saved but are not written yet, in the order of their first save.
struct PendingDocuments {
  struct Entry {
    let collection: String
    let header: Document.Header
    let added: Int64
    let body: [UInt8]
    /// Tells a later save of the same document from this one.
    let number: Int
  }
  private struct Identity: Hashable {
    let collection: String
    let key: DocumentKey
  }

  /// See ``Store/saveInterval``.
  var interval = 1
  private(set) var entries: [Entry] = []
  private var places: [Identity: Int] = [:]
  private var lastNumber = 0

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }

  mutating func add(
    _ collection: String, _ key: DocumentKey, _ header: Document.Header, added: Int64,
    body: UnsafeRawBufferPointer
  ) {
    lastNumber += 1
    let entry = Entry(
      collection: collection, header: header, added: added, body: Array(body), number: lastNumber)
    let identity = Identity(collection: collection.lowercased(), key: key)
    if let place = places[identity] {
      entries[place] = entry
    } else {
      places[identity] = entries.count
      entries.append(entry)
    }
  }

  func entry(_ collection: String, _ key: DocumentKey) -> Entry? {
    places[Identity(collection: collection.lowercased(), key: key)].map { entries[$0] }
  }

  /// Forgets entries that were written, but not what was saved over them meanwhile.
  mutating func remove(_ written: [Entry]) {
    let numbers = Set(written.map(\.number))
    entries.removeAll { numbers.contains($0.number) }
    places.removeAll()
    for (place, entry) in entries.enumerated() {
      guard let key = entry.header.key else { continue }
      places[Identity(collection: entry.collection.lowercased(), key: key)] = place
    }
  }
}

extension PendingDocuments.Entry {
  func write(to writer: any EngineWriter) throws {
    _ = try body.withUnsafeBytes { bytes in
      try writer.save(
        NewDocument(
          key: header.key, type: header.type, version: header.version, added: added, body: bytes),
        into: collection)
    }
  }

  var document: Document {
    body.withUnsafeBytes { bytes in
      var header = header
      header.added = added
      return Document(header, copying: bytes)
    }
  }
}
