// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// A transaction that encrypts what it writes.
final class EncryptedWriter: EncryptedReader, EngineWriter {
  let writer: any EngineWriter
  /// The path catalogs of the collections that were written to.
  private var paths: [ExactName: KnownPaths] = [:]
  /// Folded names of the collections without blind indexes.
  private var hasNoIndexes: Set<ExactName> = []

  init(_ writer: any EngineWriter, _ engine: EncryptedEngine, _ ring: Keyring) {
    self.writer = writer
    super.init(writer, engine, ring)
  }

  init(
    _ writer: any EngineWriter, _ encryption: Encryption, _ known: EncryptedMetadataCache,
    _ ring: Keyring
  ) {
    self.writer = writer
    super.init(reader: writer, encryption, known, ring)
  }

  /// Records the paths of a document that is written.
  func observe(_ body: UnsafeRawBufferPointer, in collection: String) throws {
    try paths(written: collection).paths.observe(body)
  }

  private func paths(written collection: String) throws -> KnownPaths {
    let name = collection.foldingASCII
    if let found = paths[ExactName(name)] { return found }
    let sealed = try inner.metadata(SealedEntry.name(.paths, name, ring.values))
    var found = known.takePaths(name)
    if found == nil || found?.sealed != sealed {
      let opened = try sealed.map { try SealedEntry.open($0, .paths, name, ring.values) }
      found = KnownPaths(
        paths: opened.map { EncryptedPathCatalog($0) } ?? EncryptedPathCatalog(), sealed: sealed)
    }
    let taken = found ?? KnownPaths(paths: EncryptedPathCatalog(), sealed: sealed)
    paths[ExactName(name)] = taken
    return taken
  }

  override func paths(of collection: String) throws -> EncryptedPathCatalog? {
    if let written = paths[collection.folded] { return written.paths }
    return try super.paths(of: collection)
  }

  /// Writes the new paths, and returns the path catalogs of all collections written to.
  @discardableResult
  func flush() throws -> [ExactName: KnownPaths] {
    for (exact, known) in paths where known.paths.isChanged {
      let name = exact.text
      let sealed = try SealedEntry.seal(known.paths.value, .paths, name, ring.values)
      try writer.setMetadata(sealed, SealedEntry.name(.paths, name, ring.values))
      known.paths.noteWritten()
      paths[exact]?.sealed = sealed
    }
    return paths
  }

  /// Discards the state of a collection that was dropped, or of a savepoint that was rolled back.
  func forget(_ collection: String? = nil) {
    guard let collection else {
      paths = [:]
      hasNoIndexes = []
      return
    }
    paths[collection.folded] = nil
    hasNoIndexes.remove(collection.folded)
  }

  /// Returns the blind indexes that a document needs hashes for, or `nil` if there are none.
  func blindIndexes(written collection: String) throws -> BlindIndexes? {
    let name = collection.folded
    if hasNoIndexes.contains(name) { return nil }
    let found = try blindIndexes(of: collection)
    if found == nil { hasNoIndexes.insert(name) }
    return found
  }

  func keepBlindIndexes(_ blind: BlindIndexes, of collection: String) throws {
    let name = collection.foldingASCII
    let entry = SealedEntry.name(.indexes, name, ring.values)
    hasNoIndexes.remove(ExactName(name))
    try writer.setMetadata(
      try SealedEntry.seal(blind.value, .indexes, name, ring.values), entry)
  }

  func savepoint<Result>(_ work: () throws -> Result) throws -> Result {
    // Changes before the savepoint survive its rollback.
    try flush()
    do {
      return try writer.savepoint(work)
    } catch {
      forget()
      throw error
    }
  }

  func createCollection(_ description: CollectionDescription) throws {
    try writer.createCollection(description)
  }

  func dropCollection(_ name: String) throws -> Bool {
    guard ring.seals(name) else { return try writer.dropCollection(name) }
    return try savepoint {
      guard try writer.dropCollection(name) else { return false }
      forget(name)
      for kind in [SealedEntry.Kind.paths, .indexes] {
        try writer.setMetadata(nil, SealedEntry.name(kind, name.foldingASCII, ring.values))
      }
      return true
    }
  }

  func setSettings(_ settings: CollectionSettings, of collection: String) throws {
    guard ring.seals(collection) else {
      return try writer.setSettings(settings, of: collection)
    }
    try settings.validate()
    let before = try self.settings(of: collection)
    if settings.isEmpty { return try writer.setSettings(settings, of: collection) }
    guard settings != before else { return }
    let sealed = try SealedEntry.seal(
      .object(settings.object), .settings, collection.foldingASCII, ring.values)
    try writer.setSettings(
      CollectionSettings(defaults: [Self.settingsField: sealed]), of: collection)
  }

  func setMetadata(_ value: DocumentValue?, _ name: String) throws {
    guard !SealedEntry.isHidden(name) else {
      throw StoreError(
        .invalidName, "A metadata name is reserved",
        [.hint: "the store keeps its keys under this name"])
    }
    guard ring.sealsMetadata else { return try writer.setMetadata(value, name) }
    // Removes a value that is not encrypted, and rejects an invalid name.
    try writer.setMetadata(nil, name)
    let entry = SealedEntry.name(.metadata, name, ring.values)
    let sealed = try value.map {
      try SealedEntry.seal(["name": .string(name), "value": $0], .metadata, entry, ring.values)
    }
    try writer.setMetadata(sealed, entry)
  }
}
