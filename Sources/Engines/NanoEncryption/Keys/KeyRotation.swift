// SPDX-License-Identifier: MIT

import Crypto
import NanoDocument
import NanoEngine
import NanoQuery

extension EncryptedEngine {
  /// Changes the key that opens the store, immediately: the new key wraps the existing keys of the documents.
  ///
  /// Anyone with the previous key and a copy of the file can decrypt the copy, and has the keys of the
  /// documents. ``rotate(progress:)`` replaces those.
  ///
  /// - Parameter cost: The cost of deriving the key from a passphrase; by default, that of the previous passphrase or of the
  ///   encryption, whichever is higher.
  /// - Throws: ``StoreError/Code/invalidArgument`` for an invalid key. The previous key stays valid.
  package func changeKey(to key: EncryptionKey, cost: ScryptCost? = nil) throws {
    let cost = cost ?? keyring.header.derivation.cost(atLeast: session.encryption.cost)
    let derivation = try KeyDerivation(for: key, cost)
    let wrapping = try derivation.wrappingKey(key)
    // Transactions read the new header as soon as it is committed.
    knownKeys.add(wrapping, derivation)
    let known = keyring
    let (before, changed, number) = try inner.write(nil) { writer -> (Keyring, Keyring, Int) in
      let ring = try current(writer, after: known)
      var header = ring.header
      header.derivation = derivation
      for key in ring.keys.values { try header.wrap(key, with: wrapping) }
      let changed = try write(header, wrapping, writer)
      // Of two transactions, the one that writes the header later also commits later.
      return (ring, changed, session.nextChange())
    }
    knownKeys.replace(before, with: changed)
    session.set(key, cost, change: number)
  }

  /// Creates a new key and reencrypts everything with it, in many small transactions. Other connections can
  /// read and write in the meantime.
  ///
  /// If it does not complete, because of an error or the end of the process, call it again to continue. Until
  /// then the store keeps both keys. Each collection with blind indexes is reencrypted in one transaction, so
  /// that equal values have equal hashes at any time.
  ///
  /// - Parameter progress: Called with 0...1 after each transaction, outside of it. An error that it throws
  ///   ends the call.
  /// - Throws: ``StoreError/Code/corruptDocument`` if a document does not decrypt. Remove it, or restore it
  ///   from a backup, and call this method again.
  package func rotate(progress: ((Double) throws -> Void)? = nil) throws {
    let known = keyring
    let (before, started) = try inner.write(nil) { writer -> (Keyring, Keyring) in
      let ring = try current(writer, after: known)
      // Continues a rotation that did not complete.
      guard ring.keys.count == 1 else { return (ring, ring) }
      var header = ring.header
      let key = DataKey(number: ring.current.number + 1)
      try header.wrap(key, with: ring.wrapping)
      header.current = key.number
      return (ring, try write(header, ring.wrapping, writer))
    }
    knownKeys.replace(before, with: started)
    try ReencryptionRun(self, acceptsPlain: !started.isStrict, progress).run()
  }

  /// Encrypts documents that were written before the store was encrypted, or by another program without
  /// encryption, in many small transactions. From then on, a document that is not encrypted is rejected as
  /// inserted by a third party, with ``StoreError/Code/corruptDocument``.
  ///
  /// Documents are encrypted as they are, so call this method while you trust everyone who can write to the
  /// file. It continues a rotation that did not complete.
  ///
  /// - Parameter progress: As in ``rotate(progress:)``.
  package func encryptAll(progress: ((Double) throws -> Void)? = nil) throws {
    try ReencryptionRun(self, acceptsPlain: true, progress).run()
  }

  func write(
    _ header: EncryptionHeader, _ wrapping: SymmetricKey, _ writer: any EngineWriter
  ) throws -> Keyring {
    let value = header.authenticated(with: wrapping)
    try writer.setMetadata(value, EncryptionMarker.name)
    return try Keyring(value, wrapping)
  }

  func writeEncrypted<Result>(_ work: (EncryptedWriter) throws -> Result) throws -> Result {
    try write(nil) { writer in
      guard let writer = writer as? EncryptedWriter else {
        throw StoreError(.unsupported, "The engine does not encrypt documents")
      }
      // The store deletes expired documents with the references to them, of which engines know nothing.
      writer.expiry.keepsExpired = true
      return try work(writer)
    }
  }
}

/// Reencrypts everything with the current key, and removes the other keys.
///
/// Confined to the thread that runs it.
private final class ReencryptionRun {
  private let engine: EncryptedEngine
  private var acceptsPlain: Bool
  private let progress: ((Double) throws -> Void)?

  init(_ engine: EncryptedEngine, acceptsPlain: Bool, _ progress: ((Double) throws -> Void)?) {
    self.engine = engine
    self.acceptsPlain = acceptsPlain
    self.progress = progress
  }

  func run() throws {
    var (done, reported) = (0, 0.0)
    var isComplete = false
    while !isComplete {
      let (ring, names, total) = try start()
      // Another connection may have added collections that were not encrypted.
      acceptsPlain = acceptsPlain || !ring.isStrict
      for name in names {
        try reencrypt(name) { count in
          done += count
          // Documents may have been added in the meantime. Completion is reported at the end.
          reported = max(reported, min(Double(done) / Double(max(1, total)), 0.999))
          try progress?(reported)
        }
        // After the documents, since their reencryption keeps the bodies that they had before.
        try reencryptPreviousBodies(of: name) { try progress?(reported) }
      }
      if acceptsPlain { try engine.encryptBlobs { try progress?(reported) } }
      isComplete = try finish(ring)
    }
    try progress?(1)
  }

