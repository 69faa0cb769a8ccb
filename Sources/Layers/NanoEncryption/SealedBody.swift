// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine

/// The body of a sealed document: a JSON object that any SQLite tool takes for one.
///
/// ```
/// {"$sealed":"AQAAAAH…"}
/// {"$sealed":"AQAAAAH…","nano_f1":"q83v…","nano_e2":["q83v…","EjRW…"]}
/// ```
///
/// No document of a user looks like it: a name of theirs that begins with `$` has one more in stored form.
/// The fields behind the first are hashes for blind indexes.
enum SealedBody {
  private static let opening: StaticString = #"{"$sealed":""#

  static func isSealed(_ body: UnsafeRawBufferPointer) -> Bool {
    let length = opening.utf8CodeUnitCount
    guard body.count > length, let base = body.baseAddress else { return false }
    return memcmp(base, opening.utf8Start, length) == 0
  }

  /// What a body is bound to: the row that it stands in, and all that stands beside it.
  struct Place {
    /// Folded.
    let collection: [UInt8]
    let rowID: Int64
    let key: DocumentKey?
    let type: String?
    let version: Int64?

    fileprivate func context(_ hashes: some Collection<UInt8>) -> [UInt8] {
      var context: [UInt8] = []
      context.reserveCapacity(128 + hashes.count)
      context.append(part: "document".utf8)
      context.append(part: collection)
      context.append(number: UInt64(bitPattern: rowID))
      append(key?.description, to: &context)
      append(type, to: &context)
      append(version.map { "\($0)" }, to: &context)
      context.append(part: hashes)
      return context
    }

    private func append(_ text: String?, to context: inout [UInt8]) {
      context.append(text == nil ? 0 : 1)
      if let text { context.append(part: text.utf8) }
    }
  }

  /// - Parameter hashes: Fields for blind indexes as JSON, each with a comma before it.
  static func seal(
    _ body: UnsafeRawBufferPointer, at place: Place, hashes: [UInt8], _ key: DataKey
  ) throws(StoreError) -> [UInt8] {
    let sealed = try SealedBytes.seal(
      body, key.documents, number: key.number, context: place.context(hashes))
    let start = opening.utf8CodeUnitCount
    let length = Base64.encodedLength(sealed.count)
    return [UInt8](unsafeUninitializedCapacity: start + length + 2 + hashes.count) { out, count in
      guard let base = out.baseAddress else { return }
      memcpy(base, opening.utf8Start, start)
      sealed.withUnsafeBytes { Base64.encode($0, to: base + start) }
      base[start + length] = UInt8(ascii: "\"")
      for (index, byte) in hashes.enumerated() { base[start + length + 1 + index] = byte }
      count = start + length + 2 + hashes.count
      base[count - 1] = UInt8(ascii: "}")
    }
  }

  /// A body as its text says, before it is opened.
  struct Envelope {
    let sealed: Data
    let hashes: UnsafeRawBufferPointer
    let keyNumber: UInt32
  }

  /// Nil for what is damaged.
  static func envelope(_ body: UnsafeRawBufferPointer) -> Envelope? {
    let start = opening.utf8CodeUnitCount
    guard isSealed(body), let base = body.baseAddress,
      let end = memchr(base + start, 0x22, body.count - start)
    else { return nil }
    let length = UnsafeRawPointer(end) - (base + start)
    let text = UnsafeRawBufferPointer(start: base + start, count: length)
    guard body[body.count - 1] == UInt8(ascii: "}"), start + length + 1 < body.count,
      let sealed = Base64.decode(text.bindMemory(to: UInt8.self)),
      let keyNumber = SealedBytes.keyNumber(sealed)
    else { return nil }
    let hashes = UnsafeRawBufferPointer(rebasing: body[(start + length + 1)..<(body.count - 1)])
    return Envelope(sealed: sealed, hashes: hashes, keyNumber: keyNumber)
  }

  /// The fields, nil if anything of the row was changed.
  static func open(_ envelope: Envelope, at place: Place, _ key: DataKey) -> Data? {
    SealedBytes.open(
      envelope.sealed, key.documents, number: key.number,
      context: place.context(envelope.hashes))
  }

  /// The number of the key that a body was sealed with, which is not opened; nil if it is not sealed.
  static func keyNumber(_ body: UnsafeRawBufferPointer) -> UInt32? {
    // The first eight letters stand for six bytes, of which five are wanted.
    let start = opening.utf8CodeUnitCount
    guard isSealed(body), body.count > start + 8 else { return nil }
    let text = UnsafeRawBufferPointer(rebasing: body[start..<(start + 8)])
    guard let bytes = Base64.decode(text.bindMemory(to: UInt8.self)), bytes.count == 6,
      bytes.first == SealedBytes.format
    else { return nil }
    return bytes.dropFirst().prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }
}

extension SealedBody.Place {
  init(_ stored: StoredDocument, _ collection: [UInt8]) {
    self.init(
      collection: collection, rowID: stored.rowID, key: stored.key, type: stored.type,
      version: stored.version)
  }
}
