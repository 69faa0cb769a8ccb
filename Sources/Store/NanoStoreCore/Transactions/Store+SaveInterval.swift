// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

extension Store {
  /// How many saved documents are collected before they are written, all in one transaction.
  ///
  /// With 1, the default, every save is written at once. With more, saves outside of transactions
  /// are kept in memory until so many are there, ``flush()`` is called, the store is closed, or
  /// anything else is written. Queries of this store see them all the same; other connections do
  /// not, and a killed process loses them.
  ///
  /// Values below 1 count as 1. A query while documents are collected costs as much as writing
  /// them, so for bulk loads ``DocumentCollection/save(_:)-(Values)`` is the better way.
  public var saveInterval: Int {
    get { withPending(\.interval) }
    set { withPending { $0.interval = max(1, newValue) } }
  }

  /// Whether queries of this store see what is collected and not written yet. True unless set, so
  /// that what was saved is found; false reads only what is written, as other connections do.
  public var showsUnsavedChanges: Bool {
    get { withPending(\.isShown) }
    set { withPending { $0.isShown = newValue } }
  }

  /// Whether saved documents are not written yet.
  public var hasUnsavedChanges: Bool { withPending { !$0.isEmpty } }

  /// Writes what was collected, in one transaction.
  ///
  /// - Throws: ``StoreError``, for a unique index for example. Nothing of it was written, and it is
  ///   still collected: mend it by saving again, or ``discardUnsavedChanges()``.
  public func flush() throws {
    _ = try engine()
    guard hasUnsavedChanges, TransactionContext.current(of: self) == nil else { return }
    try flushing.withLock { _ in
      let entries = withPending(\.entries)
      guard !entries.isEmpty else { return }
      try engine().write(nil) { writer in
        for entry in entries { try entry.write(to: writer) }
      }
      withPending { $0.remove(entries) }
    }
  }
  public func flush() async throws { try await scheduler.run { try self.flush() } }

  /// Forgets what was collected and is not written yet.
  public func discardUnsavedChanges() { withPending { $0.removeAll() } }

  /// Runs a read that sees what is collected: it is written, read, and undone.
  func withBuffered<Result>(
    _ scope: ReadScope, _ work: (any EngineReader) throws -> Result
  ) throws -> Result {
    let entries = withPending { $0.isShown ? $0.entries : [] }
    guard !entries.isEmpty else {
      return try engine().read(scope, Interruption.current, work)
    }
    var result: Result?
    do {
      try engine().write(Interruption.current) { writer in
        for entry in entries { try entry.write(to: writer) }
        result = try work(writer)
        throw Undone()
      }
    } catch is Undone {
      guard let result else { throw StoreError(.database, "A read gave no result") }
      return result
    }
    throw StoreError(.database, "A read gave no result")
  }

  private struct Undone: Error {}
}
