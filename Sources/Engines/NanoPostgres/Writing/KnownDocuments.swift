// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// The current state of a document that the transaction has locked. No other transaction can change it before this one
/// ends.
struct KnownDocument {
  var rowID: Int64
  var key: DocumentKey?
  var type: String?
  var version: Int64?
  var added: Int64?
  var revision: Int64
  var body: [UInt8]

  init(_ stored: StoredDocument) {
    rowID = stored.rowID
    key = stored.key
    type = stored.type
    version = stored.version
    added = stored.added
    revision = stored.revision ?? 1
    body = Array(stored.body)
  }

  /// - Parameter type: The type that the document had before, if it keeps that.
  init(
    _ document: NewDocument, rowID: Int64, key: DocumentKey?, added: Int64?, revision: Int64,
    type: String? = nil
  ) {
    self.rowID = rowID
    self.key = key
    self.type = document.keepsType ? type : document.type
    version = document.version
    self.added = added
    self.revision = revision
    body = Array(document.body)
  }

  func show<Result>(
    _ incarnation: Int64, _ visit: (StoredDocument) throws -> Result
  ) rethrows -> Result {
    var keyText = key?.description ?? ""
    var typeText = type ?? ""
    return try keyText.withUTF8 { keyText in
      try typeText.withUTF8 { typeText in
        try body.withUnsafeBytes { body in
          let keyBytes = UnsafeRawBufferPointer(keyText)
          let borrowed: BorrowedKey =
            key == nil
            ? .none
            : DocumentKey.uuid(keyBytes).map { .uuid($0.0, $0.1) } ?? .text(keyBytes)
          return try visit(
            StoredDocument(
              rowID: rowID, key: borrowed,
              type: type == nil ? nil : UnsafeRawBufferPointer(typeText), version: version,
              added: added, revision: revision, incarnation: incarnation, body: body))
        }
      }
    }
  }
}

/// The documents of a collection that a transaction has locked and read, and the keys that it found missing.
struct KnownDocuments {
  private var byRowID: [Int64: KnownDocument] = [:]
  /// `nil` values are keys without a document.
  private var rowIDs: [DocumentKey: Int64?] = [:]
  /// Row IDs that are reserved for new documents, in descending order: the last one is used next.
  var reserved: [Int64] = []

  /// Arbitrary: enough for a batch of writes, and little memory.
  private static let maximum = 1_000

  enum State {
    case unknown, missing
    case stored(KnownDocument)
  }

  subscript(identity: Identity) -> State {
    switch identity {
    case .rowID(let id): return byRowID[id].map { .stored($0) } ?? .unknown
    case .key(let key):
      guard let id = rowIDs[key] else { return .unknown }
      guard let id else { return .missing }
      return byRowID[id].map { .stored($0) } ?? .unknown
    }
  }

  /// Forgets earlier documents if there are too many with a number of new ones.
  mutating func makeRoom(for count: Int) {
    guard byRowID.count + count > Self.maximum else { return }
    byRowID = [:]
    rowIDs = [:]
  }

  mutating func note(_ document: KnownDocument) {
    guard byRowID.count < Self.maximum || byRowID[document.rowID] != nil else {
      // Its key may be noted as missing.
      if let key = document.key { forget(.key(key)) }
      return
    }
    byRowID[document.rowID] = document
    if let key = document.key { rowIDs[key] = document.rowID }
  }

  mutating func noteMissing(_ key: DocumentKey) {
    if case .some(.some(let id)) = rowIDs[key] { byRowID[id] = nil }
    rowIDs[key] = .some(nil)
  }

  /// Forgets a document that was written without knowing the result.
  mutating func forget(_ identity: Identity) {
    switch identity {
    case .rowID(let id):
      if let key = byRowID.removeValue(forKey: id)?.key { rowIDs[key] = nil }
    case .key(let key):
      if case .some(.some(let id)) = rowIDs.removeValue(forKey: key) { byRowID[id] = nil }
    }
  }

  mutating func removeAll() { self = KnownDocuments() }
}
