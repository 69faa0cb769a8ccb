// SPDX-License-Identifier: MIT

import Crypto
import Foundation
import NanoDocument

/// The binary format of encrypted bytes: AES-256-GCM with a random nonce.
///
/// ```
/// format 1 | number of the key 4 | nonce 12 | ciphertext | tag 16
/// ```
///
/// The bytes are authenticated with a context, such as the row that they belong to, and do not decrypt in a
/// different one.
enum Ciphertext {
  static let format: UInt8 = 1
  static let headerLength = 5
  /// The number of bytes that encryption adds.
  static let overhead = headerLength + 12 + 16

  static func encrypt(
    _ plain: UnsafeRawBufferPointer, _ key: SymmetricKey, _ context: AuthenticatedContext
  ) throws(StoreError) -> [UInt8] {
    guard let box = try? AES.GCM.seal(plain, using: key, authenticating: context.bytes),
      let combined = box.combined
    else { throw StoreError(.valueNotStorable, "A value cannot be encrypted") }
    var encrypted: [UInt8] = []
    encrypted.reserveCapacity(headerLength + combined.count)
    encrypted.append(contentsOf: context.bytes.prefix(headerLength))
    combined.withUnsafeBytes { encrypted.append(contentsOf: $0) }
    return encrypted
  }

  /// Returns the plaintext, or `nil` if the bytes were not encrypted with this key and for this context, or
  /// are damaged.
  static func decrypt(
    _ encrypted: UnsafeRawBufferPointer, _ key: SymmetricKey, _ context: AuthenticatedContext
  ) -> Data? {
    guard keyNumber(encrypted) == context.keyNumber else { return nil }
    let combined = UnsafeRawBufferPointer(rebasing: encrypted[headerLength...])
    guard let box = try? AES.GCM.SealedBox(combined: combined) else { return nil }
    return try? AES.GCM.open(box, using: key, authenticating: context.bytes)
  }

  /// Returns the number of the key, or `nil` if the bytes are not in this format.
  static func keyNumber(_ encrypted: UnsafeRawBufferPointer) -> UInt32? {
    guard encrypted.count >= overhead, encrypted[0] == format else { return nil }
    return UInt32(bigEndian: encrypted.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
  }
}

/// The additional authenticated data of encrypted bytes. It starts with their own header.
struct AuthenticatedContext {
  let keyNumber: UInt32
  private(set) var bytes: [UInt8] = []

  init(keyNumber: UInt32) {
    self.keyNumber = keyNumber
    bytes.reserveCapacity(192)
    bytes.append(Ciphertext.format)
    withUnsafeBytes(of: keyNumber.bigEndian) { bytes.append(contentsOf: $0) }
  }

  @inline(__always)
  mutating func append(part: some Collection<UInt8>) { bytes.append(part: part) }
  @inline(__always)
  mutating func append(number: UInt64) { bytes.append(number: number) }
  @inline(__always)
  mutating func append(byte: UInt8) { bytes.append(byte) }
}

extension [UInt8] {
  /// Appends bytes after their length, so that different lists of parts never result in the same bytes.
  @inline(__always)
  mutating func append(part: some Collection<UInt8>) {
    append(number: UInt64(part.count))
    append(contentsOf: part)
  }
  @inline(__always)
  mutating func append(number: UInt64) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }
}
