// SPDX-License-Identifier: MIT

import Crypto
import Foundation
import NanoDocument

/// Bytes that nobody can read or change without the key: AES-256-GCM with a random nonce.
///
/// ```
/// format 1 | number of the key 4 | nonce 12 | ciphertext | tag 16
/// ```
///
/// They are bound to a context, such as the row that they belong to: elsewhere they do not open.
enum SealedBytes {
  static let format: UInt8 = 1
  static let headerLength = 5
  /// Bytes that sealing adds.
  static let overhead = headerLength + 12 + 16

  static func seal(
    _ plain: some DataProtocol, _ key: SymmetricKey, number: UInt32, context: [UInt8]
  ) throws(StoreError) -> Data {
    do {
      var sealed = header(number)
      let box = try AES.GCM.seal(
        plain, using: key, authenticating: sealed + context)
      sealed.reserveCapacity(plain.count + overhead)
      sealed.append(contentsOf: box.nonce)
      sealed.append(box.ciphertext)
      sealed.append(box.tag)
      return sealed
    } catch {
      throw StoreError(.valueNotStorable, "A value cannot be sealed")
    }
  }

  /// Nil for what was not sealed with this key and for this context, or is damaged.
  static func open(
    _ sealed: Data, _ key: SymmetricKey, number: UInt32, context: [UInt8]
  ) -> Data? {
    guard keyNumber(sealed) == number else { return nil }
    let header = sealed.prefix(headerLength)
    guard let box = try? AES.GCM.SealedBox(combined: sealed.dropFirst(headerLength)) else {
      return nil
    }
    return try? AES.GCM.open(box, using: key, authenticating: header + context)
  }

  private static func header(_ number: UInt32) -> Data {
    var header = Data([format])
    withUnsafeBytes(of: number.bigEndian) { header.append(contentsOf: $0) }
    return header
  }

  /// The number of the key, nil for what is not sealed bytes.
  static func keyNumber(_ sealed: Data) -> UInt32? {
    guard sealed.count >= overhead, sealed.first == format else { return nil }
    return sealed.dropFirst().prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }
}

extension [UInt8] {
  /// Appends bytes behind their length, so that no two lists of parts give the same bytes.
  mutating func append(part: some Collection<UInt8>) {
    append(number: UInt64(part.count))
    append(contentsOf: part)
  }
  mutating func append(number: UInt64) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }
}
