// SPDX-License-Identifier: MIT

import Crypto
import Foundation

/// A random key of a store and those derived from it, one for each use.
struct DataKey: Sendable {
  /// Different for each key that the store ever had, from 1.
  let number: UInt32
  let secret: SymmetricKey
  /// Seals documents.
  let documents: SymmetricKey
  /// Seals metadata, settings and what the store notes of collections.
  let values: SymmetricKey
  /// Hashes values for blind indexes, and names.
  let hashes: SymmetricKey

  init(number: UInt32, secret: SymmetricKey = SymmetricKey(size: .bits256)) {
    self.number = number
    self.secret = secret
    func derive(_ use: String) -> SymmetricKey {
      HKDF<SHA256>.deriveKey(
        inputKeyMaterial: secret, info: Data("NanoStore \(use)".utf8), outputByteCount: 32)
    }
    documents = derive("documents")
    values = derive("values")
    hashes = derive("hashes")
  }

  /// 16 bytes that tell equal inputs, and nothing else without the key. Half of HMAC-SHA256: two of 2³²
  /// different values agree by chance once in 2⁶⁴ stores, and what an index finds is checked again.
  func hash(_ bytes: [UInt8]) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: bytes, using: hashes).prefix(16))
  }
}
