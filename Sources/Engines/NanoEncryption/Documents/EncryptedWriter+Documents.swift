// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// Documents are encrypted for the row that will hold them, whose ID is therefore determined before the write.
extension EncryptedWriter {
  var preferredBatchSize: Int { writer.preferredBatchSize }

  func prepare(_ use: [TransactionUse]) throws { try writer.prepare(use) }

  func nextRowID(in collection: String) throws -> Int64 { try writer.nextRowID(in: collection) }

  func insert(_ document: NewDocument, into collection: String) throws -> Int64 {
    guard ring.encrypts(collection) else { return try writer.insert(document, into: collection) }
    let rowID =
      try document.rowID ?? nextFreeRowID(in: collection) ?? randomRowID(in: collection)
    let id = try withEncrypted(document, at: rowID, in: collection) { encrypted in
      try withDeclaredNames(in: collection) { try writer.insert(encrypted, into: collection) }
    }
    try observe(document.body, in: collection)
    try applyRule(CollectionOfOne((id, document.body)), in: collection)
    return id
  }

  func insert(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws {
    guard ring.encrypts(collection) else {
      return try writer.insert(documents, into: collection, &rowIDs)
    }
    // After an explicit row ID, the next one cannot be predicted.
    guard documents.count > 1, documents.allSatisfy({ $0.rowID == nil }),
      let next = try nextFreeRowID(in: collection),
      // The collection may run out of row IDs.
      next <= Int64.max - Int64(documents.count)
    else {
      return try insertEach(documents, into: collection, &rowIDs)
    }
    var bodies: [UInt8] = []
    var encrypted = documents
    var ends: [Int] = []
    for (index, document) in documents.enumerated() {
      let rowID = next + Int64(index)
      encrypted[index].rowID = rowID
      bodies += try encrypt(document, at: rowID, keyBytes: nil, in: collection)
      ends.append(bodies.count)
    }
    let count = rowIDs.count
    let result = Result {
      try bodies.withUnsafeBytes { bytes in
        var start = 0
        for (index, end) in ends.enumerated() {
          encrypted[index].body = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
          start = end
        }
        try withDeclaredNames(in: collection) {
          try writer.insert(encrypted, into: collection, &rowIDs)
        }
      }
    }
    let isRejected = if case .failure(let error) = result { isRejection(error) } else { false }
    // Those before a rejected document are stored.
    let stored = isRejected ? documents.prefix(rowIDs.count - count) : documents[...]
    for document in stored { try observe(document.body, in: collection) }
    if !isRejected { try result.get() }
    try applyRule(
      zip(encrypted, stored).lazy.map { ($0.rowID ?? 0, $1.body) }, in: collection)
    try result.get()
  }

  /// Returns the next row ID, or `nil` if a row has the largest one.
  private func nextFreeRowID(in collection: String) throws -> Int64? {
    do {
      return try writer.nextRowID(in: collection)
    } catch let error as StoreError where error.code == .database {
      guard try inner.highestRowID(in: collection) == Int64.max else { throw error }
      return nil
    }
  }

  /// Returns a free row ID, chosen as SQLite does once a row has the largest one.
  private func randomRowID(in collection: String) throws -> Int64 {
    // SQLite also gives up after this many.
    for _ in 0..<100 {
      let rowID = Int64.random(in: 1..<Int64.max)
      if try row(.rowID(rowID), in: collection) == nil { return rowID }
    }
    throw StoreError(
      .database, "A collection has run out of row IDs", [.collection: collection])
  }

  private func insertEach(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws {
    for document in documents { rowIDs.append(try insert(document, into: collection)) }
  }

  func save(_ document: NewDocument, into collection: String) throws -> Int64 {
    guard ring.encrypts(collection) else { return try writer.save(document, into: collection) }
    guard let key = document.key, let row = try row(.key(key), in: collection) else {
      return try insert(document, into: collection)
    }
    _ = try replace(row, with: document, in: collection)
    return row.id
  }

  func save(
    _ documents: [NewDocument], into collection: String, _ rowIDs: inout [Int64]
  ) throws {
    guard ring.encrypts(collection) else {
      return try writer.save(documents, into: collection, &rowIDs)
    }
    // Each document is encrypted for its row, which an earlier one of the batch may have created.
    for document in documents { rowIDs.append(try save(document, into: collection)) }
  }

  func replace(
    _ identity: Identity, with document: NewDocument, in collection: String
  ) throws -> Bool {
    guard ring.encrypts(collection) else {
      return try writer.replace(identity, with: document, in: collection)
    }
    guard let row = try row(identity, in: collection),
      document.mayReplace(rowID: row.id, revision: row.revision)
    else { return false }
    return try replace(row, with: document, in: collection)
  }

  private struct Row {
    let id: Int64
    let revision: Int64?
    let key: DocumentKey?
    /// The bytes of a text key that are not UTF-8, as another program can have stored them.
    let keyBytes: [UInt8]?
    let type: String?

    init(_ stored: StoredDocument) {
      (id, revision, type) = (stored.rowID, stored.revision, stored.type)
      key = stored.key
      if case .text(let bytes) = stored.borrowedKey, case .text(let text)? = key,
        !text.utf8.elementsEqual(bytes)
      {
        keyBytes = Array(bytes)
      } else {
        keyBytes = nil
      }
    }
  }

  private func row(_ identity: Identity, in collection: String) throws -> Row? {
    var row: Row?
    try inner.get(identity, in: collection) { row = Row($0) }
    return row
  }

  private func replace(
    _ row: Row, with document: NewDocument, in collection: String
  ) throws -> Bool {
    var document = document
    document.key = row.key
    // The type is sealed with the body.
    if document.keepsType { (document.type, document.keepsType) = (row.type, false) }
    // The encrypted body has other fields.
    document.changedFields = nil
    let isReplaced = try withEncrypted(
      document, at: row.id, keyBytes: row.keyBytes, in: collection
    ) { encrypted in
      try withDeclaredNames(in: collection) {
        try writer.replace(.rowID(row.id), with: encrypted, in: collection)
      }
    }
    guard isReplaced else { return false }
    try observe(document.body, in: collection)
    try applyRule(CollectionOfOne((row.id, document.body)), in: collection)
    return true
  }

  func delete(_ identity: Identity, from collection: String) throws -> Bool {
    try writer.delete(identity, from: collection)
  }

  func delete(_ query: Query, from collection: String) throws -> Int {
    var query = query
    query.fields = []
    guard let encryptedQuery = try encryptedQuery(query, collection) else {
      return try writer.delete(try plain(query), from: collection)
    }
    if encryptedQuery.isExact { return try writer.delete(encryptedQuery.inner, from: collection) }
    var ids: [Int64] = []
    try find(encryptedQuery, isOrdered: true) { stored in
      ids.append(stored.rowID)
      return true
    }
    return try savepoint {
      try ids.count { try writer.delete(.rowID($0), from: collection) }
    }
  }
}

extension EncryptedWriter {
  /// Encrypts a document and passes it to a closure that writes it.
  ///
  /// - Parameter keyBytes: The bytes of the stored key, if they are kept and not UTF-8.
  func withEncrypted<Result>(
    _ document: NewDocument, at rowID: Int64, keyBytes: [UInt8]? = nil, in collection: String,
    _ write: (NewDocument) throws -> Result
  ) throws -> Result {
    let body = try encrypt(document, at: rowID, keyBytes: keyBytes, in: collection)
    do {
      return try body.withUnsafeBytes { bytes in
        var encrypted = document
        encrypted.rowID = rowID
        encrypted.body = bytes
        return try write(encrypted)
      }
    } catch {
      if !isRejection(error) { try observe(document.body, in: collection) }
      throw error
    }
  }

  private func isRejection(_ error: any Error) -> Bool {
    (error as? StoreError)?.isRejection == true
  }

  private func encrypt(
    _ document: NewDocument, at rowID: Int64, keyBytes: [UInt8]?, in collection: String
  ) throws -> [UInt8] {
    // A catalog that cannot be read must not be noticed after the document is written.
    _ = try paths(written: collection)
    let blind = try blindIndexes(written: collection)
    let name = Array(collection.foldingASCII.utf8)
    return try SealedBody.RowContext.with(document, key: document.key, rowID: rowID, name) { row in
      guard let keyBytes else { return try encrypt(document.body, at: row, blind) }
      return try keyBytes.withUnsafeBytes {
        var row = row
        row.key = .text($0)
        return try encrypt(document.body, at: row, blind)
      }
    }
  }

  func encrypt(
    _ body: UnsafeRawBufferPointer, at row: SealedBody.RowContext, _ blind: BlindIndexes?
  ) throws -> [UInt8] {
    var hashes: [UInt8] = []
    // After its last index was dropped, a collection has no hashes, whose key may be gone.
    if let blind, !blind.fields.isEmpty {
      guard let key = ring.keys[blind.keyNumber] else { throw EncryptionHeader.damaged }
      hashes = try blind.hashes(body, row.collection, key)
    }
    return try SealedBody.seal(body, at: row, hashes: hashes, ring.current)
  }

  /// Runs a closure, and replaces the names of inner indexes in its errors by the declared names.
  func withDeclaredNames<Result>(
    in collection: String, _ work: () throws -> Result
  ) throws -> Result {
    do {
      return try work()
    } catch let error as StoreError {
      guard let index = error[.index],
        let name = try blindIndexes(of: collection)?.name(ofInner: index)
      else { throw error }
      throw error.replacing(.index, name)
    }
  }
}
