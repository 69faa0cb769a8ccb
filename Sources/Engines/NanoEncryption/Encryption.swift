// SPDX-License-Identifier: MIT

public import NanoDocument

/// The encryption of a store: the key, what is encrypted, and what can be found without decrypting documents.
///
/// ```swift
/// let encryption = Encryption(.passphrase("correct horse"))
/// let indexed = Encryption(
///   .passphrase("correct horse"), indexes: .blind(["people": ["LastName", "Emails"]]))
/// ```
///
/// docs/ENCRYPTION.md describes what the file still reveals.
public struct Encryption: Sendable {
  /// The documents that are encrypted.
  public enum Scope: Sendable, Hashable {
    /// The documents of every collection, bags, metadata and settings.
    case all
    /// The documents and settings of the named collections, what sync keeps about them, and the state of sync. Bags and
    /// metadata are not encrypted.
    case only(Set<String>)
  }

  /// How indexes on the fields of encrypted documents are treated. An index on values would reveal them. A
  /// blind index holds a keyed hash of each value instead, which finds equal values and reveals which
  /// documents share one.
  public enum Indexes: Sendable, Hashable {
    /// Indexes are rejected.
    case rejected
    /// Every declared index is a blind index.
    case blind
    /// Indexes on the listed fields, by collection, are blind indexes. Others are rejected.
    case blindOn([String: [FieldPath]])

    /// Returns ``blindOn(_:)``: indexes on the listed fields are blind indexes, and others are rejected.
    public static func blind(_ fields: [String: [FieldPath]]) -> Indexes { .blindOn(fields) }
  }

  /// The key that opens the store.
  public var key: EncryptionKey
  /// The documents that are encrypted. A collection that was encrypted once stays encrypted: the store records
  /// its collections, and new ones are added.
  public var scope: Scope
  /// How indexes on the fields of encrypted documents are treated.
  public var indexes: Indexes
  /// The cost of deriving a key from a passphrase. Takes effect when a passphrase is set: when the store is
  /// first opened, and when the key is changed without another cost, unless that of the previous passphrase is higher.
  public var cost: ScryptCost

  /// Creates an encryption with a key. The default encrypts everything and rejects indexes.
  public init(
    _ key: EncryptionKey, encrypting scope: Scope = .all, indexes: Indexes = .rejected,
    cost: ScryptCost = ScryptCost()
  ) {
    self.key = key
    self.scope = scope
    self.indexes = indexes
    self.cost = cost
  }
}

extension Encryption {
  /// Checks the key and the cost, before a file is created for them.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument``.
  package func validate() throws(StoreError) {
    try key.validate()
    if case .passphrase = key.secret { try cost.validateForNewKey() }
  }
}
