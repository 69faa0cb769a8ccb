// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// A snapshot of encrypted documents, which it decrypts.
class EncryptedReader: EngineReader {
  let inner: any EngineReader
  let encryption: Encryption
  let metadataCache: EncryptedMetadataCache
  let ring: Keyring
  /// Whether settings and metadata that are not encrypted are read although the keys say that everything is: only while
  /// they are being encrypted. A program that still had the store open without a key has written them.
  var acceptsPlainEntries = false
  /// Why `ring` may not be the keys of the snapshot; `nil` if it is.
  let failure: StoreError?
  /// The interruption of the call.
  let interruption: Interruption?

  init(
    _ inner: any EngineReader, _ encryption: Encryption, _ metadataCache: EncryptedMetadataCache,
    _ ring: Keyring, _ failure: StoreError? = nil, _ interruption: Interruption? = nil
  ) {
    self.inner = inner
    self.encryption = encryption
    self.metadataCache = metadataCache
    self.ring = ring
    self.failure = failure
    self.interruption = interruption
  }

  /// Decrypts a document of an encrypted collection and passes it to a closure.
  func decrypt<Result>(
    _ stored: StoredDocument, _ decryptor: DocumentDecryptor, in collection: String,
    _ show: (StoredDocument) throws -> Result
  ) throws -> Result {
    do {
      return try decryptor.decrypt(stored, show)
    } catch is UnknownKey {
      throw failure ?? decryptor.unknownKey(stored)
    }
  }

  func paths(of collection: String) throws -> EncryptedPathCatalog? {
    let name = collection.foldingASCII
    let entry = EncryptedEntry.name(.paths, name, ring.values)
    guard let encrypted = try inner.metadata(entry) else { return nil }
    return EncryptedPathCatalog(try EncryptedEntry.decrypt(encrypted, .paths, name, ring.values))
  }

  func collections() throws -> [CollectionDescription] { try inner.collections() }
  func identity(of collection: String) throws -> CollectionIdentity {
    try inner.identity(of: collection)
  }

  @discardableResult
  func get(
    _ identity: Identity, in collection: String, _ show: (StoredDocument) throws -> Void
  ) throws -> Bool {
    guard ring.encrypts(collection) else { return try inner.get(identity, in: collection, show) }
    let decryptor = DocumentDecryptor(ring, collection)
    return try inner.get(identity, in: collection) {
      try decrypt($0, decryptor, in: collection, show)
    }
  }

  func get(
    rowIDs: [Int64], in collection: String, _ show: (StoredDocument) throws -> Void
  ) throws {
    guard ring.encrypts(collection) else {
      return try inner.get(rowIDs: rowIDs, in: collection, show)
    }
    let decryptor = DocumentDecryptor(ring, collection)
    try inner.get(rowIDs: rowIDs, in: collection) {
      try decrypt($0, decryptor, in: collection, show)
    }
  }

  func get(
    keys: [DocumentKey], in collection: String, _ show: (StoredDocument) throws -> Void
  ) throws {
    guard ring.encrypts(collection) else {
      return try inner.get(keys: keys, in: collection, show)
    }
    let decryptor = DocumentDecryptor(ring, collection)
    try inner.get(keys: keys, in: collection) {
      try decrypt($0, decryptor, in: collection, show)
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

  func fullTextIndexes(in collection: String) throws -> [FullTextIndexDefinition] {
    ring.encrypts(collection) ? [] : try inner.fullTextIndexes(in: collection)
  }
  func indexing(in collection: String) throws -> IndexingPolicy {
    ring.encrypts(collection) ? .declared : try inner.indexing(in: collection)
  }
  func unfinishedIndexes() throws -> [PendingIndex] {
    try inner.unfinishedIndexes().filter { !ring.encrypts($0.collection) }
  }
  func indexCostRecords() throws -> [IndexCostRecord] {
    try inner.indexCostRecords().filter { !ring.encrypts($0.collection) }
  }

  func find(
    _ query: Query, in collection: String, _ show: (StoredDocument) throws -> Bool
  ) throws {
    guard let encryptedQuery = try encryptedQuery(query, collection) else {
      return try inner.find(try plain(query), in: collection, show)
    }
    try find(encryptedQuery, isOrdered: true, show)
  }

  func findInAnyOrder(
    _ query: Query, in collection: String, _ show: (StoredDocument) throws -> Bool
  ) throws {
    guard let encryptedQuery = try encryptedQuery(query, collection) else {
      return try inner.findInAnyOrder(try plain(query), in: collection, show)
    }
    try find(encryptedQuery, isOrdered: !query.isWholeByRowID, show)
  }

  func findRanked(
    _ query: Query, in collection: String, _ show: (StoredDocument, Double) throws -> Bool
  ) throws {
    guard ring.encrypts(collection) else {
      return try inner.findRanked(try plain(query), in: collection, show)
    }
    // An encrypted collection has no full-text index, so all ranks are zero.
    try find(query, in: collection) { try show($0, 0) }
  }

  func contents(
    _ query: Query, in collection: String, withKeys: Bool,
    _ show: (StoredContent) throws -> Bool
  ) throws {
    guard let encryptedQuery = try encryptedQuery(query, collection) else {
      return try inner.contents(try plain(query), in: collection, withKeys: withKeys, show)
    }
    try find(encryptedQuery, isOrdered: true) { stored in
      try show(
        StoredContent(
          key: withKeys ? stored.borrowedKey : .none, version: stored.version, body: stored.body))
    }
  }
}
