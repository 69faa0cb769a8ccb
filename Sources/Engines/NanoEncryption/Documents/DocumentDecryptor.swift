// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine

/// A document was sealed with a key that was made since the keys were read.
struct UnknownKey: Error {}

/// Opens the documents of one collection.
struct DocumentDecryptor {
  private let ring: Keyring
  private let name: String
  private let collection: [UInt8]

  init(_ ring: Keyring, _ collection: String) {
    self.ring = ring
    name = collection
    self.collection = Array(collection.foldingASCII.utf8)
  }

  /// Shows a document with its fields as they were given.
  ///
  /// - Throws: ``UnknownKey``; ``StoreError/Code/corruptDocument`` if it was changed, or moved here from
  ///   another row. Other documents are not concerned.
  @inline(__always)
  func open<Result>(
    _ stored: StoredDocument, _ show: (StoredDocument) throws -> Result
  ) throws -> Result {
    guard SealedBody.isSealed(stored.body) else {
      if ring.isStrict { throw corrupt(stored, "A document is not sealed") }
      return try show(stored)
    }
    let plain = try fields(stored)
    return try plain.withUnsafeBytes { bytes in
      var opened = stored
      opened.body = bytes
      return try show(opened)
    }
  }

  private func fields(_ stored: StoredDocument) throws -> Data {
    guard let envelope = SealedBody.envelope(stored.body) else {
      throw corrupt(stored, "A sealed document is damaged")
    }
    guard let key = ring.keys[envelope.keyNumber] else { throw UnknownKey() }
    let place = SealedBody.Place(stored, collection)
    guard let plain = SealedBody.open(envelope, at: place, key) else {
      throw corrupt(stored, "A sealed document was changed, or belongs elsewhere")
    }
    return plain
  }

  func corrupt(_ stored: StoredDocument, _ message: String) -> StoreError {
    StoreError(.corruptDocument, message, [.collection: name, .rowID: "\(stored.rowID)"])
  }

  func unknownKey(_ stored: StoredDocument) -> StoreError {
    corrupt(stored, "A document was sealed with a key that the store does not have")
  }
}
