// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine

/// The body of an encrypted document: a JSON object, valid for any SQLite tool.
///
/// ```
/// {"$sealed":"AQAAAAH…"}
/// {"$sealed":"AQAAAAH…","nano_f1":"q83v…","nano_e2":["q83v…","EjRW…"]}
/// ```
///
/// No user document has this form: a user's field name that begins with `$` has a second `$` in stored form.
/// The fields after the first are hashes for blind indexes.
enum SealedBody {
  private static let opening: StaticString = #"{"$sealed":""#

  static func isSealed(_ body: UnsafeRawBufferPointer) -> Bool {
    let length = opening.utf8CodeUnitCount
    guard body.count > length, let base = body.baseAddress else { return false }
    return memcmp(base, opening.utf8Start, length) == 0
  }

  /// The row that a body is authenticated with. Borrowed while the row is passed to a closure.
  struct RowContext {
    /// The folded name.
    let collection: [UInt8]
    let rowID: Int64
    var key: BorrowedKey
    let type: UnsafeRawBufferPointer?
    let version: Int64?

    /// - Parameter hashes: The fields next to the ciphertext.
    fileprivate func context(
      _ keyNumber: UInt32, _ hashes: UnsafeRawBufferPointer
    ) -> AuthenticatedContext {
      var context = AuthenticatedContext(keyNumber: keyNumber)
      context.append(part: "document".utf8)
      context.append(part: collection)
      context.append(number: UInt64(bitPattern: rowID))
      switch key {
      case .none: context.append(byte: 0)
      case .text(let text):
        context.append(byte: 1)
        context.append(part: text)
      case .uuid(let high, let low):
        context.append(byte: 2)
        context.append(number: high)
        context.append(number: low)
      }
      context.append(byte: type == nil ? 0 : 1)
      if let type { context.append(part: type) }
      context.append(byte: version == nil ? 0 : 1)
      if let version { context.append(number: UInt64(bitPattern: version)) }
      context.append(part: hashes)
      return context
    }
  }

  /// - Parameter hashes: Fields for blind indexes as JSON, each preceded by a comma.
  static func seal(
    _ body: UnsafeRawBufferPointer, at row: RowContext, hashes: [UInt8], _ key: DataKey
  ) throws(StoreError) -> [UInt8] {
    let context = hashes.withUnsafeBytes { row.context(key.number, $0) }
    let sealed = try Ciphertext.encrypt(body, key.documents, context)
    let start = opening.utf8CodeUnitCount
    let length = Base64.encodedLength(sealed.count)
    return [UInt8](unsafeUninitializedCapacity: start + length + 2 + hashes.count) { out, count in
      guard let base = out.baseAddress else { return }
      base.update(from: opening.utf8Start, count: start)
      sealed.withUnsafeBytes { Base64.encode($0, to: base + start) }
      base[start + length] = UInt8(ascii: "\"")
      hashes.withUnsafeBufferPointer {
        if let hashes = $0.baseAddress {
          (base + start + length + 1).update(from: hashes, count: $0.count)
        }
      }
      count = start + length + 2 + hashes.count
      base[count - 1] = UInt8(ascii: "}")
    }
  }

  /// The parts of an encrypted body before decryption.
  struct Envelope {
    let sealed: [UInt8]
    let hashes: UnsafeRawBufferPointer
    let keyNumber: UInt32
  }

  /// Returns the parts of an encrypted body, or `nil` if it is damaged.
  static func envelope(_ body: UnsafeRawBufferPointer) -> Envelope? {
    let start = opening.utf8CodeUnitCount
    guard isSealed(body), let base = body.baseAddress,
      let end = memchr(base + start, 0x22, body.count - start)
    else { return nil }
    let length = UnsafeRawPointer(end) - (base + start)
    let text = UnsafeRawBufferPointer(start: base + start, count: length)
    guard body[body.count - 1] == UInt8(ascii: "}"), start + length + 1 < body.count,
      let sealed = decode(text.bindMemory(to: UInt8.self)),
      let keyNumber = sealed.withUnsafeBytes(Ciphertext.keyNumber)
    else { return nil }
    let hashes = UnsafeRawBufferPointer(rebasing: body[(start + length + 1)..<(body.count - 1)])
    return Envelope(sealed: sealed, hashes: hashes, keyNumber: keyNumber)
  }

  private static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    guard let length = Base64.decodedLength(text), length > 0 else { return nil }
    var isRight = false
    let bytes = [UInt8](unsafeUninitializedCapacity: length) { out, count in
      isRight = Base64.decode(text, to: UnsafeMutableRawBufferPointer(out))
      count = length
    }
    return isRight ? bytes : nil
  }

  /// Returns the decrypted fields, or `nil` if any part of the row was modified.
  static func open(_ envelope: Envelope, at row: RowContext, _ key: DataKey) -> Data? {
    let context = row.context(envelope.keyNumber, envelope.hashes)
    return envelope.sealed.withUnsafeBytes { Ciphertext.decrypt($0, key.documents, context) }
  }

  /// Returns the number of the key that a body was encrypted with, without decrypting it; `nil` if it is not
  /// encrypted.
  static func keyNumber(_ body: UnsafeRawBufferPointer) -> UInt32? {
    // The first eight characters encode six bytes, of which five are used.
    let start = opening.utf8CodeUnitCount
    guard isSealed(body), body.count > start + 8 else { return nil }
    let text = UnsafeRawBufferPointer(rebasing: body[start..<(start + 8)])
    guard let bytes = Base64.decode(text.bindMemory(to: UInt8.self)), bytes.count == 6,
      bytes.first == Ciphertext.format
    else { return nil }
    return bytes.dropFirst().prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }
}

extension SealedBody.RowContext {
  init(_ stored: StoredDocument, _ collection: [UInt8]) {
    self.init(
      collection: collection, rowID: stored.rowID, key: stored.borrowedKey,
      type: stored.borrowedType, version: stored.version)
  }

  /// Passes the row context of a stored document, whose row is to be written again, to a closure.
  ///
  /// Its class name is the text that is written. Another program may have stored bytes that are not UTF-8.
  static func with<Result>(
    _ stored: StoredDocument, _ collection: [UInt8],
    _ work: (SealedBody.RowContext) throws -> Result
  ) rethrows -> Result {
    guard var type = stored.type else {
      return try work(SealedBody.RowContext(stored, collection))
    }
    return try type.withUTF8 {
      try work(
        SealedBody.RowContext(
          collection: collection, rowID: stored.rowID, key: stored.borrowedKey,
          type: UnsafeRawBufferPointer($0), version: stored.version))
    }
  }

  /// Passes the row context of a document to be written to a closure.
  static func with<Result>(
    _ document: NewDocument, key: DocumentKey?, rowID: Int64, _ collection: [UInt8],
    _ work: (SealedBody.RowContext) throws -> Result
  ) rethrows -> Result {
    try DocumentKey.withBorrowed(key) { key in
      func lend(_ type: UnsafeRawBufferPointer?) throws -> Result {
        try work(
          SealedBody.RowContext(
            collection: collection, rowID: rowID, key: key, type: type, version: document.version))
      }
      guard var type = document.type else { return try lend(nil) }
      return try type.withUTF8 { try lend(UnsafeRawBufferPointer($0)) }
    }
  }
}
