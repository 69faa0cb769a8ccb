// SPDX-License-Identifier: MIT

public import NanoEngine

/// The definitions of the indexes that ``DocumentCollection/dropIndexes()-()`` dropped.
public struct DroppedIndexes: Sendable, Hashable {
  /// The indexes on fields, declared and adaptive.
  public var fields: [IndexDefinition]
  /// The full-text indexes.
  public var fullText: [FullTextIndexDefinition]
  /// The indexing policy.
  public var policy: IndexingPolicy
  /// The number of indexes.
  public var count: Int { fields.count + fullText.count }
}

extension DocumentCollection {
  /// Sets the indexing policy of the collection, for existing and future documents.
  ///
  /// ```swift
  /// try films.setIndexing(.everything)
  /// try films.find(.leaf(Field(.element) == "Barcelona")).fetch()   // an index lookup, at any depth
  /// ```
  ///
  /// With ``IndexingPolicy/everything``, searching for a value in any attribute and comparing any
  /// field, including arrays, use an index; writes cost several times as much. Query results do not
  /// change. Canceling the task undoes the change.
  ///
  /// - Parameters:
  ///   - policy: The new policy.
  ///   - progress: Called with values from 0 to 1. It cannot use the store. If it throws, the call
  ///     ends and the change is undone.
  /// - Throws: ``StoreError/Code/unsupported`` if the engine cannot index everything. Nothing has
  ///   changed.
  public func setIndexing(
    _ policy: IndexingPolicy, progress: ((Double) throws -> Void)? = nil
  ) throws {
    try InternalCollection.refuse(name)
    try writing(atomic: true) { try $0.setIndexing(policy, in: name, progress) }
  }
  /// The asynchronous form of `setIndexing(_:progress:)`, which does not block the calling thread.
  public func setIndexing(
    _ policy: IndexingPolicy, progress: (@Sendable (Double) throws -> Void)? = nil
  ) async throws {
    try await onWriterAlone { try self.setIndexing(policy, progress: progress) }
  }

  /// Returns the indexing policy: what is indexed in addition to the declared indexes.
  public func indexing() throws -> IndexingPolicy {
    try reading(.call) { try $0.indexing(in: name) }
  }
  /// The asynchronous form of `indexing()`, which does not block the calling thread.
  public func indexing() async throws -> IndexingPolicy {
    try await onReader { try self.indexing() }
  }

  /// Rebuilds every index, for example after damage or after many writes by other programs. In a file, also replaces
  /// triggers of the collection that differ from those that the store would create, as ``Store/verify()-()`` reports.
  ///
  /// - Parameter progress: As in ``setIndexing(_:progress:)-(_,((Double)->Void)?)``.
  /// - Throws: ``StoreError/Code/uniqueViolation`` if another program dropped a unique index and
  ///   stored equal values. The indexes are unchanged.
  public func rebuildIndexes(progress: ((Double) throws -> Void)? = nil) throws {
    try writing(atomic: true) { try $0.rebuildIndexes(in: name, progress) }
  }
  /// The asynchronous form of `rebuildIndexes(progress:)`, which does not block the calling thread.
  public func rebuildIndexes(
    progress: (@Sendable (Double) throws -> Void)? = nil
  ) async throws {
    try await onWriterAlone { try self.rebuildIndexes(progress: progress) }
  }

  /// Drops every index, resets the policy to ``IndexingPolicy/declared``, and returns what
  /// ``restoreIndexes(_:progress:)-(_,((Double)->Void)?)`` needs to bring them back.
  ///
  /// ```swift
  /// let dropped = try films.dropIndexes()      // dropped.count is 2
  /// try films.insert(millions)                 // faster than with indexes
  /// try films.restoreIndexes(dropped)
  /// ```
  ///
  /// The result is in memory only: if the process ends before the indexes are restored, declare them
  /// again.
  @discardableResult
  public func dropIndexes() throws -> DroppedIndexes {
    try InternalCollection.refuse(name)
    defer { store.noteDroppedDefinition() }
    return try writing(atomic: true) { writer in
      let dropped = DroppedIndexes(
        fields: try writer.indexes(in: name), fullText: try writer.fullTextIndexes(in: name),
        policy: try writer.indexing(in: name))
      _ = try writer.dropIndexes(in: name)
      return dropped
    }
  }
  /// The asynchronous form of `dropIndexes()`, which does not block the calling thread.
  @discardableResult
  public func dropIndexes() async throws -> DroppedIndexes {
    try await onWriter { try self.dropIndexes() }
  }

  /// Creates the indexes that ``dropIndexes()-()`` dropped, and sets the policy that it reset.
  ///
  /// Indexes that exist again are kept.
  ///
  /// - Parameters:
  ///   - dropped: The result of `dropIndexes()`, also of another collection with the same fields.
  ///   - progress: As in ``setIndexing(_:progress:)-(_,((Double)->Void)?)``; it covers the index of
  ///     ``IndexingPolicy/everything``.
  /// - Throws: ``StoreError/Code/uniqueViolation`` if documents stored in the meantime violate a
  ///   unique index, ``StoreError/Code/alreadyExists`` if a different index has the name of one of
  ///   them. No index was created.
  public func restoreIndexes(
    _ dropped: DroppedIndexes, progress: ((Double) throws -> Void)? = nil
  ) throws {
    try InternalCollection.refuse(name)
    try writing(atomic: true) { writer in
      for index in dropped.fields { try writer.createIndex(index, in: name) }
      for index in dropped.fullText { try writer.createFullTextIndex(index, in: name) }
      guard try writer.indexing(in: name) != dropped.policy else { return }
      try writer.setIndexing(dropped.policy, in: name, progress)
    }
  }
  /// The asynchronous form of `restoreIndexes(_:progress:)`, which does not block the calling
  /// thread.
  public func restoreIndexes(
    _ dropped: DroppedIndexes, progress: (@Sendable (Double) throws -> Void)? = nil
  ) async throws {
    try await onWriterAlone { try self.restoreIndexes(dropped, progress: progress) }
  }

  /// Runs a write that is not retried after a failure, because progress has already been reported
  /// to the caller.
  private func onWriterAlone(_ work: @escaping @Sendable () throws -> Void) async throws {
    try await onWriter(repeatable: false, work)
  }
}
