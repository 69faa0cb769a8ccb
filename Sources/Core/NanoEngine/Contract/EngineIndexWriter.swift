// SPDX-License-Identifier: MIT

/// The indexes of a transaction.
package protocol EngineIndexWriter: AnyObject {
  /// Creates an index; does nothing if the same index exists.
  ///
  /// A declared index replaces an adaptive one: if the definitions are the same, the index is kept without being
  /// rebuilt; a different adaptive index with the same name is dropped.
  ///
  /// - Throws: ``StoreError/Code/alreadyExists`` if a different index has the name;
  ///   ``StoreError/Code/uniqueViolation`` if stored documents have equal values; ``StoreError/Code/unsupported`` for
  ///   an index that the engine cannot create; ``StoreError/Code/corruptDocument``,
  ///   ``StoreError/Code/invalidArgument``, ``StoreError/Code/invalidName``, ``StoreError/Code/invalidPath``.
  func createIndex(_ index: IndexDefinition, in collection: String) throws
  /// Drops an index of any kind, full-text indexes included, and returns whether it existed.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` inside a progress closure of the transaction.
  func dropIndex(_ name: String, in collection: String) throws -> Bool

  /// Creates a full-text index; does nothing if the same index exists.
  ///
  /// - Throws: ``StoreError/Code/alreadyExists`` if a different index has the name, ``StoreError/Code/unsupported``
  ///   without ``Capabilities/fullTextIndexes``; ``StoreError/Code/corruptDocument``, ``StoreError/Code/invalidArgument``,
  ///   ``StoreError/Code/invalidName``, ``StoreError/Code/invalidPath``.
  func createFullTextIndex(_ index: FullTextIndexDefinition, in collection: String) throws

  /// Sets what is indexed, for existing and future documents. Query results do not depend on it.
  ///
  /// - Parameter progress: Called with values from 0 to 1. It must not use the store; an error that it throws
  ///   rolls back the change.
  /// - Throws: ``StoreError/Code/unsupported`` for a policy that the engine does not support;
  ///   ``StoreError/Code/corruptDocument``, ``StoreError/Code/invalidArgument``, ``StoreError/Code/invalidName``.
  func setIndexing(
    _ policy: IndexingPolicy, in collection: String, _ progress: ((Double) throws -> Void)?
  ) throws

  /// Rebuilds every index of a collection, for use after damage or writes by other programs.
  ///
  /// - Parameter progress: As in ``setIndexing(_:in:_:)``.
  /// - Throws: ``StoreError/Code/corruptDocument``, ``StoreError/Code/invalidArgument``,
  ///   ``StoreError/Code/uniqueViolation``.
  func rebuildIndexes(in collection: String, _ progress: ((Double) throws -> Void)?) throws

  /// Drops every index of a collection, resets its policy to ``IndexingPolicy/declared``, and returns the number
  /// of dropped definitions.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` inside a progress closure of the transaction.
  @discardableResult
  func dropIndexes(in collection: String) throws -> Int
}
