// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import Synchronization

/// A cache of decrypted collection metadata.
///
/// Entries are looked up by the encrypted bytes that they were decrypted from, which differ with every write:
/// metadata from a transaction that was rolled back is never found.
final class EncryptedMetadataCache: Sendable {
  private struct Entry<Value: Sendable>: Sendable {
    let sealed: DocumentValue
    let value: Value
  }
  private struct State {
    var indexes: [ExactName: Entry<BlindIndexes>] = [:]
    var settings: [ExactName: Entry<CollectionSettings>] = [:]
    var paths: [ExactName: KnownPaths] = [:]
  }
  private let state = Mutex(State())

  func indexes(
    _ collection: String, _ sealed: DocumentValue, _ open: () throws -> BlindIndexes
  ) throws -> BlindIndexes {
    if let entry = state.withLock({ $0.indexes[ExactName(collection)] }), entry.sealed == sealed {
      return entry.value
    }
    let opened = try open()
    state.withLock { $0.indexes[ExactName(collection)] = Entry(sealed: sealed, value: opened) }
    return opened
  }

  func settings(
    _ collection: String, _ sealed: DocumentValue, _ open: () throws -> CollectionSettings
  ) throws -> CollectionSettings {
    if let entry = state.withLock({ $0.settings[ExactName(collection)] }), entry.sealed == sealed {
      return entry.value
    }
    let opened = try open()
    state.withLock { $0.settings[ExactName(collection)] = Entry(sealed: sealed, value: opened) }
    return opened
  }

  /// Removes and returns the path catalog of a collection, for one transaction to modify.
  func takePaths(_ collection: String) -> KnownPaths? {
    state.withLock { $0.paths.removeValue(forKey: ExactName(collection)) }
  }

  /// Stores path catalogs that a transaction has committed.
  func keep(_ paths: [ExactName: KnownPaths]) {
    state.withLock { $0.paths.merge(paths) { $1 } }
  }
}

// @unchecked: a path catalog is used by one transaction at a time; see `takePaths`.
/// The path catalog of a collection, and its encrypted bytes; `nil` if it is not stored.
struct KnownPaths: @unchecked Sendable {
  let paths: EncryptedPathCatalog
  var sealed: DocumentValue?
}
