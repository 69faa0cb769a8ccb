// SPDX-License-Identifier: MIT

public import Crypto
public import Foundation
import NanoDocument

/// The key that opens an encrypted store: a passphrase, or a 256-bit key.
///
/// ```swift
/// EncryptionKey.passphrase("correct horse battery staple")
/// EncryptionKey.key(SymmetricKey(size: .bits256))    // kept in a keychain
/// ```
///
/// Documents are encrypted with a random key that this key wraps, so that this key can be replaced
/// immediately. It is never written to the store, a log or an error.
public struct EncryptionKey: Sendable {
  enum Secret: Sendable {
    case passphrase(String)
    case raw(SymmetricKey)
  }
  let secret: Secret

  /// Returns a key for a passphrase. Passphrases that differ only in Unicode composition are the same.
  public static func passphrase(_ text: String) -> EncryptionKey {
    EncryptionKey(secret: .passphrase(text))
  }

  /// Returns a 256-bit key. Opening a store throws ``StoreError/Code/invalidArgument`` for other lengths.
  public static func key(_ key: SymmetricKey) -> EncryptionKey { EncryptionKey(secret: .raw(key)) }

  /// Returns a key of 32 bytes. Opening a store throws ``StoreError/Code/invalidArgument`` for other lengths.
  public static func key(_ bytes: some ContiguousBytes) -> EncryptionKey {
    .key(SymmetricKey(data: bytes))
  }
}

extension EncryptionKey {
  /// - Throws: ``StoreError/Code/invalidArgument`` for an empty passphrase, and a key of another length.
  func validate() throws(StoreError) {
    switch secret {
    case .passphrase(let text):
      guard !text.isEmpty else { throw StoreError(.invalidArgument, "The passphrase is empty") }
    case .raw(let key):
      guard key.bitCount == 256 else {
        throw StoreError(
          .invalidArgument, "A key has the wrong length",
          [.expected: "256 bits", .actual: "\(key.bitCount) bits"])
      }
    }
  }
}

extension EncryptionKey: CustomStringConvertible, CustomReflectable {
  /// Either "a passphrase" or "a key", never the secret itself.
  public var description: String {
    switch secret {
    case .passphrase: "a passphrase"
    case .raw: "a key"
    }
  }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The cost of deriving a key from a passphrase, for its owner and for anyone guessing it: the parameters of
/// scrypt.
///
/// The defaults take 128 MiB and a few tenths of a second. The cost is kept in the store; a different one
/// takes effect when a passphrase is set.
public struct ScryptCost: Sendable, Hashable {
  /// The parameter N, a power of two.
  public var rounds: Int
  /// The parameter r, at most 16 if `parallelism` is 1. One computation takes 128 · N · r bytes.
  public var blockSize: Int
  /// The parameter p.
  public var parallelism: Int

  /// Creates a cost. The value is checked when a store is opened with a passphrase, and when one is set:
  /// ``StoreError/Code/invalidArgument`` if it is out of range, or takes more than 1 GiB or 64 times as long as the default.
  public init(rounds: Int = 1 << 17, blockSize: Int = 8, parallelism: Int = 1) {
    self.rounds = rounds
    self.blockSize = blockSize
    self.parallelism = parallelism
  }

  /// The maximum memory of a computation in bytes, so that a file that was tampered with cannot exhaust
  /// memory. Arbitrary.
  static let maximumMemory = 1 << 30
  /// The maximum of ``work``, so that opening such a file ends within a minute. Arbitrary: 64 times the default.
  private static let maximumWork = 64 * ScryptCost().work

  func validate() throws(StoreError) {
    // The numbers come from the file, where they may be anything.
    guard rounds > 1, rounds.nonzeroBitCount == 1, (1...1_024).contains(blockSize),
      (1...1_024).contains(parallelism), rounds <= Self.maximumMemory / (128 * blockSize),
      work <= Self.maximumWork
    else {
      throw outOfRange
    }
  }

  /// The memory page that every supported machine has at least.
  private static let smallestPage = 4_096

  /// Also rejects costs that only machines with larger memory pages can compute, so that every machine opens the store.
  func validateForNewKey() throws(StoreError) {
    try validate()
    // scrypt takes one block for each round and each part, and one to mix them. CryptoExtras limits it to the product
    // of rounds and parts, and a page.
    let blocks = rounds + parallelism + 1 - rounds * parallelism
    guard blocks * 128 * blockSize <= Self.smallestPage else { throw outOfRange }
  }

  /// The number of steps of a guess, in proportion.
  var work: Double { Double(rounds) * Double(blockSize) * Double(parallelism) }

  private var outOfRange: StoreError {
    StoreError(
      .invalidArgument, "The scrypt cost is out of range",
      [.actual: "N \(rounds), r \(blockSize), p \(parallelism)"])
  }
}
