// SPDX-License-Identifier: MIT

package import NanoDocument
public import NanoEngine

extension Store {
  /// Deletes the content of attachments that no document refers to, and returns unused space to the
  /// file system. Temporarily needs as much free space as the database occupies.
  ///
  /// - Parameter attachmentLease: How long content that ``addAttachment(_:contentType:)-(AttachmentSource,_)`` stored
  ///   is kept although no document refers to it, while the process that added it is running.
  public func compact(attachmentLease: Duration = .seconds(3_600)) throws {
    try outsideTransaction { engine in
      let isLocal = file != nil || !engine.capabilities.contains(.durable)
      try BlobCollector(engine, isLocal: isLocal, lease: attachmentLease).run()
      try engine.compact()
    }
  }
  /// The asynchronous form of `compact(attachmentLease:)`, which does not block the calling thread.
  public func compact(attachmentLease: Duration = .seconds(3_600)) async throws {
    try await scheduler.run { try self.compact(attachmentLease: attachmentLease) }
  }

  /// Copies the database to a file while it stays in use.
  ///
  /// The copy is a snapshot of the store and is created atomically: it is complete or does not
  /// exist.
  ///
  /// - Parameters:
  ///   - path: A file, or a folder. In a folder, the copy has the name of the store's file, or
  ///     "store.db" if the store has none. A leading tilde is expanded.
  ///   - replacing: Whether an existing file may be replaced.
  ///   - progress: Called with values from 0 to 1. If it throws, the backup ends and leaves nothing
  ///     behind.
  /// - Throws: ``StoreError/Code/alreadyExists`` if a file exists and must not be replaced.
  public func backup(
    to path: String, replacing: Bool = false, progress: ((Double) throws -> Void)? = nil
  ) throws {
    try outsideTransaction {
      try $0.backup(
        to: BackupDestination(path: path, replacing: replacing), progress: progress)
    }
  }
  /// The asynchronous form of `backup(to:replacing:progress:)`, which does not block the calling
  /// thread.
  ///
  /// Canceling the task ends the backup, throws `CancellationError` and leaves nothing behind.
  public func backup(
    to path: String, replacing: Bool = false,
    progress: (@Sendable (Double) throws -> Void)? = nil
  ) async throws {
    let interruption = Interruption()
    try await withTaskCancellationHandler {
      try await scheduler.run {
        try self.backup(to: path, replacing: replacing) { done in
          if interruption.isTriggered { throw CancellationError() }
          try progress?(done)
        }
      }
    } onCancel: {
      interruption.trigger()
    }
  }

  /// Returns the problems found in the database: damage, indexes that disagree with the documents, and attachments
  /// whose content is damaged or missing. Empty if there are none.
  public func verify() throws -> [VerificationProblem] {
    try outsideTransaction { engine in
      let problems = try engine.verify()
      guard engine.capabilities.contains(.blobs) else { return problems }
      return try problems
        + engine.read(.snapshot, Interruption.current) { try BlobVerification($0).problems() }
    }
  }
  /// The asynchronous form of `verify()`, which does not block the calling thread.
  public func verify() async throws -> [VerificationProblem] {
    try await scheduler.run { try self.verify() }
  }

  /// Returns sizes, counts and settings of the database.
  public func statistics() throws -> EngineStatistics {
    var statistics = try outsideTransaction { try $0.statistics() }
    statistics.collections.removeAll { InternalCollection(named: $0.name) != nil }
    return statistics
  }
  /// The asynchronous form of `statistics()`, which does not block the calling thread.
  public func statistics() async throws -> EngineStatistics {
    try await scheduler.run { try self.statistics() }
  }

  /// Runs long work on a thread of its own, beside reads and writes.
  package func onMaintenanceThread<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await scheduler.run(work)
  }

  func outsideTransaction<Result>(
    _ work: (any Engine) throws -> Result
  ) throws -> Result {
    try requireNoTransaction()
    waitForQueued()
    try flush()
    return try work(engine())
  }

  package func requireNoTransaction() throws(StoreError) {
    guard TransactionContext.current(of: self) == nil else {
      throw StoreError(
        .invalidArgument, "This operation is not allowed inside a transaction",
        [.hint: "call it outside of read and write blocks"])
    }
  }
}
