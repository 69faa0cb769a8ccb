// SPDX-License-Identifier: MIT

public import NanoDocument

/// How a store is encrypted: with which key, what of it, and what may be found without opening
/// documents.
///
/// ```swift
/// let encryption = Encryption(.passphrase("correct horse"))
/// let indexed = Encryption(
///   .passphrase("correct horse"), indexes: .blind(["people": ["LastName", "Emails"]]))
/// ```
///
/// docs/ENCRYPTION.md says what whoever has the file still sees.
public struct Encryption: Sendable {
  /// Which documents are sealed.
  public enum Scope: Sendable, Hashable {
    /// Those of every collection, bags, metadata and settings.
    case all
    /// Those of these collections, and their settings. Bags and metadata are not sealed.
    case only(Set<String>)
  }

  /// What happens to indexes on the fields of sealed documents. An index of their values would show
  /// them; a blind index holds a keyed hash of each value instead, so that it finds equal ones and shows
  /// which documents have the same.
  public enum Indexes: Sendable, Hashable {
    /// They are refused.
    case refused
    /// Every index that is declared is a blind one.
    case blind
    /// Indexes on these fields of these collections are blind ones, others are refused.
    case blindOn([String: [FieldPath]])

    /// Indexes on these fields of these collections are blind ones, others are refused.
    public static func blind(_ fields: [String: [FieldPath]]) -> Indexes { .blindOn(fields) }
  }

  public var key: EncryptionKey
  /// What was sealed once stays so: collections are added to those that the store names.
  public var scope: Scope
  public var indexes: Indexes
  /// Counts when a passphrase is set: by the first opening, and by a change of the key.
  public var cost: ScryptCost

  public init(
    _ key: EncryptionKey, sealing scope: Scope = .all, indexes: Indexes = .refused,
    cost: ScryptCost = ScryptCost()
  ) {
    self.key = key
    self.scope = scope
    self.indexes = indexes
    self.cost = cost
  }
}
