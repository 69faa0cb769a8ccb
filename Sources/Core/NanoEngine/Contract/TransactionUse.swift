// SPDX-License-Identifier: MIT

package import NanoDocument

/// What a transaction is about to use of a collection; see ``EngineDocumentWriter/prepare(_:)``.
package struct TransactionUse: Sendable {
  package var collection: String
  /// The keys of the documents that it reads or writes; `nil` for queries, which read the whole collection.
  package var keys: [DocumentKey]?
  /// The row IDs of the documents that it reads or writes, if it uses no keys.
  package private(set) var rowIDs: [Int64] = []
  /// Whether no other transaction may write to the collection until this one ends, whatever the isolation.
  package private(set) var isExclusive = false
  /// The number of new documents without a key among ``keys``.
  package var newDocuments: Int

  package init(_ collection: String, keys: [DocumentKey]?, newDocuments: Int = 0) {
    self.collection = collection
    self.keys = keys
    self.newDocuments = newDocuments
  }

  package init(exclusive collection: String) {
    self.init(collection, keys: nil)
    isExclusive = true
  }

  package init(_ collection: String, rowIDs: [Int64]) {
    self.init(collection, keys: [])
    self.rowIDs = rowIDs
  }
}
