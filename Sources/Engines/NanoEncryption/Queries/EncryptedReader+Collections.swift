// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine

/// Encrypted metadata of collections.
extension EncryptedReader {
  func indexes(in collection: String) throws -> [IndexDefinition] {
    guard ring.encrypts(collection) else { return try inner.indexes(in: collection) }
    let blind = try blindIndexes(of: collection)?.indexes ?? []
    return blind.map(\.definition).sorted { $0.name.isBefore($1.name) }
  }

  /// Returns the blind indexes of a collection, or `nil` if it has none.
  func blindIndexes(of collection: String) throws -> BlindIndexes? {
    let name = collection.foldingASCII
    let entry = EncryptedEntry.name(.indexes, name, ring.values)
    guard let encrypted = try inner.metadata(entry) else { return nil }
    return try metadataCache.indexes(name, encrypted) {
      BlindIndexes(try EncryptedEntry.decrypt(encrypted, .indexes, name, ring.values))
    }
  }

  private var rejectsPlainEntries: Bool { ring.isStrict && !acceptsPlainEntries }

  func settings(of collection: String) throws -> CollectionSettings {
    let stored = try inner.settings(of: collection)
    guard ring.encrypts(collection), !stored.isEmpty else { return stored }
    guard let encrypted = stored.defaults[Self.settingsField] else {
      // Settings from before the store was encrypted.
      guard !rejectsPlainEntries else {
        throw StoreError(
          .corruptFile, "The settings of a collection are not encrypted",
          [
            .collection: collection,
            .hint: "encrypt them with encryptAll if you trust their writer",
          ]
        )
      }
      return stored
    }
    let name = collection.foldingASCII
    return try metadataCache.settings(name, encrypted) {
      let decrypted = try EncryptedEntry.decrypt(encrypted, .settings, name, ring.values)
      return CollectionSettings(decrypted.object ?? [:])
    }
  }

  /// The default that holds the encrypted settings. They are stored among the inner settings, so that changes
  /// are reported to all connections.
  static let settingsField = "nano_sealed"

  func observedPaths(in collection: String) throws -> [ObservedPath] {
    guard ring.encrypts(collection) else { return try inner.observedPaths(in: collection) }
    var types: [ExactName: ObservedTypes] = [:]
    for path in try paths(of: collection)?.observed ?? [] {
      types[ExactName(path.path)] = path.types
    }
    if !ring.isStrict {
      for path in try inner.observedPaths(in: collection) where !Self.isEnvelope(path.path) {
        types[ExactName(path.path), default: []].formUnion(path.types)
      }
    }
    return types.map { ObservedPath(path: $0.key.text, types: $0.value) }
      .sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
  }

  /// Returns whether a path is one of encrypted bodies.
  private static func isEnvelope(_ path: String) -> Bool {
    path == "$sealed" || path.wholeMatch(of: /nano_[ef][0-9]+(\[\])?/) != nil
  }
}

/// Metadata.
extension EncryptedReader {
  func metadata(_ name: String) throws -> DocumentValue? {
    if EncryptedEntry.isHidden(name) { return nil }
    guard ring.encryptsMetadata else { return try inner.metadata(name) }
    let entry = EncryptedEntry.name(.metadata, name, ring.values)
    guard let encrypted = try inner.metadata(entry) else {
      return rejectsPlainEntries ? nil : try inner.metadata(name)
    }
    return try EncryptedEntry.decrypt(encrypted, .metadata, entry, ring.values)["value"] ?? .null
  }

  func metadataNames() throws -> [String] {
    let all = try inner.metadataNames()
    var names = all.filter { !EncryptedEntry.isHidden($0) }
    guard ring.encryptsMetadata else { return names }
    if rejectsPlainEntries { names = [] }
    for entry in all where entry.utf8.starts(with: EncryptedEntry.Kind.metadata.prefix.utf8) {
      guard let encrypted = try inner.metadata(entry) else { continue }
      let decrypted = try EncryptedEntry.decrypt(encrypted, .metadata, entry, ring.values)
      if let name = decrypted["name"]?.string { names.append(name) }
    }
    return names.sorted { $0.isBefore($1) }
  }
}
