// SPDX-License-Identifier: MIT

import Crypto
import Foundation
import NanoDocument
import NanoEngine
import NanoQuery

/// Loads the keys of a store when it is opened, and creates them for a new one.
struct KeyLoader {
  private let inner: any Engine
  private let encryption: Encryption

  init(_ inner: any Engine, _ encryption: Encryption) {
    self.inner = inner
    self.encryption = encryption
  }

  func keyring() throws -> Keyring {
    let found = try inner.read(.call, nil) { try $0.metadata(EncryptionMarker.name) }
    let ring = try found.map { try unwrap($0) } ?? create()
    return try addingCollections(ring)
  }

  private func unwrap(_ value: DocumentValue) throws -> Keyring {
    let header = try EncryptionHeader(value)
    return try Keyring(value, try header.derivation.wrappingKey(encryption.key))
  }

  /// Creates the keys of a store that has none.
  private func create() throws -> Keyring {
    // Derived outside of the transaction, since it takes time.
    let derivation = try KeyDerivation(for: encryption.key, encryption.cost)
    let wrapping = try derivation.wrappingKey(encryption.key)
    return try inner.write(nil) { writer in
      // Another process may have created the keys first.
      if let value = try writer.metadata(EncryptionMarker.name) { return try unwrap(value) }
      try requireNothingEncrypted(writer)
      let header = try EncryptionHeader(
        derivation, first: DataKey(number: 1), encryption.scope,
        isStrict: try isEmpty(writer) { _ in true }, wrapping)
      return try write(header, wrapping, writer) { _ in true }
    }
  }

  /// Rejects a store with encrypted documents or attachments: new keys cannot decrypt them, and the store must not
  /// appear to be new.
  ///
  /// Reads all documents, since any of them may be plain: from before the store was encrypted, or inserted by an
  /// attacker.
  private func requireNothingEncrypted(_ writer: any EngineWriter) throws {
    // The first encrypted document of a collection adds an entry for its paths.
    if try writer.metadataNames().contains(where: EncryptedEntry.isHidden) {
      throw EncryptionHeader.missing
    }
    for collection in try writer.collections() {
      try writer.find(Query(), in: collection.name) { stored in
        if SealedBody.isSealed(stored.body) { throw EncryptionHeader.missing }
        return true
      }
    }
    var last: Int64 = 0
    while true {
      let blobs = try writer.blobs(after: last, limit: 100)
      if blobs.contains(where: { $0.sealed != nil }) { throw EncryptionHeader.missing }
      guard let end = blobs.last?.rowID else { return }
      last = end
    }
  }

  /// Returns whether the included collections, and the metadata if it is to be encrypted, contain nothing.
  private func isEmpty(
    _ writer: any EngineWriter, _ isIncluded: (String) -> Bool
  ) throws -> Bool {
    if encryption.scope == .all {
      guard try writer.metadataNames().allSatisfy(EncryptedEntry.isHidden) else { return false }
    }
    return try writer.collections().allSatisfy { collection in
      guard isIncluded(collection.name) else { return true }
      return try writer.count(Query(limit: 1), in: collection.name) == 0
        && writer.settings(of: collection.name).isEmpty
    }
  }

  /// Adds collections that are to be encrypted to those that already are.
  private func addingCollections(_ ring: Keyring) throws -> Keyring {
    guard let encrypted = ring.header.collections else { return ring }
    let requested = encryption.scope.folded
    if let requested, requested.isSubset(of: encrypted) { return ring }
    return try inner.write(nil) { writer in
      guard let value = try writer.metadata(EncryptionMarker.name) else {
        throw EncryptionHeader.damaged
      }
      let before = try Keyring(value, ring.wrapping)
      guard let existing = before.header.collections else { return before }
      var header = before.header
      header.collections = requested.map { $0.union(existing) }
      let widened = header
      let isNew = { (name: String) in widened.encrypts(name) && !before.encrypts(name) }
      // Plain documents enter the scope only with these collections.
      if try !isEmpty(writer, isNew) { header.isStrict = false }
      return try write(header, ring.wrapping, writer, isNew)
    }
  }

  private func write(
    _ header: EncryptionHeader, _ wrapping: SymmetricKey, _ writer: any EngineWriter,
    _ isNew: (String) -> Bool
  ) throws -> Keyring {
    let value = header.authenticated(with: wrapping)
    let ring = try Keyring(value, wrapping)
    try writer.setMetadata(value, EncryptionMarker.name)
    // No store is open that would remove the references to expired documents.
    writer.expiry.keepsExpired = true
    try replaceIndexes(ring, writer, isNew)
    return ring
  }

  /// Replaces indexes on the fields of plain documents, which find nothing in encrypted ones: a unique index
  /// would accept equal values. Blind indexes replace them, for which the documents are encrypted immediately.
  private func replaceIndexes(
    _ ring: Keyring, _ writer: any EngineWriter, _ isNew: (String) -> Bool
  ) throws {
    let encryptingWriter = EncryptedWriter(writer, encryption, EncryptedMetadataCache(), ring)
    for collection in try writer.collections() {
      let name = collection.name
      guard ring.encrypts(name), isNew(name) else { continue }
      let indexes = try writer.indexes(in: name).filter { $0.origin == .declared }
      let texts = try writer.fullTextIndexes(in: name)
      let refused = indexes.filter { !encryption.allows($0, in: name) }.map(\.name)
      guard texts.isEmpty, refused.isEmpty else {
        throw StoreError(
          .unsupported, "A collection with these indexes cannot be encrypted",
          [
            .collection: name,
            .index: (texts.map(\.name) + refused).joined(separator: ", "),
            .hint: texts.isEmpty ? "drop them, or allow blind indexes" : "drop them",
          ])
      }
      _ = try writer.dropIndexes(in: name)
      try writer.setIndexCostRecords([], of: name)
      for index in indexes { try encryptingWriter.createIndex(index, in: name) }
    }
    _ = try encryptingWriter.flush()
  }
}

extension Encryption {
  /// Returns whether an index on encrypted fields is allowed, as a blind index.
  func allows(_ index: IndexDefinition, in collection: String) -> Bool {
    if InternalCollection(named: collection) != nil { return true }
    switch indexes {
    case .rejected: return false
    case .blind: return true
    case .blindOn(let fields):
      let name = collection.folded
      let allowed = fields.filter { $0.key.folded == name }.flatMap(\.value)
      return index.columns.allSatisfy { allowed.contains($0.path) }
    }
  }
}
