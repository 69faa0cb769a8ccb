// SPDX-License-Identifier: MIT

public import NanoEngine

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

  /// Rebuilds every index, for example after damage or after many writes by other programs.
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

  /// Drops every index, resets the policy to ``IndexingPolicy/declared``, and returns the number of
  /// dropped indexes.
  @discardableResult
  public func dropIndexes() throws -> Int {
    try InternalCollection.refuse(name)
    defer { store.noteDroppedDefinition() }
    return try writing(atomic: true) { try $0.dropIndexes(in: name) }
  }
  /// The asynchronous form of `dropIndexes()`, which does not block the calling thread.
  @discardableResult
  public func dropIndexes() async throws -> Int {
    try await onWriter { try self.dropIndexes() }
  }

  /// Runs a write that is not retried after a failure, because progress has already been reported
  /// to the caller.
  private func onWriterAlone(_ work: @escaping @Sendable () throws -> Void) async throws {
    try await onWriter(repeatable: false, work)
  }
}
