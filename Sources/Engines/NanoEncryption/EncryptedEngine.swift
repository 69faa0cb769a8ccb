// SPDX-License-Identifier: MIT

import Crypto
import Foundation
import NanoDocument
package import NanoEngine
import Synchronization

/// Seals documents on their way to another engine and opens them on their way back.
///
/// The other engine keeps JSON that tells nothing. What is asked about fields is answered here, on opened
/// documents; what is asked about row ids, keys, types and versions, there.
///
/// ```swift
/// let engine = try EncryptedEngine(SQLiteEngine(.file(path), configuration), encryption)
/// ```
package final class EncryptedEngine: Engine {
  let inner: any Engine
  let encryption: Encryption
  private let ring: Mutex<Keyring>
  /// What was read of collections, by the bytes that it was read from.
  let known = EncryptedMetadataCache()
  /// The key that opened it, and another one once it was changed.
  let session: EncryptionSession

  /// Takes over an engine: it is closed with this one, and at once if it cannot be opened.
  ///
  /// - Throws: ``StoreError/Code/wrongKey``, before anything is written.
  ///   ``StoreError/Code/unsupported`` if a store that was not encrypted has indexes that cannot be made
  ///   blind; ``StoreError/Code/corruptFile`` if the keys are damaged or missing.
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
    var all = inner.capabilities.subtracting(.sql)
    // Other collections may have all that there is.
    guard keyring.sealsMetadata else { return all }
    all.subtract([.everythingIndex, .textIndexes])
    if encryption.indexes == .refused {
      all.subtract([.uniqueIndexes, .elementIndexes, .uniqueElementIndexes])
    }
    return all
  }

  /// The keys as they were seen last.
  var keyring: Keyring { ring.withLock(\.self) }

  func note(_ keyring: Keyring) { ring.withLock { $0 = keyring } }

  package func read<Result>(
    _ scope: ReadScope, _ interruption: Interruption?,
    _ work: (any EngineReader) throws -> Result
  ) throws -> Result {
    // One call here may be several there, which must see one state.
    try inner.read(scope == .stale ? .stale : .snapshot, interruption) {
      try work(EncryptedReader($0, self, keyring))
    }
  }

  package func get(
    _ identity: Identity, in collection: String, _ interruption: Interruption?,
    _ show: (StoredDocument) throws -> Void
  ) throws -> Bool {
    let ring = keyring
    guard ring.seals(collection) else {
      return try inner.get(identity, in: collection, interruption, show)
    }
    do {
      let opener = DocumentDecryptor(ring, collection)
      return try inner.get(identity, in: collection, interruption) { try opener.open($0, show) }
    } catch is UnknownKey {
      return try read(.call, interruption) { try $0.get(identity, in: collection, show) }
    }
  }

  package func write<Result>(
    _ interruption: Interruption?, _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    var paths: [ExactName: KnownPaths] = [:]
    let result = try inner.write(interruption) { inner in
      let writer = EncryptedWriter(inner, self, try current(inner))
      let result = try work(writer)
      paths = try writer.flush()
      return result
    }
    known.keep(paths)
    return result
  }

  /// The keys as a transaction sees them.
  func current(_ reader: any EngineReader) throws -> Keyring {
    let ring = keyring
    guard let value = try reader.metadata(EncryptionMarker.name) else {
      throw EncryptionHeader.damaged
    }
    guard value != ring.value else { return ring }
    let changed = try Keyring(value, ring.wrapping)
    note(changed)
    return changed
  }

  package func observeCommits(
    _ handler: @escaping @Sendable (Commit) -> Void
  ) throws -> CommitObservation { try inner.observeCommits(handler) }

  package func compact() throws { try inner.compact() }

  /// The copy is sealed as the store is.
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

/// The encryption of a store for as long as the program has it, over closing and opening again.
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
