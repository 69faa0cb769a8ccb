// SPDX-License-Identifier: MIT

import Crypto
import CryptoExtras
import Foundation
import NanoDocument

/// The derivation of the wrapping key from a passphrase or key; stored in the header.
struct KeyDerivation: Sendable, Hashable {
  enum Method: Sendable, Hashable {
    case scrypt(ScryptCost)
    case raw
  }
  let method: Method
  let salt: Data

  /// Creates a derivation with a new salt.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` for a cost that is out of range, if the key is a passphrase.
  init(for key: EncryptionKey, _ cost: ScryptCost) throws(StoreError) {
    salt = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
    switch key.secret {
    case .passphrase:
      try cost.validateForNewKey()
      method = .scrypt(cost)
    case .raw: method = .raw
    }
  }

  /// Returns the cost of this derivation, or the given one if that is higher or this one is none for new keys.
  func cost(atLeast other: ScryptCost) -> ScryptCost {
    guard case .scrypt(let cost) = method, (try? cost.validateForNewKey()) != nil,
      cost.work > other.work
    else { return other }
    return cost
  }

  /// Derives the wrapping key.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` for an invalid key, ``StoreError/Code/wrongKey`` for a
  ///   passphrase instead of a key, or a key instead of a passphrase.
  func wrappingKey(_ key: EncryptionKey) throws(StoreError) -> SymmetricKey {
    try key.validate()
    switch (key.secret, method) {
    case (.passphrase(let text), .scrypt(let cost)):
      return try Self.scrypt(text, salt, cost)
    case (.raw(let raw), .raw):
      return HKDF<SHA256>.deriveKey(
        inputKeyMaterial: raw, salt: salt, info: Data("NanoStore wrapping key".utf8),
        outputByteCount: 32)
    case (.passphrase, .raw):
      throw StoreError(
        .wrongKey, "This key does not open the store", [.hint: "the store is encrypted with a key"])
    case (.raw, .scrypt):
      throw StoreError(
        .wrongKey, "This key does not open the store",
        [.hint: "the store is encrypted with a passphrase"])
    }
  }

  private static func scrypt(
    _ text: String, _ salt: Data, _ cost: ScryptCost
  ) throws(StoreError) -> SymmetricKey {
    try cost.validate()
    do {
      return try KDF.Scrypt.deriveKey(
        from: Data(text.precomposedStringWithCanonicalMapping.utf8), salt: salt,
        outputByteCount: 32, rounds: cost.rounds, blockSize: cost.blockSize,
        parallelism: cost.parallelism)
    } catch {
      throw StoreError(
        .invalidArgument, "A key cannot be derived from the passphrase",
        [.actual: "N \(cost.rounds), r \(cost.blockSize), p \(cost.parallelism)"])
    }
  }
}

extension KeyDerivation {
  /// The stored form.
  var object: DocumentObject {
    switch method {
    case .raw: ["kdf": "hkdf-sha256", "salt": .data(salt)]
    case .scrypt(let cost):
      [
        "kdf": "scrypt", "n": .int(Int64(cost.rounds)), "r": .int(Int64(cost.blockSize)),
        "p": .int(Int64(cost.parallelism)), "salt": .data(salt),
      ]
    }
  }

  /// Creates a derivation from its stored form. Returns `nil` if that is invalid.
  init?(_ object: DocumentObject) {
    guard let salt = object["salt"]?.data, salt.count >= 16 else { return nil }
    self.salt = salt
    switch object["kdf"]?.string {
    case "hkdf-sha256": method = .raw
    case "scrypt":
      guard let n = object["n"]?.int, let r = object["r"]?.int, let p = object["p"]?.int,
        let rounds = Int(exactly: n), let blockSize = Int(exactly: r),
        let parallelism = Int(exactly: p)
      else { return nil }
      let cost = ScryptCost(rounds: rounds, blockSize: blockSize, parallelism: parallelism)
      guard (try? cost.validate()) != nil else { return nil }
      method = .scrypt(cost)
    default: return nil
    }
  }
}
