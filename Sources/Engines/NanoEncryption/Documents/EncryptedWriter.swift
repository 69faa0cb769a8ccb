// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// A transaction that encrypts what it writes.
final class EncryptedWriter: EncryptedReader, EngineWriter {
  let writer: any EngineWriter
  /// The path catalogs of the collections that were written to.
  private var paths: [ExactName: CachedPathCatalog] = [:]
  /// The expiration rules of the collections that were written to.
  var rules: [ExactName: ExpirationRule?] = [:]
  /// The time of the transaction, once it is determined.
  var writeTime: Int64?
  let clock: any StoreClock
  /// Folded names of the collections without blind indexes.
  private var hasNoIndexes: Set<ExactName> = []

  init(
    _ writer: any EngineWriter, _ engine: EncryptedEngine, _ ring: Keyring,
    _ interruption: Interruption?
  ) {
    self.writer = writer
    clock = engine.clock
    super.init(writer, engine.encryption, engine.metadataCache, ring, nil, interruption)
  }

  init(
    _ writer: any EngineWriter, _ encryption: Encryption, _ metadataCache: EncryptedMetadataCache,
    _ ring: Keyring
  ) {
    self.writer = writer
    clock = SystemClock()
    super.init(writer, encryption, metadataCache, ring)
  }

  /// Records the paths of a document that is written.
  func observe(_ body: UnsafeRawBufferPointer, in collection: String) throws {
    try paths(written: collection).paths.observe(body)
  }

  func paths(written collection: String) throws -> CachedPathCatalog {
    let name = collection.foldingASCII
    if let found = paths[ExactName(name)] { return found }
    let encrypted = try inner.metadata(EncryptedEntry.name(.paths, name, ring.values))
    var found = metadataCache.checkOutPaths(name)
    if found == nil || found?.encrypted != encrypted {
      let decrypted = try encrypted.map {
        try EncryptedEntry.decrypt($0, .paths, name, ring.values)
      }
      found = CachedPathCatalog(
        paths: decrypted.map { EncryptedPathCatalog($0) } ?? EncryptedPathCatalog(),
        encrypted: encrypted)
    }
    let taken = found ?? CachedPathCatalog(paths: EncryptedPathCatalog(), encrypted: encrypted)
    paths[ExactName(name)] = taken
    return taken
  }

  override func paths(of collection: String) throws -> EncryptedPathCatalog? {
    if let written = paths[collection.folded] { return written.paths }
    return try super.paths(of: collection)
  }

  /// Writes the new paths, and returns the path catalogs of all collections written to.
  @discardableResult
  func flush() throws -> [ExactName: CachedPathCatalog] {
    for (exact, cached) in paths where cached.paths.isChanged {
      let name = exact.text
      if cached.paths.hasDecimals { try writer.requireDecimals() }
      let encrypted = try EncryptedEntry.encrypt(cached.paths.value, .paths, name, ring.values)
      try writer.setMetadata(encrypted, EncryptedEntry.name(.paths, name, ring.values))
      cached.paths.noteWritten()
      paths[exact]?.encrypted = encrypted
    }
    return paths
  }

  /// Discards the state of a collection that was dropped, or of a savepoint that was rolled back.
  func invalidate(_ collection: String? = nil) {
    guard let collection else {
      paths = [:]
      rules = [:]
      hasNoIndexes = []
      return
    }
    paths[collection.folded] = nil
    rules[collection.folded] = nil
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

  func storeBlindIndexes(_ blind: BlindIndexes, of collection: String) throws {
    let name = collection.foldingASCII
    let entry = EncryptedEntry.name(.indexes, name, ring.values)
    hasNoIndexes.remove(ExactName(name))
    try writer.setMetadata(
      try EncryptedEntry.encrypt(blind.value, .indexes, name, ring.values), entry)
  }

  func requireDecimals() throws { try writer.requireDecimals() }

  func savepoint<Result>(_ work: () throws -> Result) throws -> Result {
    try rollingBack { try writer.savepoint(work) }
  }

  func insertAtomically<Result>(
    _ count: Int, into collection: String, _ work: () throws -> Result
  ) throws -> Result {
    // With an encrypted document, other rows may change.
    guard !ring.encrypts(collection) else { return try savepoint(work) }
    return try rollingBack { try writer.insertAtomically(count, into: collection, work) }
  }

  func prepareForOtherUse() throws { try writer.prepareForOtherUse() }

  private func rollingBack<Result>(_ block: () throws -> Result) throws -> Result {
    // Changes before the block survive its rollback.
    try flush()
    do {
      return try block()
    } catch {
      invalidate()
      throw error
    }
  }

  func createCollections(_ descriptions: [CollectionDescription]) throws {
    try writer.createCollections(descriptions)
  }

  func dropCollection(_ name: String) throws -> Bool {
    guard ring.encrypts(name) else { return try writer.dropCollection(name) }
    return try savepoint {
      guard try writer.dropCollection(name) else { return false }
      invalidate(name)
      for kind in [EncryptedEntry.Kind.paths, .indexes] {
        try writer.setMetadata(nil, EncryptedEntry.name(kind, name.foldingASCII, ring.values))
      }
      return true
    }
  }

  func setSettings(_ settings: CollectionSettings, of collection: String) throws {
    guard ring.encrypts(collection) else {
      return try writer.setSettings(settings, of: collection)
    }
    try settings.validate()
    try sealRule(of: collection)
    let before = try self.settings(of: collection)
    let isNewRule = before.expiration != settings.expiration
    defer { rules[collection.folded] = nil }
    guard !settings.isEmpty else {
      try writer.setSettings(settings, of: collection)
      if isNewRule { try setExpirationRule(nil, of: collection) }
      return
    }
    guard settings != before else { return }
    try storeSettings(settings, of: collection)
    if isNewRule { try setExpirationRule(settings.expiration, of: collection) }
  }

  /// Stores settings, which are not empty, encrypted.
  func storeSettings(_ settings: CollectionSettings, of collection: String) throws {
    let encrypted = try EncryptedEntry.encrypt(
      .object(settings.object), .settings, collection.foldingASCII, ring.values)
    try writer.setSettings(
      CollectionSettings(defaults: [Self.settingsField: encrypted]), of: collection)
  }

  func setMetadata(_ value: DocumentValue?, _ name: String) throws {
    guard !EncryptedEntry.isHidden(name) else {
      throw StoreError(
        .invalidName, "A metadata name is reserved",
        [.hint: "the store keeps its keys under this name"])
    }
    guard ring.encryptsMetadata else { return try writer.setMetadata(value, name) }
    // Removes a value that is not encrypted, and rejects an invalid name.
    try writer.setMetadata(nil, name)
    let entry = EncryptedEntry.name(.metadata, name, ring.values)
    let encrypted = try value.map {
      try EncryptedEntry.encrypt(
        ["name": .string(name), "value": $0], .metadata, entry, ring.values)
    }
    try writer.setMetadata(encrypted, entry)
  }
}
