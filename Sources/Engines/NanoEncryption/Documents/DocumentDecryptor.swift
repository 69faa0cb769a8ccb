// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine

/// Thrown for a document that requires a key that is not among the known ones.
struct UnknownKey: Error {}

/// Decrypts the documents of one collection.
struct DocumentDecryptor {
  private let ring: Keyring
  private let name: String
  private let collection: [UInt8]

  init(_ ring: Keyring, _ collection: String) {
    self.ring = ring
    name = collection
    self.collection = Array(collection.foldingASCII.utf8)
  }

  /// Decrypts a document and passes it to a closure.
  ///
  /// - Throws: ``UnknownKey``; ``StoreError/Code/corruptDocument`` if the document was modified, or moved from
  ///   a different row. Other documents are not affected.
  @inline(__always)
  func decrypt<Result>(
    _ stored: StoredDocument, _ show: (StoredDocument) throws -> Result
  ) throws -> Result {
    guard SealedBody.isSealed(stored.body) else {
      if ring.isStrict { throw corrupt(stored, "A document is not encrypted") }
      return try show(stored)
    }
    let plain = try fields(stored)
    return try plain.withUnsafeBytes { bytes in
      var decrypted = stored
      decrypted.body = bytes
      return try show(decrypted)
    }
  }

  private func fields(_ stored: StoredDocument) throws -> Data {
    guard let envelope = SealedBody.envelope(stored.body) else {
      throw corrupt(stored, "An encrypted document is corrupt")
    }
    guard let key = ring.keys[envelope.keyNumber] else { throw UnknownKey() }
    let row = SealedBody.RowContext(stored, collection)
    guard let plain = SealedBody.open(envelope, at: row, key) else {
      throw corrupt(stored, "An encrypted document was modified, or moved from a different row")
    }
    return plain
  }

  func corrupt(_ stored: StoredDocument, _ message: String) -> StoreError {
    StoreError(.corruptDocument, message, [.collection: name, .rowID: "\(stored.rowID)"])
  }

  func unknownKey(_ stored: StoredDocument) -> StoreError {
    corrupt(stored, "A document was encrypted with a key that the store does not have")
  }
}
