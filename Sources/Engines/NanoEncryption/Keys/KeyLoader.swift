// SPDX-License-Identifier: MIT

import Crypto
import Foundation
import NanoDocument
import NanoEngine
import NanoQuery

/// Finds or makes the keys of a store when it is opened.
struct KeyLoader {
  private let inner: any Engine
  private let encryption: Encryption

  init(_ inner: any Engine, _ encryption: Encryption) {
    self.inner = inner
    self.encryption = encryption
  }

  func keyring() throws -> Keyring {
    let found = try inner.read(.call, nil) { try $0.metadata(EncryptionMarker.name) }
    let ring = try found.map { try open($0) } ?? begin()
    return try widened(ring)
  }

  private func open(_ value: DocumentValue) throws -> Keyring {
    let header = try EncryptionHeader(value)
    return try Keyring(value, try header.derivation.wrappingKey(encryption.key))
  }

  /// Makes keys for a store that has none.
  private func begin() throws -> Keyring {
    // Outside of the transaction, since it takes its time.
    let derivation = KeyDerivation(for: encryption.key, encryption.cost)
    let wrapping = try derivation.wrappingKey(encryption.key)
    return try inner.write(nil) { writer in
      // Another process may have been quicker.
      if let value = try writer.metadata(EncryptionMarker.name) { return try open(value) }
      try requireNothingSealed(writer)
      let header = try EncryptionHeader(
        derivation, first: DataKey(number: 1), encryption.scope,
        isStrict: try isEmpty(writer) { _ in true }, wrapping)
      return try write(header, wrapping, writer) { _ in true }
    }
  }

  /// Documents that are sealed cannot be opened with new keys, and must not look as if they were none.
  private func requireNothingSealed(_ writer: any EngineWriter) throws {
    let missing = StoreError(
      .corruptFile, "The keys of the store are missing", [.hint: "restore them from a backup"])
    // Whatever is sealed first brings an entry for its paths.
    if try writer.metadataNames().contains(where: SealedEntry.isHidden) { throw missing }
    for collection in try writer.collections() {
      try writer.find(Query(limit: 1), in: collection.name) { stored in
        if SealedBody.isSealed(stored.body) { throw missing }
        return false
      }
    }
  }

  private func isEmpty(
    _ writer: any EngineWriter, _ isConcerned: (String) -> Bool
  ) throws -> Bool {
    if encryption.scope == .all {
      guard try writer.metadataNames().allSatisfy(SealedEntry.isHidden) else { return false }
    }
    return try writer.collections().allSatisfy { collection in
      guard isConcerned(collection.name) else { return true }
      return try writer.count(Query(limit: 1), in: collection.name) == 0
        && writer.settings(of: collection.name).isEmpty
    }
  }

  /// Collections that are to be sealed too are added to those that are.
  private func widened(_ ring: Keyring) throws -> Keyring {
    guard let sealed = ring.header.collections else { return ring }
    let asked = encryption.scope.folded
    if let asked, asked.isSubset(of: sealed) { return ring }
    return try inner.write(nil) { writer in
      guard let value = try writer.metadata(EncryptionMarker.name) else {
        throw EncryptionHeader.damaged
      }
      let before = try Keyring(value, ring.wrapping)
      guard let known = before.header.collections else { return before }
      var header = before.header
      header.collections = asked.map { $0.union(known) }
      let isNew = { (name: String) in !known.contains(name.folded) }
      if try !isEmpty(writer, isNew) { header.isStrict = false }
      return try write(header, ring.wrapping, writer, isNew)
    }
  }

  private func write(
    _ header: EncryptionHeader, _ wrapping: SymmetricKey, _ writer: any EngineWriter,
    _ isNew: (String) -> Bool
  ) throws -> Keyring {
    let value = header.sealed(with: wrapping)
    let ring = try Keyring(value, wrapping)
    try writer.setMetadata(value, EncryptionMarker.name)
    try replaceIndexes(ring, writer, isNew)
    return ring
  }

  /// Indexes on the fields of plain documents find nothing in sealed ones: a unique one would let equal
  /// values pass. Blind ones take their place, for which documents are sealed at once.
  private func replaceIndexes(
    _ ring: Keyring, _ writer: any EngineWriter, _ isNew: (String) -> Bool
  ) throws {
    let sealing = EncryptedWriter(writer, encryption, EncryptedMetadataCache(), ring)
    for collection in try writer.collections() {
      let name = collection.name
      guard ring.seals(name), isNew(name) else { continue }
      let indexes = try writer.indexes(in: name).filter { $0.origin == .declared }
      let texts = try writer.textIndexes(in: name)
      let refused =
        texts.map(\.name)
        + indexes.filter { !encryption.allows($0, in: name) }.map(\.name)
      guard refused.isEmpty else {
        throw StoreError(
          .unsupported, "A collection with indexes cannot be sealed",
          [
            .collection: name, .index: refused.joined(separator: ", "),
            .hint: "drop them, or ask for blind indexes",
          ])
      }
      _ = try writer.dropIndexes(in: name)
      try writer.setIndexLedger([], of: name)
      for index in indexes { try sealing.createIndex(index, in: name) }
    }
    _ = try sealing.flush()
  }
}

extension Encryption {
  /// Whether an index on sealed fields may be made, as a blind one.
  func allows(_ index: IndexDefinition, in collection: String) -> Bool {
    if InternalCollection(named: collection) != nil { return true }
    switch indexes {
    case .refused: return false
    case .blind: return true
    case .blindOn(let fields):
      let name = collection.folded
      let allowed = fields.filter { $0.key.folded == name }.flatMap(\.value)
      return index.columns.allSatisfy { allowed.contains($0.path) }
    }
  }
}
