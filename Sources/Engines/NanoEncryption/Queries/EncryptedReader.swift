// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// A snapshot of encrypted documents, which it decrypts.
class EncryptedReader: EngineReader {
  let inner: any EngineReader
  let encryption: Encryption
  let known: EncryptedMetadataCache
  var ring: Keyring
  private let engine: EncryptedEngine?

  init(_ inner: any EngineReader, _ engine: EncryptedEngine, _ ring: Keyring) {
    self.inner = inner
    self.engine = engine
    self.ring = ring
    encryption = engine.encryption
    known = engine.known
  }

  /// Creates a reader without an engine, for keys that cannot change in the meantime.
  init(
    reader inner: any EngineReader, _ encryption: Encryption, _ known: EncryptedMetadataCache,
    _ ring: Keyring
  ) {
    self.inner = inner
    self.encryption = encryption
    self.known = known
    self.ring = ring
    engine = nil
  }

  /// Decrypts a document of an encrypted collection and passes it to a closure.
  func open<Result>(
    _ stored: StoredDocument, _ opener: DocumentDecryptor, in collection: String,
    _ show: (StoredDocument) throws -> Result
  ) throws -> Result {
    do {
      return try opener.open(stored, show)
    } catch is UnknownKey {
      try readKeys()
      let opener = DocumentDecryptor(ring, collection)
      do { return try opener.open(stored, show) } catch is UnknownKey {
        throw opener.unknownKey(stored)
      }
    }
  }

  /// Reads the keys again, since another process may have created a key.
  private func readKeys() throws {
    if let engine { ring = try engine.current(inner) }
  }

  func paths(of collection: String) throws -> EncryptedPathCatalog? {
    let name = collection.foldingASCII
    let entry = SealedEntry.name(.paths, name, ring.values)
    guard let sealed = try inner.metadata(entry) else { return nil }
    return EncryptedPathCatalog(try SealedEntry.open(sealed, .paths, name, ring.values))
  }

  func collections() throws -> [CollectionDescription] { try inner.collections() }
  func identity(of collection: String) throws -> CollectionIdentity {
    try inner.identity(of: collection)
  }

  @discardableResult
  func get(
    _ identity: Identity, in collection: String, _ show: (StoredDocument) throws -> Void
  ) throws -> Bool {
    guard ring.seals(collection) else { return try inner.get(identity, in: collection, show) }
    let opener = DocumentDecryptor(ring, collection)
    return try inner.get(identity, in: collection) {
      try open($0, opener, in: collection, show)
    }
  }

  func version(ofRow rowID: Int64, in collection: String) throws -> ContentVersion? {
    try inner.version(ofRow: rowID, in: collection)
  }
  func highestRowID(in collection: String) throws -> Int64? {
    try inner.highestRowID(in: collection)
  }
  func committedState() throws -> CommittedState? { try inner.committedState() }
  func types(in collection: String) throws -> [String] { try inner.types(in: collection) }

  func textIndexes(in collection: String) throws -> [FullTextIndexDefinition] {
    ring.seals(collection) ? [] : try inner.textIndexes(in: collection)
  }
  func indexing(in collection: String) throws -> IndexingPolicy {
    ring.seals(collection) ? .declared : try inner.indexing(in: collection)
  }
  func unfinishedIndexes() throws -> [PendingIndex] {
    try inner.unfinishedIndexes().filter { !ring.seals($0.collection) }
  }
  func indexLedger() throws -> [IndexCostRecord] {
    try inner.indexLedger().filter { !ring.seals($0.collection) }
  }

  func find(
    _ query: Query, in collection: String, _ show: (StoredDocument) throws -> Bool
  ) throws {
    guard let question = try question(query, collection) else {
      return try inner.find(query, in: collection, show)
    }
    try find(question, isOrdered: true, show)
  }

  func findInAnyOrder(
    _ query: Query, in collection: String, _ show: (StoredDocument) throws -> Bool
  ) throws {
    guard let question = try question(query, collection) else {
      return try inner.findInAnyOrder(query, in: collection, show)
    }
    try find(question, isOrdered: !query.isWholeByRowID, show)
  }

  func findRanked(
    _ query: Query, in collection: String, _ show: (StoredDocument, Double) throws -> Bool
  ) throws {
    guard ring.seals(collection) else {
      return try inner.findRanked(query, in: collection, show)
    }
    // An encrypted collection has no full-text index, so all ranks are zero.
    try find(query, in: collection) { try show($0, 0) }
  }

  func contents(
    _ query: Query, in collection: String, withKeys: Bool,
    _ show: (StoredContent) throws -> Bool
  ) throws {
    guard let question = try question(query, collection) else {
      return try inner.contents(query, in: collection, withKeys: withKeys, show)
    }
    try find(question, isOrdered: true) { stored in
      try show(
        StoredContent(
          key: withKeys ? stored.borrowedKey : .none, version: stored.version, body: stored.body))
    }
  }
}
