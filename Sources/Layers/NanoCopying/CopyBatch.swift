// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// A batch of documents being copied from one store to another.
struct CopyBatch {
  private struct Entry {
    let rowID: Int64
    let key: DocumentKey?
    let type: String?
    let version: Int64?
    let added: Int64
    let body: Range<Int>
  }
  private var entries: [Entry] = []
  /// The concatenated bodies.
  private var bytes: [UInt8] = []

  var count: Int { entries.count }
  var byteCount: Int { bytes.count }
  var lastRowID: Int64? { entries.last?.rowID }

  mutating func add(_ document: StoredDocument) {
    let start = bytes.count
    bytes.append(contentsOf: document.body)
    entries.append(
      Entry(
        rowID: document.rowID, key: document.key, type: document.type, version: document.version,
        added: document.added ?? DocumentChecksum.unknownTime, body: start..<bytes.count))
  }

  mutating func removeAll() {
    entries.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
  }

  /// Inserts all documents with their original row IDs.
  func write(into collection: String, _ writer: any EngineWriter) throws {
    guard let last = lastRowID else { return }
    // After this call the engine knows that these row IDs were never used, which makes inserting
    // faster.
    if last < .max { _ = try writer.nextRowID(in: collection) }
    try bytes.withUnsafeBytes { bytes in
      var start = 0
      while start < entries.count {
        let end = min(start + NewDocument.batchSize, entries.count)
        var rowIDs: [Int64] = []
        try writer.insert(
          entries[start..<end].map { entry in
            NewDocument(
              key: entry.key, type: entry.type, version: entry.version, added: entry.added,
              rowID: entry.rowID, body: UnsafeRawBufferPointer(rebasing: bytes[entry.body]))
          }, into: collection, &rowIDs)
        start = end
      }
    }
  }

  /// The row ID of the first document that is not a JSON object, which another program may have
  /// written.
  var undecodable: Int64? {
    bytes.withUnsafeBytes { bytes in
      entries.first { entry in
        var reader = JSONReader(UnsafeRawBufferPointer(rebasing: bytes[entry.body]))
        return (try? reader.object()) == nil || !reader.isAtEnd
      }?.rowID
    }
  }
}
