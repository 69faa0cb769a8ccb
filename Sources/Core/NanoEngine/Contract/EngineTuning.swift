// SPDX-License-Identifier: MIT

/// What adaptive indexing reads: indexes in progress, and the store layer's records.
package protocol EngineTuningReader: AnyObject {
  /// Returns the indexes that ``EngineTuningWriter/beginIndex(_:in:)`` began and that are not complete. They appear in
  /// no other list, and no query uses them.
  func unfinishedIndexes() throws -> [PendingIndex]
  /// Returns the records stored by ``EngineTuningWriter/setIndexCostRecords(_:of:)``.
  func indexCostRecords() throws -> [IndexCostRecord]
}

/// What adaptive indexing writes.
package protocol EngineTuningWriter: AnyObject {
  /// Begins an index that ``continueIndex(_:in:documents:)`` fills, and returns whether it is already complete,
  /// as it is in engines that create indexes of this kind in one step.
  ///
  /// - Throws: ``StoreError/Code/alreadyExists``, ``StoreError/Code/corruptDocument``,
  ///   ``StoreError/Code/invalidArgument``, ``StoreError/Code/invalidName``, ``StoreError/Code/invalidPath``,
  ///   ``StoreError/Code/uniqueViolation``, ``StoreError/Code/unsupported``.
  func beginIndex(_ index: IndexDefinition, in collection: String) throws -> Bool

  /// Adds up to the given number of documents to an index that was begun, and returns whether the index is
  /// complete. Queries use it once it is complete.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``, ``StoreError/Code/invalidArgument``.
  func continueIndex(_ name: String, in collection: String, documents: Int) throws -> Bool

  /// Stores the store layer's records about possible indexes of a collection, replacing the previous ones. They
  /// are dropped with the collection.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` inside a progress closure of the transaction.
  func setIndexCostRecords(_ rows: [IndexCostRecord], of collection: String) throws
}
