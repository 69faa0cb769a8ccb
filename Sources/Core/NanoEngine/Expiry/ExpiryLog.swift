// SPDX-License-Identifier: MIT

/// What a transaction does with expired documents, and what the store has to do after it.
package struct ExpiryLog {
  /// The expired documents of one collection that the transaction deleted.
  package struct Swept {
    package var collection: String
    /// Their keys, or the row IDs of those without one.
    package var documents: [Identity]

    package init(collection: String, documents: [Identity]) {
      (self.collection, self.documents) = (collection, documents)
    }
  }

  /// Whether the transaction deletes expired documents of the collections that it writes to: a few at the first use of
  /// a collection, and each whose key or row ID it writes. The store removes the references to them before it adds new
  /// ones to documents that reuse their keys.
  package var sweeps = false
  /// Whether all expired documents of a collection stay when its rule changes or a unique index could reject a document
  /// because of one. The store deletes them later, with the references to them. Only for SQLite, the engine of
  /// encrypted stores.
  package var keepsExpired = false
  /// The deleted documents that the store has not removed the references to. Rolling back to a savepoint, which
  /// restores the documents and the references, restores the list.
  package var swept: [Swept] = []
  /// The earliest expiration that the transaction has set.
  package var earliest: Int64?

  package init() {}

  /// Records that a document will expire.
  package mutating func note(_ time: Int64?) {
    guard let time else { return }
    earliest = min(earliest ?? time, time)
  }

  /// The maximum number of expired documents that the first use of a collection deletes. Arbitrary: a step that delays
  /// the write by about a millisecond.
  package static let step = 100
}
