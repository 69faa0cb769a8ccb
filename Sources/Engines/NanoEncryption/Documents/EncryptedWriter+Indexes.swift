// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension EncryptedWriter {
  func createIndex(_ index: IndexDefinition, in collection: String) throws {
    guard ring.encrypts(collection) else { return try writer.createIndex(index, in: collection) }
    try index.validate()
    // The inner index has another name, and other fields.
    try StoredNames.validate(.index, name: index.name)
    if index.kind == .elements, let column = index.columns.first, column.path.addressesElement {
      throw StoreError.elementByPosition(column.path, index: index.name)
        .adding(.collection, collection)
    }
    guard index.origin == .declared, encryption.allows(index, in: collection) else {
      throw Self.refused(index.name, collection)
    }
    var blind = try blindIndexes(of: collection) ?? BlindIndexes(keyNumber: ring.current.number)
    if let existing = blind.index(named: index.name) {
      guard existing.definition.hasSameEntries(as: index) else {
        throw StoreError.indexExists(index.name, in: collection)
      }
      return
    }
    // No document has hashes computed with a different key.
    if blind.fields.isEmpty { blind.keyNumber = ring.current.number }
    let needsHashes = blind.add(index)
    guard let added = blind.index(named: index.name) else { return }
    try savepoint {
      try storeBlindIndexes(blind, of: collection)
      if needsHashes { try reencrypt(collection) }
      try withDeclaredNames(in: collection) {
        try writer.createIndex(blind.inner(added), in: collection)
      }
    }
  }

  private static func refused(_ index: String, _ collection: String) -> StoreError {
    StoreError(
      .unsupported, "A field of an encrypted collection cannot be indexed",
      [
        .collection: collection, .index: index, .capability: "encryption",
        .hint: "allow a blind index, which reveals which documents share a value",
      ])
  }

  func beginIndex(_ index: IndexDefinition, in collection: String) throws -> Bool {
    guard ring.encrypts(collection) else { return try writer.beginIndex(index, in: collection) }
    try createIndex(index, in: collection)
    return true
  }

  func continueIndex(
    _ name: String, in collection: String, documents: Int
  ) throws -> Bool {
    guard ring.encrypts(collection) else {
      return try writer.continueIndex(name, in: collection, documents: documents)
    }
    return true
  }

  /// Index cost records contain field names, so they are not stored for encrypted collections.
  func setIndexCostRecords(_ rows: [IndexCostRecord], of collection: String) throws {
    if !ring.encrypts(collection) { try writer.setIndexCostRecords(rows, of: collection) }
  }

  /// Drops an index. Its hashes stay in documents until these are written again.
  func dropIndex(_ name: String, in collection: String) throws -> Bool {
    guard ring.encrypts(collection) else { return try writer.dropIndex(name, in: collection) }
    guard var blind = try blindIndexes(of: collection), let index = blind.index(named: name) else {
      return false
    }
    return try savepoint {
      _ = try writer.dropIndex(index.innerName, in: collection)
      blind.remove(name)
      try storeBlindIndexes(blind, of: collection)
      return true
    }
  }

  func dropIndexes(in collection: String) throws -> Int {
    guard ring.encrypts(collection) else { return try writer.dropIndexes(in: collection) }
    let names = try indexes(in: collection).map(\.name)
    return try savepoint {
      for name in names { _ = try dropIndex(name, in: collection) }
      return names.count
    }
  }

  func createFullTextIndex(_ index: FullTextIndexDefinition, in collection: String) throws {
    guard ring.encrypts(collection) else {
      return try writer.createFullTextIndex(index, in: collection)
    }
    throw StoreError(
      .unsupported, "An encrypted collection cannot have a full-text index",
      [
        .collection: collection, .index: index.name, .capability: "fullTextIndexes",
        .hint: "a full-text index would reveal the words",
      ])
  }

  func setIndexing(
    _ policy: IndexingPolicy, in collection: String, _ progress: ((Double) throws -> Void)?
  ) throws {
    guard ring.encrypts(collection) else {
      return try writer.setIndexing(policy, in: collection, progress)
    }
    guard policy == .declared else {
      throw StoreError(
        .unsupported, "An encrypted collection does not support the indexing policy 'everything'",
        [.collection: collection, .capability: "everythingIndex"])
    }
    try progress?(1)
  }

  func rebuildIndexes(in collection: String, _ progress: ((Double) throws -> Void)?) throws {
    try writer.rebuildIndexes(in: collection, progress)
  }
}

