// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Update operators for the results of a query, which are read several at a time.
struct BulkUpdate {
  private let collection: DocumentCollection
  private let query: Query
  private let update: DocumentUpdate
  private let engine: any EngineWriter

  init(
    _ collection: DocumentCollection, _ query: Query, _ update: DocumentUpdate,
    _ engine: any EngineWriter
  ) {
    self.collection = collection
    self.query = query
    self.update = update
    self.engine = engine
  }

  typealias Found = (rowID: Int64, revision: Int64?)

  /// Arbitrary: few round trips to a server, and not too many bodies in memory.
  private static let batchSize = 250

  /// Changes the documents and returns how many still existed and matched the query.
  func apply(to found: [Found]) throws -> Int {
    var count = 0
    for start in stride(from: 0, to: found.count, by: Self.batchSize) {
      let batch = found[start..<min(start + Self.batchSize, found.count)]
      if batch.count > 1 {
        try engine.prepare([TransactionUse(collection.name, rowIDs: batch.map(\.rowID))])
      }
      count += try apply(toBatch: batch)
    }
    return count
  }

  /// A document whose changed body was made from its bytes.
  private struct Patched {
    var document: NewDocument
    let body: Range<Int>
  }

  private func apply(toBatch batch: ArraySlice<Found>) throws -> Int {
    let (patched, bytes) = try patch(batch)
    return try bytes.withUnsafeBytes { bytes in
      try batch.count { rowID, revision in
        if var document = patched[rowID]?.document, let range = patched[rowID]?.body {
          document.body = UnsafeRawBufferPointer(rebasing: bytes[range])
          if try engine.replace(.rowID(rowID), with: document, in: collection.name) { return true }
        }
        return try collection.update(
          .rowID(rowID), engine, update, ofQuery: (query, revision)) != nil
      }
    }
  }

  /// Reads the documents that have the revision in which they were found, and changes their bytes where that is
  /// possible.
  private func patch(
    _ batch: ArraySlice<Found>
  ) throws -> (documents: [Int64: Patched], bytes: [UInt8]) {
    let revisions = Dictionary(batch.map { ($0.rowID, $0.revision) }) { first, _ in first }
    var documents: [Int64: Patched] = [:]
    documents.reserveCapacity(batch.count)
    var bytes: [UInt8] = []
    var writer = JSONWriter(capacity: 512)
    try engine.get(rowIDs: revisions.keys.sorted(), in: collection.name) { stored in
      writer.removeAll()
      guard let revision = stored.revision, revisions[stored.rowID] == revision,
        try update.patch(stored.body, to: &writer)
      else { return }
      let key = stored.key
      try collection.store.checkNames(writer.bytes, key: key)
      try writer.checkStorable(limit: collection.store.maximumDocumentSize)
      var document = NewDocument(
        key: key, type: stored.type, version: stored.version,
        added: stored.added ?? Clock.microseconds(), replacedRevision: revision,
        body: UnsafeRawBufferPointer(start: nil, count: 0))
      document.changedFields = update.patchedFields
      let start = bytes.count
      bytes.append(contentsOf: writer.bytes)
      documents[stored.rowID] = Patched(document: document, body: start..<bytes.count)
    }
    return (documents, bytes)
  }
}
