// SPDX-License-Identifier: MIT

public import Crypto
public import Foundation
import NanoDocument

/// What opens an encrypted store: a passphrase, or a key of 256 bits.
///
/// ```swift
/// EncryptionKey.passphrase("correct horse battery staple")
/// EncryptionKey.key(SymmetricKey(size: .bits256))    // kept in a keychain
/// ```
///
/// Documents are not sealed with it but with a random key that it wraps, so that another one can take its
/// place at once. It is never written to the store, a log or an error.
public struct EncryptionKey: Sendable {
  enum Secret: Sendable {
    case passphrase(String)
    case raw(SymmetricKey)
  }
  let secret: Secret

  /// A text that somebody remembers. However its accents were composed, it is the same passphrase.
  public static func passphrase(_ text: String) -> EncryptionKey {
    EncryptionKey(secret: .passphrase(text))
  }

  /// A key of 256 bits.
  public static func key(_ key: SymmetricKey) -> EncryptionKey { EncryptionKey(secret: .raw(key)) }

  /// A key of 32 bytes.
  public static func key(_ bytes: some ContiguousBytes) -> EncryptionKey {
    .key(SymmetricKey(data: bytes))
  }
}

extension EncryptionKey: CustomStringConvertible, CustomReflectable {
  /// Whether it is a passphrase or a key, never which one.
  public var description: String {
    switch secret {
    case .passphrase: "a passphrase"
    case .raw: "a key"
    }
  }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What deriving a key from a passphrase costs, for its owner and for whoever guesses: scrypt's numbers.
///
/// The defaults take 128 MiB and some tenths of a second. They are kept in the store: other ones count
/// when a passphrase is set.
public struct ScryptCost: Sendable, Hashable {
  /// N, a power of two.
  public var rounds: Int
  /// r; one computation takes 128 · N · r bytes.
  public var blockSize: Int
  /// p.
  public var parallelism: Int

  public init(rounds: Int = 1 << 17, blockSize: Int = 8, parallelism: Int = 1) {
    self.rounds = rounds
    self.blockSize = blockSize
    self.parallelism = parallelism
  }

  /// Bytes that a computation may take, so that a file which somebody has tampered with cannot take all
  /// memory. Arbitrary.
  static let maximumMemory = 1 << 30

  func validate() throws(StoreError) {
    let (memory, overflows) = (128 * blockSize).multipliedReportingOverflow(by: rounds)
    guard rounds > 1, rounds.nonzeroBitCount == 1, (1...1_024).contains(blockSize),
      (1...1_024).contains(parallelism), !overflows, memory <= Self.maximumMemory
    else {
      throw StoreError(
        .invalidArgument, "The cost of a passphrase is out of its range",
        [.actual: "N \(rounds), r \(blockSize), p \(parallelism)"])
    }
  }
}
