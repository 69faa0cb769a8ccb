// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

extension Store {
  /// The number of saved documents that are buffered and then written in one transaction.
  ///
  /// With 1, the default, every save is written immediately. With a larger value, saves outside of
  /// transactions stay in memory until that many are buffered, ``flush()`` is called, the store is
  /// closed, or anything else is written. Queries of this store see them; change feeds, live queries
  /// and other connections do not, and they are lost if the process is killed.
  ///
  /// A document that is saved again counts once, unless others of its collection were saved in between.
  ///
  /// Values below 1 count as 1, and all do once the store has had an `ObjectContext`. A query while documents are
  /// buffered costs as much as writing them, so for bulk loads prefer ``DocumentCollection/save(_:)-([Document])``.
  ///
  /// A save with a key that throws because the buffer could not be written stays in the buffer.
  public var saveInterval: Int {
    get { withPending(\.interval) }
    set { withPending { $0.interval = max(1, newValue) } }
  }

  /// Ends the buffering of saves. Reads that see buffered saves roll them back, so that their row IDs and revisions are
  /// given to others; an object would be taken for a document that it is not.
  package func writeSavesImmediately() {
    withPending { $0.isAllowed = false }
    // If it fails, as it will again, the next write throws the error.
    try? flush()
  }

  /// Whether queries of this store see buffered documents that are not written yet.
  ///
  /// The default is true. If false, queries read only what is written, like other connections.
  public var showsUnsavedChanges: Bool {
    get { withPending(\.isShown) }
    set { withPending { $0.isShown = newValue } }
  }

  /// Whether there are buffered documents that are not written yet.
  public var hasUnsavedChanges: Bool { withPending { !$0.isEmpty } }

  /// Writes the buffered documents in one transaction.
  ///
  /// - Throws: ``StoreError``, for example for a unique index. Nothing was written, and the
  ///   documents stay buffered: save corrected ones, or call ``discardUnsavedChanges()``. After
  ///   ``StoreError/Code/outcomeUnknown``, they may have been written.
  public func flush() throws {
    _ = try engine()
    guard hasUnsavedChanges, TransactionContext.current(of: self) == nil else { return }
    try flushing.withLock { _ in
      let entries = withPending(\.entries)
      guard !entries.isEmpty else { return }
      var earliest: Int64?
      // Repeating saves is idempotent.
      try retrying(outcomeUnknown: true) {
        do {
          try engine().write(nil) { writer in
            withPending { $0.isBeingWritten = true }
            try sweeping(&earliest, writer) { try entries.write(to: $0) }
          }
        } catch {
          withPending { $0.isBeingWritten = false }
          throw error
        }
      }
      if let earliest { sweeper.note(earliest) }
      withPending {
        $0.remove(entries)
        $0.isBeingWritten = false
      }
    }
  }
  /// The asynchronous form of `flush()`, which does not block the calling thread.
  public func flush() async throws { try await scheduler.run { try self.flush() } }

  /// Waits until the buffered documents are written that another thread is writing.
  func waitForFlush() { flushing.withLock { _ in } }

  /// Discards buffered documents that are not written yet.
  public func discardUnsavedChanges() { withPending { $0.removeAll() } }

  /// Runs a read that sees buffered documents: they are written, read, and rolled back.
  func readWithBufferedSaves<Result>(
    _ scope: ReadScope, _ work: (any EngineReader) throws -> Result
  ) throws -> Result {
    guard withPending({ $0.isShown && !$0.isEmpty }) else {
      return try engine().read(scope, Interruption.current, work)
    }
    var result: Result?
    do {
      try engine().write(Interruption.current) { writer in
        writer.expiry.sweeps = true
        // Those that another thread has written meanwhile may have been changed or deleted since.
        let entries = withPending { $0.isShown ? $0.entries : [] }
        try removingSweptReferences(writer) { try entries.write(to: $0) }
        result = try work(writer)
        throw Undone()
      }
    } catch is Undone {
      guard let result else { throw StoreError(.database, "A read returned no result") }
      return result
    }
    throw StoreError(.database, "A read returned no result")
  }

  private struct Undone: Error {}
}
