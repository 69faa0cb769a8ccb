// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Applies the writes of a batch with few calls: adjacent writes of the same kind are combined, and
/// revisions are read at the end.
struct BatchWriter {
  private let collection: DocumentCollection
  private let writer: any EngineWriter
  private let added = Clock.microseconds()

  init(_ collection: DocumentCollection, _ writer: any EngineWriter) {
    self.collection = collection
    self.writer = writer
  }

  private var name: String { collection.name }

  func apply(_ writes: [PreparedWrite]) throws -> [BatchOutcome.Write] {
    var outcomes: [BatchOutcome.Write] = []
    var start = 0
    while start < writes.count {
      var end = start + 1
      while end < writes.count, Self.areBatchable(writes[start], writes[end]) { end += 1 }
      var ids: [Int64] = []
      do {
        outcomes += try run(writes[start..<end], &ids)
      } catch let error as StoreError {
        throw error.adding(.position, "write \(start + ids.count + 1) of the batch")
      }
      start = end
    }
    return try withRevisions(outcomes)
  }

  private static func areBatchable(_ a: PreparedWrite, _ b: PreparedWrite) -> Bool {
    switch (a.kind, b.kind) {
    case (.insert, .insert), (.save, .save): true
    default: false
    }
  }

  /// - Parameter ids: Receives the row IDs of inserted and saved documents, including those before a rejected one.
  private func run(
    _ writes: ArraySlice<PreparedWrite>, _ ids: inout [Int64]
  ) throws -> [BatchOutcome.Write] {
    guard let first = writes.first else { return [] }
    switch first.kind {
    case .insert, .save:
      try withDocuments(writes) { documents in
        if case .insert = first.kind {
          try writer.insert(documents, into: name, &ids)
        } else {
          try writer.save(documents, into: name, &ids)
        }
      }
      return ids.map { BatchOutcome.Write(rowID: $0, revision: nil) }
    case .replace(let revision): return [try replace(first, revision)]
    case .remove(let revision): return [try remove(first, revision)]
    }
  }

  /// Passes the documents to a closure, with bodies that point into one buffer.
  private func withDocuments(
    _ writes: ArraySlice<PreparedWrite>, _ use: ([NewDocument]) throws -> Void
  ) throws {
    var bodies: [UInt8] = []
    for write in writes { bodies += write.body }
    try bodies.withUnsafeBytes { bytes in
      var start = 0
      var documents: [NewDocument] = []
      for write in writes {
        let end = start + write.body.count
        documents.append(
          NewDocument(
            key: try collection.key(write.key, writer), added: added,
            body: UnsafeRawBufferPointer(rebasing: bytes[start..<end])))
        start = end
      }
      try use(documents)
    }
  }

  private func replace(
    _ write: PreparedWrite, _ revision: Int64
  ) throws -> BatchOutcome.Write {
    guard let key = write.key else { return BatchOutcome.Write() }
    let isReplaced = try write.body.withUnsafeBytes { body in
      try writer.replace(
        .key(key),
        with: NewDocument(key: key, added: added, replacedRevision: revision, body: body), in: name)
    }
    guard let found = try current(key) else {
      throw DocumentCollection.notFound(.key(key), name)
    }
    guard isReplaced else { throw conflict(key, revision, found.revision) }
    return BatchOutcome.Write(rowID: found.rowID, revision: nil)
  }

  private func remove(
    _ write: PreparedWrite, _ revision: Int64?
  ) throws -> BatchOutcome.Write {
    guard let key = write.key else { return BatchOutcome.Write() }
    guard let found = try current(key) else { return BatchOutcome.Write() }
    if let revision, found.revision != revision { throw conflict(key, revision, found.revision) }
    _ = try collection.remove(.key(key), writer)
    return BatchOutcome.Write(rowID: found.rowID, revision: nil)
  }

  private func current(_ key: DocumentKey) throws -> (rowID: Int64, revision: Int64?)? {
    var found: (rowID: Int64, revision: Int64?)?
    try writer.get(.key(key), in: name) { found = ($0.rowID, $0.revision) }
    return found
  }

  private func conflict(_ key: DocumentKey, _ expected: Int64, _ actual: Int64?) -> StoreError {
    DocumentCollection.revisionConflict(.key(key), name, expected: expected, actual: actual)
  }

  private func withRevisions(
    _ outcomes: [BatchOutcome.Write]
  ) throws -> [BatchOutcome.Write] {
    let ids = Set(outcomes.compactMap(\.rowID))
    guard !ids.isEmpty else { return outcomes }
    var revisions: [Int64: Int64] = [:]
    for id in ids { revisions[id] = try writer.version(ofRow: id, in: name)?.revision }
    return outcomes.map { outcome in
      BatchOutcome.Write(
        rowID: outcome.rowID, revision: outcome.rowID.flatMap { revisions[$0] })
    }
  }
}
