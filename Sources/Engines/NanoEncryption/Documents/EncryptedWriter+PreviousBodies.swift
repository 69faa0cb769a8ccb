// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// Kept bodies stay encrypted as they were in the row, with whose ID, key, class and version they are authenticated.
extension EncryptedReader {
  func keepsPreviousBodies(in collection: String) throws -> Bool {
    try inner.keepsPreviousBodies(in: collection)
  }

  func previousBody(
    ofRow rowID: Int64, in collection: String, _ show: (StoredDocument) throws -> Void
  ) throws -> Bool {
    guard ring.encrypts(collection) else {
      return try inner.previousBody(ofRow: rowID, in: collection, show)
    }
    let decryptor = DocumentDecryptor(ring, collection)
    return try inner.previousBody(ofRow: rowID, in: collection) {
      try decrypt($0, decryptor, in: collection, show)
    }
  }

  func previousBodies(
    after rowID: Int64?, limit: Int, in collection: String,
    _ show: (StoredDocument) throws -> Void
  ) throws {
    guard ring.encrypts(collection) else {
      return try inner.previousBodies(after: rowID, limit: limit, in: collection, show)
    }
    let decryptor = DocumentDecryptor(ring, collection)
    try inner.previousBodies(after: rowID, limit: limit, in: collection) {
      try decrypt($0, decryptor, in: collection, show)
    }
  }
}

extension EncryptedWriter {
  func setKeepsPreviousBodies(_ keeps: Bool, of collection: String) throws {
    try writer.setKeepsPreviousBodies(keeps, of: collection)
  }

  func removePreviousBodies(ofRows rowIDs: [Int64], in collection: String) throws {
    try writer.removePreviousBodies(ofRows: rowIDs, in: collection)
  }

  func replacePreviousBody(
    ofRow rowID: Int64, with body: UnsafeRawBufferPointer, in collection: String
  ) throws {
    guard ring.encrypts(collection) else {
      return try writer.replacePreviousBody(ofRow: rowID, with: body, in: collection)
    }
    var encrypted: [UInt8]?
    _ = try inner.previousBodies(after: rowID == .min ? nil : rowID - 1, limit: 1, in: collection) {
      guard $0.rowID == rowID else { return }
      encrypted = try encrypt(body, at: Self.row($0, collection), nil)
    }
    try encrypted?.withUnsafeBytes {
      try writer.replacePreviousBody(ofRow: rowID, with: $0, in: collection)
    }
  }

  /// Encrypts the kept bodies after a row ID with the current key, unless they are. Those that do not decrypt, or
  /// have no stored form, are removed: they are of no use, and must not prevent a change of the key.
  ///
  /// - Parameter acceptsPlain: As for documents.
  /// - Returns: The row ID of the last one of a batch; `nil` if there are no more.
  func reencryptPreviousBodies(
    of collection: String, after last: Int64?, acceptsPlain: Bool
  ) throws -> Int64? {
    let decryptor = DocumentDecryptor(ring, collection)
    var end: Int64?
    var encrypted: [(rowID: Int64, body: [UInt8])] = []
    var damaged: [Int64] = []
    try inner.previousBodies(after: last, limit: Self.batch, in: collection) { stored in
      end = stored.rowID
      guard SealedBody.keyNumber(stored.body) != ring.current.number else { return }
      let row = Self.row(stored, collection)
      do {
        if SealedBody.isSealed(stored.body) {
          let body = try decrypt(stored, decryptor, in: collection) {
            try encrypt($0.body, at: row, nil)
          }
          encrypted.append((stored.rowID, body))
        } else if acceptsPlain {
          let rewritten = try CanonicalBody.rewritten(stored.body)
          let body =
            try rewritten?.withUnsafeBytes { try encrypt($0, at: row, nil) }
            ?? encrypt(stored.body, at: row, nil)
          encrypted.append((stored.rowID, body))
        } else {
          damaged.append(stored.rowID)
        }
      } catch let error as StoreError where error.code == .corruptDocument {
        damaged.append(stored.rowID)
      }
    }
    for (rowID, body) in encrypted {
      try body.withUnsafeBytes {
        try writer.replacePreviousBody(ofRow: rowID, with: $0, in: collection)
      }
    }
    if !damaged.isEmpty { try writer.removePreviousBodies(ofRows: damaged, in: collection) }
    return end
  }

  private static func row(
    _ stored: StoredDocument, _ collection: String
  ) -> SealedBody.RowContext {
    SealedBody.RowContext(stored, Array(collection.foldingASCII.utf8))
  }
}
