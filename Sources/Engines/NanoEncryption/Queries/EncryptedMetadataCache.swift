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
    let encrypted: DocumentValue
    let value: Value
  }
  private struct State {
    var indexes: [ExactName: Entry<BlindIndexes>] = [:]
    var settings: [ExactName: Entry<CollectionSettings>] = [:]
    var paths: [ExactName: CachedPathCatalog] = [:]
  }
  private let state = Mutex(State())

  func indexes(
    _ collection: String, _ encrypted: DocumentValue, _ decrypt: () throws -> BlindIndexes
  ) throws -> BlindIndexes {
    try value(\.indexes, collection, encrypted, decrypt)
  }

  func settings(
    _ collection: String, _ encrypted: DocumentValue, _ decrypt: () throws -> CollectionSettings
  ) throws -> CollectionSettings {
    try value(\.settings, collection, encrypted, decrypt)
  }

  private func value<Value>(
    _ entries: any WritableKeyPath<State, [ExactName: Entry<Value>]> & Sendable,
    _ collection: String,
    _ encrypted: DocumentValue, _ decrypt: () throws -> Value
  ) throws -> Value {
    let name = ExactName(collection)
    if let entry = state.withLock({ $0[keyPath: entries][name] }), entry.encrypted == encrypted {
      return entry.value
    }
    let decrypted = try decrypt()
    state.withLock { $0[keyPath: entries][name] = Entry(encrypted: encrypted, value: decrypted) }
    return decrypted
  }

  /// Removes and returns the path catalog of a collection, for one transaction to modify.
  func checkOutPaths(_ collection: String) -> CachedPathCatalog? {
    state.withLock { $0.paths.removeValue(forKey: ExactName(collection)) }
  }

  /// Stores path catalogs that a transaction has committed.
  func store(_ paths: [ExactName: CachedPathCatalog]) {
    state.withLock { $0.paths.merge(paths) { $1 } }
  }
}

// @unchecked: a path catalog is used by one transaction at a time; see `checkOutPaths`.
/// The path catalog of a collection, and its encrypted bytes; `nil` if it is not stored.
struct CachedPathCatalog: @unchecked Sendable {
  let paths: EncryptedPathCatalog
  var encrypted: DocumentValue?
}
