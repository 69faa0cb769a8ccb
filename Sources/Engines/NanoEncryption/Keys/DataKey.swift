// SPDX-License-Identifier: MIT

import Crypto
import Foundation

/// A random key of a store, and the keys derived from it, one for each purpose.
struct DataKey: Sendable {
  /// Unique among all keys that the store ever had, starting at 1.
  let number: UInt32
  let secret: SymmetricKey
  /// Encrypts documents.
  let documents: SymmetricKey
  /// Encrypts metadata, settings and path catalogs.
  let values: SymmetricKey
  /// Hashes names, and values for blind indexes.
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

  /// Returns a hash of 16 bytes, which reveals only equality of inputs without the key. It is half of
  /// HMAC-SHA256: among 2³² different values, two collide by chance in one of 2⁶⁴ stores, and the results of
  /// an index are checked again.
  func hash(_ bytes: [UInt8]) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: bytes, using: hashes).prefix(16))
  }
}