/// Reencryption of stored documents.
extension EncryptedWriter {
  /// The number of documents that are encrypted together. Arbitrary.
  static let batch = 256

  /// Reencrypts every document of a collection, including those that were not encrypted.
  func reencrypt(_ collection: String) throws {
    var last: Int64?
    repeat {
      let step = try reencrypt(collection, after: last, acceptsPlain: !ring.isStrict) { _ in true }
      last = step?.last
    } while last != nil
  }

  /// Reencrypts a batch of documents after a row ID.
  ///
  /// - Parameters:
  ///   - acceptsPlain: Whether a document that is not encrypted is accepted, as one written before encryption.
  ///   - shouldReencrypt: Whether a document encrypted with the key of this number is to be reencrypted.
  /// - Returns: The number of documents read, and the row ID of the last one; `nil` if there are no more.
  func reencrypt(
    _ collection: String, after last: Int64?, acceptsPlain: Bool,
    _ shouldReencrypt: (UInt32) -> Bool
  ) throws -> (last: Int64, count: Int)? {
    try sealRule(of: collection)
    var query = Query(limit: Self.batch)
    if let last { query.after = PagePosition(values: [], rowID: last) }
    let blind = try blindIndexes(written: collection)
    let decryptor = DocumentDecryptor(ring, collection)
    var seen: (last: Int64, count: Int)?
    var encrypted: [(document: NewDocument, body: [UInt8])] = []
    try inner.find(query, in: collection) { stored in
      seen = (stored.rowID, (seen?.count ?? 0) + 1)
      if let number = SealedBody.keyNumber(stored.body) {
        guard shouldReencrypt(number) else { return true }
      } else if SealedBody.isSealed(stored.body) || !acceptsPlain {
        throw decryptor.corrupt(stored, "A document is not encrypted, or is corrupt")
      }
      let body = try SealedBody.RowContext.with(stored, Array(collection.foldingASCII.utf8)) {
        row in
        SealedBody.isSealed(stored.body)
          ? try decrypt(stored, decryptor, in: collection) { try encrypt($0.body, at: row, blind) }
          : try encryptPlain(stored, at: row, blind, collection)
      }
      let new = NewDocument(
        key: stored.key, type: stored.type, version: stored.version, added: stored.added ?? 0,
        rowID: stored.rowID, body: UnsafeRawBufferPointer(start: nil, count: 0))
      encrypted.append((new, body))
      return true
    }
    for (document, body) in encrypted {
      guard let rowID = document.rowID else { continue }
      try body.withUnsafeBytes { bytes in
        var document = document
        document.body = bytes
        _ = try writer.replace(.rowID(rowID), with: document, in: collection)
      }
    }
    return seen
  }

  /// Encrypts a document that is not encrypted, in stored form, which the body of another program's need not have: the
  /// inner engine cannot rewrite a body that is encrypted.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` if its body does not decode or has no stored form.
  private func encryptPlain(
    _ stored: StoredDocument, at row: SealedBody.RowContext, _ blind: BlindIndexes?,
    _ collection: String
  ) throws -> [UInt8] {
    do {
      guard stored.revision == nil, let rewritten = try CanonicalBody.rewritten(stored.body) else {
        try observe(stored.body, in: collection)
        return try encrypt(stored.body, at: row, blind)
      }
      return try rewritten.withUnsafeBytes { body in
        try observe(body, in: collection)
        return try encrypt(body, at: row, blind)
      }
    } catch let error as StoreError where error.code == .corruptDocument {
      throw error.adding(.collection, collection).adding(.rowID, "\(stored.rowID)")
        .adding(.hint, "repair or delete the document")
    }
  }
}
