// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import Synchronization

/// What was read of collections, so that what was opened once is not opened again.
///
/// It is found by the sealed bytes that it was opened from, which are different for each writing: what a
/// transaction wrote that was undone is never found.
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

  /// Gives away the paths of a collection: to one transaction, which changes them.
  func takePaths(_ collection: String) -> KnownPaths? {
    state.withLock { $0.paths.removeValue(forKey: ExactName(collection)) }
  }

  /// Keeps what a transaction has committed.
  func keep(_ paths: [ExactName: KnownPaths]) {
    state.withLock { $0.paths.merge(paths) { $1 } }
  }
}

// @unchecked: one transaction at a time has the paths, see `takePaths`.
/// The paths of a collection, and the bytes that they are kept as; nil if they are not.
struct KnownPaths: @unchecked Sendable {
  let paths: EncryptedPathCatalog
  var sealed: DocumentValue?
}