  /// Returns the keys, the encrypted collections, and the number of their documents.
  private func start() throws -> (ring: Keyring, names: [String], total: Int) {
    try engine.read(.snapshot, nil) { reader in
      let encrypted = reader as? EncryptedReader
      encrypted?.acceptsPlainEntries = acceptsPlain
      let ring = encrypted?.ring ?? engine.keyring
      let names = try reader.collections().map(\.name).filter(ring.encrypts)
      return (ring, names, try names.reduce(0) { try $0 + reader.count(Query(), in: $1) })
    }
  }

  private func write<Result>(_ work: (EncryptedWriter) throws -> Result) throws -> Result {
    try engine.writeEncrypted { writer in
      writer.acceptsPlainEntries = acceptsPlain
      return try work(writer)
    }
  }

  private func reencrypt(_ collection: String, _ didEncrypt: (Int) throws -> Void) throws {
    var last: Int64?
    while true {
      let step = try write { writer -> (last: Int64, count: Int, isEnd: Bool)? in
        if let blind = try writer.blindIndexes(of: collection), !blind.fields.isEmpty,
          blind.keyNumber != writer.ring.current.number
        {
          return try reencryptInOneTransaction(collection, blind, writer)
        }
        return try writer.reencrypt(collection, after: last, acceptsPlain: acceptsPlain) {
          $0 != writer.ring.current.number
        }.map { ($0.last, $0.count, false) }
      }
      guard let step else { return }
      last = step.last
      try didEncrypt(step.count)
      if step.isEnd { return }
    }
  }

  private func reencryptPreviousBodies(
    of collection: String, _ didEncrypt: () throws -> Void
  ) throws {
    var last: Int64?
    repeat {
      last = try write {
        try $0.reencryptPreviousBodies(of: collection, after: last, acceptsPlain: acceptsPlain)
      }
      try didEncrypt()
    } while last != nil
  }

  /// Reencrypts a collection in one transaction: hashes computed with two keys would let a unique index accept
  /// equal values.
  private func reencryptInOneTransaction(
    _ collection: String, _ blind: BlindIndexes, _ writer: EncryptedWriter
  ) throws -> (last: Int64, count: Int, isEnd: Bool) {
    var blind = blind
    blind.keyNumber = writer.ring.current.number
    try writer.storeBlindIndexes(blind, of: collection)
    var seen = (last: Int64?.none, count: 0)
    while let step = try writer.reencrypt(
      collection, after: seen.last, acceptsPlain: acceptsPlain, { _ in true })
    {
      seen = (step.last, seen.count + step.count)
    }
    return (seen.last ?? 0, seen.count, true)
  }

  /// Removes the other keys. Every writer reads the keys first, so nothing is encrypted with them anymore.
  ///
  /// - Returns: `false` if another connection has added collections or a key since the start.
  private func finish(_ start: Keyring) throws -> Bool {
    let rings = try write { writer -> (before: Keyring, after: Keyring)? in
      var header = writer.ring.header
      guard header.collections == start.header.collections, header.current == start.header.current
      else { return nil }
      header.keys = header.keys.filter { $0.key == header.current }
      header.values = header.current
      header.isStrict = true
      try writer.rename(to: writer.ring.current)
      return (writer.ring, try engine.write(header, writer.ring.wrapping, writer.writer))
    }
    guard let rings else { return false }
    engine.knownKeys.replace(rings.before, with: rings.after)
    return true
  }
}

extension EncryptedWriter {
  /// Reencrypts metadata entries and settings with another key, under names that are derived from it.
  fileprivate func rename(to key: DataKey) throws {
    try flush()
    if ring.encryptsMetadata {
      for name in try metadataNames() {
        guard let value = try metadata(name) else { continue }
        try setMetadata(nil, name)
        let entry = EncryptedEntry.name(.metadata, name, key)
        let content: DocumentValue = ["name": .string(name), "value": value]
        try writer.setMetadata(try EncryptedEntry.encrypt(content, .metadata, entry, key), entry)
      }
    }
    for collection in try collections() where ring.encrypts(collection.name) {
      try rename(collection.name, key)
    }
    try resealBlobs(key)
    invalidate()
  }

  /// Encrypts the keys of attachments with another key.
  private func resealBlobs(_ key: DataKey) throws {
    var last: Int64 = 0
    while true {
      let found = try inner.blobs(after: last, limit: 100)
      guard let end = found.last?.rowID else { return }
      for blob in found where blob.sealed != nil {
        // Content that cannot be read is of no use, and must not prevent a change of the key.
        guard let header = try? BlobHeader(blob, ring) else { continue }
        try writer.resealBlob(
          blob, as: BlobHeader.identity(of: header.digest, key), header.sealed(key))
      }
      last = end
    }
  }

  private func rename(_ collection: String, _ key: DataKey) throws {
    let name = collection.foldingASCII
    for kind in [EncryptedEntry.Kind.indexes, .paths] {
      let before = EncryptedEntry.name(kind, name, ring.values)
      guard let encrypted = try writer.metadata(before) else { continue }
      let value = try EncryptedEntry.decrypt(encrypted, kind, name, ring.values)
      try writer.setMetadata(nil, before)
      try writer.setMetadata(
        try EncryptedEntry.encrypt(value, kind, name, key), EncryptedEntry.name(kind, name, key))
    }
    try sealRule(of: collection)
    let settings = try settings(of: collection)
    guard !settings.isEmpty else { return }
    let encrypted = try EncryptedEntry.encrypt(.object(settings.object), .settings, name, key)
    try writer.setSettings(
      CollectionSettings(defaults: [Self.settingsField: encrypted]), of: collection)
  }
}
