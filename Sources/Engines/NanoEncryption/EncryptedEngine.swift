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
  let knownKeys: KnownKeys
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
      knownKeys = KnownKeys(try KeyLoader(inner, encryption).keyring())
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

  /// The keys as of the last read or write.
  var keyring: Keyring { knownKeys.ring }

  package func read<Result>(
    _ scope: ReadScope, _ interruption: Interruption?,
    _ work: (any EngineReader) throws -> Result
  ) throws -> Result {
    // Determined before the snapshot begins, which therefore has these keys or newer ones.
    let known = scope == .stale ? nil : keyring
    // One call here may be several calls to the inner engine, which must read one snapshot.
    return try inner.read(scope == .stale ? .stale : .snapshot, interruption) { reader in
      let (ring, failure) = try snapshotKeys(reader, after: known)
      return try work(
        EncryptedReader(reader, encryption, metadataCache, ring, failure, interruption))
    }
  }

  package func get(
    _ identity: Identity, in collection: String, _ interruption: Interruption?,
    _ show: (StoredDocument) throws -> Void
  ) throws -> Bool {
    let ring = keyring
    do {
      guard ring.encrypts(collection) else {
        return try inner.get(identity, in: collection, interruption) { stored in
          // Another connection may have begun to encrypt the collection.
          if SealedBody.isSealed(stored.body) { throw UnknownKey() }
          try show(stored)
        }
      }
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
    let ring = keyring
    let decryptor = ring.encrypts(collection) ? DocumentDecryptor(ring, collection) : nil
    var found = CollectedDocuments()
    do {
      try inner.get(keys: keys, in: collection, interruption) { stored in
        if let decryptor {
          try decryptor.decrypt(stored) { found.add($0) }
        } else if SealedBody.isSealed(stored.body) {
          throw UnknownKey()
        } else {
          found.add(stored)
        }
      }
    } catch is UnknownKey {
      // Another connection may have created a key, or begun to encrypt the collection.
      return try read(.snapshot, interruption) { try $0.get(keys: keys, in: collection, show) }
    }
    try found.show(show)
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
  package var maximumReads: Int { inner.maximumReads }
  package var isReadOnly: Bool { inner.isReadOnly }
  package var clock: any StoreClock { inner.clock }
  package var hasExpirations: Bool { inner.hasExpirations }
  package var lastCommit: CommitStamp? { inner.lastCommit }

  package func write<Result>(
    _ isolation: Isolation, _ interruption: Interruption?,
    _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    let known = keyring
    var paths: [ExactName: CachedPathCatalog] = [:]
    let result = try inner.write(isolation, interruption) { inner in
      let writer = EncryptedWriter(inner, self, try current(inner, after: known), interruption)
      let result = try work(writer)
      paths = try writer.flush()
      return result
    }
    metadataCache.store(paths)
    return result
  }

  /// Returns the keys as of a transaction.
  ///
  /// - Parameter known: The newest keys before it began.
  func current(_ writer: any EngineReader, after known: Keyring) throws -> Keyring {
    guard let value = try writer.metadata(EncryptionMarker.name) else {
      throw EncryptionHeader.damaged
    }
    return try knownKeys.keyring(value, after: known)
  }

  /// Returns the keys as of a snapshot. If its header cannot be read, returns the newest keys that are known, with the
  /// reason: they still decrypt what was encrypted with them.
  ///
  /// - Parameter known: The newest keys before the snapshot began; `nil` if it may be older.
  private func snapshotKeys(
    _ reader: any EngineReader, after known: Keyring?
  ) throws -> (ring: Keyring, failure: StoreError?) {
    var value: DocumentValue?
    do {
      value = try reader.metadata(EncryptionMarker.name)
      guard let value else { throw EncryptionHeader.damaged }
      return (try knownKeys.keyring(value, after: known), nil)
    } catch let error as StoreError where [.wrongKey, .corruptFile].contains(error.code) {
      let newest = keyring
      // Metadata would seem to be missing, and encrypted documents to be plain ones.
      if error.code == .wrongKey, let header = value.flatMap({ try? EncryptionHeader($0) }),
        !newest.reads(header)
      {
        throw error
      }
      return (newest, error)
    }
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
  private struct State {
    var encryption: Encryption
    /// The number of key changes that have written the header, committed or not.
    var changes = 0
    /// The number of the change that set the key.
    var current = 0
  }
  private let state: Mutex<State>

  package init(_ encryption: Encryption) { state = Mutex(State(encryption: encryption)) }

  package var encryption: Encryption { state.withLock { $0.encryption } }

  /// Returns a number for a key change, higher than those of earlier ones.
  func nextChange() -> Int {
    state.withLock { state in
      state.changes += 1
      return state.changes
    }
  }

  /// Sets the key after its change is committed, unless a later change has set another one.
  func set(_ key: EncryptionKey, _ cost: ScryptCost, change: Int) {
    state.withLock { state in
      guard change > state.current else { return }
      state.current = change
      state.encryption.key = key
      state.encryption.cost = cost
    }
  }
}
