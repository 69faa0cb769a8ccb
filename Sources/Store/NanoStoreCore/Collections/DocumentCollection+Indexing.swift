// SPDX-License-Identifier: MIT

public import NanoEngine

extension DocumentCollection {
  /// Says what of the collection is indexed, for the documents that are there and those to come.
  ///
  /// ```swift
  /// try films.setIndexing(.everything)
  /// try films.find(.leaf(Field(.element) == "Barcelona")).fetch()   // a look-up, wherever it stands
  /// ```
  ///
  /// With ``IndexingPolicy/everything`` a search by value over any attribute is a look-up, and so is
  /// a comparison of any field, lists included; writes cost several times as much. No answer
  /// changes. Cancelling the task undoes the change.
  ///
  /// - Parameter progress: Called with 0...1. It cannot use the store; what it throws ends the call
  ///   and undoes the change.
  /// - Throws: ``StoreError/Code/unsupported`` if the engine cannot index everything. Nothing has
  ///   changed.
  public func setIndexing(
    _ policy: IndexingPolicy, progress: ((Double) throws -> Void)? = nil
  ) throws {
    try InternalCollection.refuse(name)
    try writing(atomic: true) { try $0.setIndexing(policy, in: name, progress) }
  }
  public func setIndexing(
    _ policy: IndexingPolicy, progress: (@Sendable (Double) throws -> Void)? = nil
  ) async throws {
    try await onWriterAlone { try self.setIndexing(policy, progress: progress) }
  }

  /// What of the collection is indexed beside what indexes were made for.
  public func indexing() throws -> IndexingPolicy {
    try reading(.call) { try $0.indexing(in: name) }
  }
  public func indexing() async throws -> IndexingPolicy {
    try await onReader { try self.indexing() }
  }

  /// Makes every index anew, as may be wanted after damage or where other programs wrote much.
  ///
  /// - Parameter progress: As in ``setIndexing(_:progress:)-(_,((Double)->Void)?)``.
  /// - Throws: ``StoreError/Code/uniqueViolation`` if another program removed a unique index and
  ///   stored equal values. The indexes are as they were.
  public func rebuildIndexes(progress: ((Double) throws -> Void)? = nil) throws {
    try writing(atomic: true) { try $0.rebuildIndexes(in: name, progress) }
  }
  public func rebuildIndexes(
    progress: (@Sendable (Double) throws -> Void)? = nil
  ) async throws {
    try await onWriterAlone { try self.rebuildIndexes(progress: progress) }
  }

  /// Removes every index, goes back to ``IndexingPolicy/declared``, and says how many indexes there
  /// were.
  @discardableResult
  public func dropIndexes() throws -> Int {
    try InternalCollection.refuse(name)
    defer { store.noteDroppedDefinition() }
    return try writing(atomic: true) { try $0.dropIndexes(in: name) }
  }
  @discardableResult
  public func dropIndexes() async throws -> Int {
    try await onWriter { try self.dropIndexes() }
  }

  /// Not tried again after a failure, since the caller has been told of progress.
  private func onWriterAlone(_ work: @escaping @Sendable () throws -> Void) async throws {
    try await onWriter(repeatable: false, work)
  }
}
