// SPDX-License-Identifier: MIT

import Crypto
import CryptoExtras

/// Writes data buffers and encrypts records as BNRPersistence does, independently of the code that reads them.
package struct BNRBufferWriter {
  package var bytes: [UInt8] = []

  package init() {}

  package mutating func uint8(_ value: UInt8) { bytes.append(value) }
  package mutating func uint32(_ value: UInt32) {
    bytes += withUnsafeBytes(of: value.littleEndian) { Array($0) }
  }
  package mutating func float32(_ value: Float) {
    bytes += withUnsafeBytes(of: value.bitPattern.bigEndian) { Array($0) }
  }
  package mutating func float64(_ value: Double) {
    bytes += withUnsafeBytes(of: value.bitPattern.bigEndian) { Array($0) }
  }
  package mutating func data(_ value: some Collection<UInt8>) {
    uint32(UInt32(value.count))
    bytes += value
  }
  package mutating func text(_ value: String) { data(value.utf8) }

  /// Returns the key of a record with this salt.
  package static func key(salt: [UInt8], passphrase: String) -> [UInt8] {
    [UInt8](Insecure.MD5.hash(data: salt + Array(passphrase.utf8)))
  }

  /// Encrypts a record: AES-128 in CBC mode with a zero IV and PKCS #7 padding, of the salt and the record.
  package static func encrypt(
    _ record: [UInt8], salt: [UInt8], passphrase: String
  ) throws -> [UInt8] {
    [UInt8](
      try AES._CBC.encrypt(
        salt + record, using: SymmetricKey(data: key(salt: salt, passphrase: passphrase)),
        iv: AES._CBC.IV(ivBytes: [UInt8](repeating: 0, count: 16))))
  }
}
