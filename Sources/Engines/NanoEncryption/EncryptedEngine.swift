// SPDX-License-Identifier: MIT

import Crypto
import Foundation
package import NanoDocument
package import NanoEngine
import Synchronization

/// An engine that encrypts documents before passing them to another engine, and decrypts them when reading.
///
/// The inner engine stores JSON that reveals nothing. Conditions on fields are evaluated here, on decrypted
/// documents; conditions on row IDs, keys, types and versions, by the inner engine.
///
/// ```swift
/// let engine = try EncryptedEngine(SQLiteEngine(.file(path), configuration), encryption)
/// ```
package final class EncryptedEngine: Engine {
  let inner: any Engine
  let encryption: Encryption
  private let ring: Mutex<Keyring>
  /// Decrypted metadata of collections, looked up by the encrypted bytes it was read from.
  let metadataCache = EncryptedMetadataCache()
  /// The encryption that opened the store, updated when the key is changed.
  let session: EncryptionSession

  /// Creates an engine and takes ownership of the inner one, which is closed with it, and immediately if
  /// initialization fails.
  ///
  /// - Throws: ``StoreError/Code/wrongKey``, before anything is written. ``StoreError/Code/unsupported`` if a
  ///   store that was not encrypted has indexes that cannot be converted to blind indexes;
  ///   ``StoreError/Code/corruptFile`` if the keys are damaged or missing.
  package convenience init(_ inner: any Engine, _ encryption: Encryption) throws {
    try self.init(inner, EncryptionSession(encryption))
  }

  package init(_ inner: any Engine, _ session: EncryptionSession) throws {
    do {
      let encryption = session.encryption
      ring = Mutex(try KeyLoader(inner, encryption).keyring())
      self.inner = inner
      self.encryption = encryption
      self.session = session
    } catch {
      try? inner.close()
      throw error
    }
  }

  package var capabilities: Capabilities {
    // Encrypted documents are written in transactions.
    var all = inner.capabilities.subtracting([.sql, .singleWrites])
    // Collections that are not encrypted support every capability.
    guard keyring.encryptsMetadata else { return all }
    all.subtract([.everythingIndex, .fullTextIndexes])
    if encryption.indexes == .rejected {
      all.subtract([.uniqueIndexes, .elementIndexes, .uniqueElementIndexes])
    }
    return all
  }

  /// The keys as of the last read.
  var keyring: Keyring { ring.withLock(\.self) }

  func setKeyring(_ keyring: Keyring) { ring.withLock { $0 = keyring } }

  package func read<Result>(
    _ scope: ReadScope, _ interruption: Interruption?,
    _ work: (any EngineReader) throws -> Result
  ) throws -> Result {
    // One call here may be several calls to the inner engine, which must read one snapshot.
    try inner.read(scope == .stale ? .stale : .snapshot, interruption) {
      try work(EncryptedReader($0, self, keyring))
    }
  }

  package func get(
    _ identity: Identity, in collection: String, _ interruption: Interruption?,
    _ show: (StoredDocument) throws -> Void
  ) throws -> Bool {
    let ring = keyring
    guard ring.encrypts(collection) else {
      return try inner.get(identity, in: collection, interruption, show)
    }
    do {
      let decryptor = DocumentDecryptor(ring, collection)
      return try inner.get(identity, in: collection, interruption) {
        try decryptor.decrypt($0, show)
      }
    } catch is UnknownKey {
      return try read(.call, interruption) { try $0.get(identity, in: collection, show) }
    }
  }

  package func get(
    keys: [DocumentKey], in collection: String, _ interruption: Interruption?,
    _ show: (StoredDocument) throws -> Void
  ) throws {
    guard keyring.encrypts(collection) else {
      return try inner.get(keys: keys, in: collection, interruption, show)
    }
    // A document may require a key that another process created, which is read from the same snapshot.
    try read(.snapshot, interruption) { try $0.get(keys: keys, in: collection, show) }
  }

  /// Requires a transaction, which determines the current keys.
  package func put(
    _ document: NewDocument, newKey: DocumentKey, replacing: Bool, into collection: String,
    _ interruption: Interruption?
  ) throws -> (rowID: Int64, key: DocumentKey?)? { nil }

  /// Requires a transaction, as ``put(_:newKey:replacing:into:_:)`` does.
  package func replace(
    key: DocumentKey, with document: NewDocument, in collection: String,
    _ interruption: Interruption?
  ) throws -> Bool? { nil }

  /// Requires a transaction, as ``put(_:newKey:replacing:into:_:)`` does.
  package func delete(
    key: DocumentKey, from collection: String, unless references: String,
    _ interruption: Interruption?
  ) throws -> Bool? { nil }

  package var concurrentWrites: Int { inner.concurrentWrites }
  package var clock: any StoreClock { inner.clock }
  package var hasExpirations: Bool { inner.hasExpirations }
  package var lastCommit: CommitStamp? { inner.lastCommit }

  package func write<Result>(
    _ isolation: Isolation, _ interruption: Interruption?,
    _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    var paths: [ExactName: CachedPathCatalog] = [:]
    let result = try inner.write(isolation, interruption) { inner in
      let writer = EncryptedWriter(inner, self, try current(inner))
      let result = try work(writer)
      paths = try writer.flush()
      return result
    }
    metadataCache.store(paths)
    return result
  }

  /// Returns the keys as of a transaction.
  func current(_ reader: any EngineReader) throws -> Keyring {
    let ring = keyring
    guard let value = try reader.metadata(EncryptionMarker.name) else {
      throw EncryptionHeader.damaged
    }
    guard value != ring.value else { return ring }
    let changed = try Keyring(value, ring.wrapping)
    setKeyring(changed)
    return changed
  }

  /// The index of an encrypted collection requires a transaction, which encrypts the documents again.
  package func createIndexConcurrently(
    _ index: IndexDefinition, in collection: String, _ interruption: Interruption?
  ) throws -> Bool {
    guard !keyring.encrypts(collection) else { return false }
    return try inner.createIndexConcurrently(index, in: collection, interruption)
  }

  package func observeCommits(
    _ handler: @escaping @Sendable (Commit) -> Void
  ) throws -> CommitObservation { try inner.observeCommits(handler) }

  package func compact() throws { try inner.compact() }

  /// Creates a backup, which is encrypted like the store.
  package func backup(
    to destination: BackupDestination, progress: ((Double) throws -> Void)?
  ) throws { try inner.backup(to: destination, progress: progress) }

  package func statistics() throws -> EngineStatistics {
    var statistics = try inner.statistics()
    statistics.settings["encryption"] = "AES-256-GCM"
    return statistics
  }

  package func close() throws { try inner.close() }
}

/// The encryption of a store, which outlives closing and reopening it.
package final class EncryptionSession: Sendable {
  private let state: Mutex<Encryption>

  package init(_ encryption: Encryption) { state = Mutex(encryption) }

  package var encryption: Encryption { state.withLock(\.self) }

  func set(_ key: EncryptionKey, _ cost: ScryptCost) {
    state.withLock {
      $0.key = key
      $0.cost = cost
    }
  }
}
