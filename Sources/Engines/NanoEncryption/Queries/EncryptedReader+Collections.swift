// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine

/// Encrypted metadata of collections.
extension EncryptedReader {
  func indexes(in collection: String) throws -> [IndexDefinition] {
    guard ring.seals(collection) else { return try inner.indexes(in: collection) }
    let blind = try blindIndexes(of: collection)?.indexes ?? []
    return blind.map(\.definition).sorted { $0.name.isBefore($1.name) }
  }

  /// Returns the blind indexes of a collection, or `nil` if it has none.
  func blindIndexes(of collection: String) throws -> BlindIndexes? {
    let name = collection.foldingASCII
    let entry = SealedEntry.name(.indexes, name, ring.values)
    guard let sealed = try inner.metadata(entry) else { return nil }
    return try known.indexes(name, sealed) {
      BlindIndexes(try SealedEntry.open(sealed, .indexes, name, ring.values))
    }
  }

  func settings(of collection: String) throws -> CollectionSettings {
    let stored = try inner.settings(of: collection)
    guard ring.seals(collection), !stored.isEmpty else { return stored }
    guard let sealed = stored.defaults[Self.settingsField] else {
      // Settings from before the store was encrypted.
      guard !ring.isStrict else {
        throw StoreError(
          .corruptFile, "The settings of a collection are not encrypted", [.collection: collection])
      }
      return stored
    }
    let name = collection.foldingASCII
    return try known.settings(name, sealed) {
      let opened = try SealedEntry.open(sealed, .settings, name, ring.values)
      return CollectionSettings(opened.object ?? [:])
    }
  }

  /// The default that holds the encrypted settings. They are stored among the inner settings, so that changes
  /// are reported to all connections.
  static let settingsField = "nano_sealed"

  func observedPaths(in collection: String) throws -> [ObservedPath] {
    guard ring.seals(collection) else { return try inner.observedPaths(in: collection) }
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
    if SealedEntry.isHidden(name) { return nil }
    guard ring.sealsMetadata else { return try inner.metadata(name) }
    let entry = SealedEntry.name(.metadata, name, ring.values)
    guard let sealed = try inner.metadata(entry) else {
      return ring.isStrict ? nil : try inner.metadata(name)
    }
    return try SealedEntry.open(sealed, .metadata, entry, ring.values)["value"] ?? .null
  }

  func metadataNames() throws -> [String] {
    let all = try inner.metadataNames()
    var names = all.filter { !SealedEntry.isHidden($0) }
    guard ring.sealsMetadata else { return names }
    if ring.isStrict { names = [] }
    for entry in all where entry.utf8.starts(with: SealedEntry.Kind.metadata.prefix.utf8) {
      guard let sealed = try inner.metadata(entry) else { continue }
      let opened = try SealedEntry.open(sealed, .metadata, entry, ring.values)
      if let name = opened["name"]?.string { names.append(name) }
    }
    return names.sorted { $0.isBefore($1) }
  }
}
