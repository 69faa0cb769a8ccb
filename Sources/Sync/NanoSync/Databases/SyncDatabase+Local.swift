// SPDX-License-Identifier: MIT

package import NanoDocument
import NanoEngine
import NanoStoreCore

// Local documents, which are not replicated. Checkpoints are such documents.
extension SyncDatabase {
  private func localKey(_ id: String) throws(StoreError) -> DocumentKey {
    try DocumentKey("\(stateKey)\(Self.localInfix)\(id)")
  }

  /// A local document and how often it was written.
  package struct LocalDocument: Sendable, Hashable {
    package var body: DocumentObject
    package var count: Int
  }

  package func local(_ id: String) throws -> LocalDocument? {
    try store.reading(.call) { try local(id, $0) }
  }

  func local(_ id: String, _ reader: any EngineReader) throws -> LocalDocument? {
    var found: LocalDocument?
    try reader.get(.key(try localKey(id)), in: SyncState.collection) { stored in
      let object = try Document(stored, in: SyncState.collection).object()
      found = LocalDocument(
        body: object["body"]?.object ?? [:], count: Int(object["count"]?.int64 ?? 0))
    }
    return found
  }

  /// Stores a local document, and returns its new count.
  ///
  /// - Parameter count: The count that the client knows; there is no check.
  @discardableResult
  package func setLocal(_ id: String, _ body: DocumentObject, count: Int = 0) throws -> Int {
    let key = try localKey(id)
    try store.write(retries: Self.retries) {
      try store.writing { writer in
        _ = try requireState(writer)
        try save(
          ["body": .object(body), "count": .int(Int64(count + 1))], key,
          into: SyncState.collection, writer)
      }
    }
    return count + 1
  }

  /// Returns whether there was such a document.
  package func removeLocal(_ id: String) throws -> Bool {
    let key = try localKey(id)
    return try store.write(retries: Self.retries) {
      try store.writing { try $0.delete(.key(key), from: SyncState.collection) }
    }
  }
}

// Conflicts, which are listed without reading all records.
extension SyncDatabase {

  func noteConflict(_ record: RevisionRecord, _ writer: any EngineWriter) throws {
    let key = try? DocumentKey("\(stateKey)\(Self.conflictInfix)\(record.id)")
    guard let key else { return }
    if record.liveLeaves.count > 1 {
      try save([:], key, into: SyncState.collection, writer)
    } else if record.wasConflicted || !record.tree.isLinear {
      _ = try writer.delete(.key(key), from: SyncState.collection)
    }
  }

  /// Returns the IDs of documents with several live leaves, sorted.
  package func conflictedIDs() throws -> [String] {
    try catchUp()
    return try store.reading(.snapshot) { try conflictedIDs($0) }
  }

  func conflictedIDs(_ reader: any EngineReader) throws -> [String] {
    let prefix = "\(stateKey)\(Self.conflictInfix)"
    return try stateKeys(prefix, reader).map { entry in
      String(decoding: entry.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }
  }
}
