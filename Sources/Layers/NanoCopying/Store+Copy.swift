// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
public import NanoStoreCore

extension Store {
  /// Copies everything to another store, whatever the engines of the two, and verifies the copy.
  ///
  /// ```swift
  /// let report = try library.copy(to: archive) { print($0.phase, $0.documents, $0.total) }
  /// report.copied     // 42
  /// ```
  ///
  /// Documents keep their keys, row IDs, classes, versions, insertion times and bytes. Collections
  /// keep their identity, declared indexes, full-text indexes, indexing policy, defaults, aliases
  /// and queryable fields. Bags and metadata are copied too. Revisions start over, adaptive indexes
  /// are not copied, and a document of another program without an insertion time gets 1970-01-01.
  /// Row IDs of deleted documents are not reused, as far as the source's engine reports them.
  ///
  /// The source is read from one snapshot. If its engine supports concurrent reads and writes, it
  /// can be written to meanwhile; otherwise writers wait. The target is written in many
  /// transactions and must not be used otherwise until the call returns. If the call ends early, by
  /// an error or the end of the process, calling it again resumes the copy from the source's
  /// current state: documents that are already equal are kept, others replaced.
  ///
  /// - Parameters:
  ///   - target: An empty store, or an unfinished copy of this store. A target that equals this
  ///     store is a completed copy: nothing is written. Buffered documents of both stores are
  ///     written first.
  ///   - options: Options for the copy.
  ///   - progress: Called after each transaction, outside of it. It must not use the stores. If it
  ///     throws, the call ends.
  /// - Returns: A report of what was copied; its ``CopyReport/isEqual`` is true.
  /// - Throws: ``StoreError/Code/alreadyExists`` if the target holds other contents and must not be
  ///   replaced, ``StoreError/Code/unsupported`` for a definition that its engine does not support,
  ///   ``StoreError/Code/invalidArgument`` if both are the same store, a batch size is not
  ///   positive, or the source itself is an unfinished copy: the target is unchanged.
  ///   ``StoreError/Code/database`` if the two differ in the end, for example because another
  ///   program wrote to the target; calling this again repairs the copy.
  ///   ``StoreError/Code/corruptDocument`` with the row ID of a document that does not decode, and
  ///   errors of reading and writing: the target holds part of the documents.
  @discardableResult
  public func copy(
    to target: Store, _ options: CopyOptions = CopyOptions(),
    progress: ((CopyProgress) throws -> Void)? = nil
  ) throws -> CopyReport {
    try options.validate()
    let (from, to) = try engines(with: target)
    if options.replacing { try requireOtherDatabase(from, to) }
    defer {
      target.noteDroppedDefinition()
      if to.hasExpirations { target.noteExpirations() }
    }
    return try from.read(.snapshot, nil) { source in
      try StoreCopy(source, to, options, progress, now: Self.clock(from, to)).run()
    }
  }
  /// The asynchronous form of `copy(to:_:progress:)`, which does not block the calling thread.
  /// Canceling the task ends the call at the next progress report.
  @discardableResult
  public func copy(
    to target: Store, _ options: CopyOptions = CopyOptions(),
    progress: (@Sendable (CopyProgress) throws -> Void)? = nil
  ) async throws -> CopyReport {
    try await onDedicatedThread(progress) { try self.copy(to: target, options, progress: $0) }
  }

  /// Compares everything that `copy` copies, without writing.
  ///
  /// ```swift
  /// try library.compare(with: archive).isEqual     // true
  /// ```
  ///
  /// Each store is read from one snapshot, taken at about the same time. Documents that expire meanwhile count as
  /// absent from both.
  ///
  /// - Parameters:
  ///   - target: The other store.
  ///   - progress: As in `copy`.
  /// - Returns: The differences, which are not an error.
  /// - Throws: ``StoreError/Code/invalidArgument`` if both are the same store; errors of reading.
  public func compare(
    with target: Store, progress: ((CopyProgress) throws -> Void)? = nil
  ) throws -> CopyReport {
    let (from, to) = try engines(with: target)
    return try from.read(.snapshot, nil) { source in
      try to.read(.snapshot, nil) { target in
        try StoreComparison(source, target, progress, now: Self.clock(from, to)).run()
      }
    }
  }
  /// The asynchronous form of `compare(with:progress:)`, which does not block the calling thread.
  /// Canceling the task ends the call at the next progress report.
  public func compare(
    with target: Store, progress: (@Sendable (CopyProgress) throws -> Void)? = nil
  ) async throws -> CopyReport {
    try await onDedicatedThread(progress) { try self.compare(with: target, progress: $0) }
  }
}

extension Store {
  /// Runs work on a dedicated thread. Canceling the task ends it at the next progress report.
  private func onDedicatedThread(
    _ progress: (@Sendable (CopyProgress) throws -> Void)?,
    _ work:
      @escaping @Sendable (@escaping @Sendable (CopyProgress) throws -> Void) throws ->
      CopyReport
  ) async throws -> CopyReport {
    let interruption = Interruption()
    return try await withTaskCancellationHandler {
      try await onMaintenanceThread {
        try work { done in
          if interruption.isTriggered { throw CancellationError() }
          try progress?(done)
        }
      }
    } onCancel: {
      interruption.trigger()
    }
  }

  /// Returns the engines of both stores, after flushing buffered documents.
  private func engines(with target: Store) throws -> (any Engine, any Engine) {
    try requireNoTransaction()
    try target.requireNoTransaction()
    guard self !== target, !isFile(of: target) else { throw Self.isSame }
    try flush()
    try target.flush()
    return (try engine(), try target.engine())
  }

  /// Whether both stores use the same file, by whatever path.
  private func isFile(of other: Store) -> Bool {
    guard let file, let otherFile = other.file else { return false }
    if file == otherFile { return true }
    func identity(_ path: String) -> [Int?] {
      let attributes = try? FileManager.default.attributesOfItem(
        atPath: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
      return [.systemNumber, .systemFileNumber].map { attributes?[$0] as? Int }
    }
    let found = identity(file)
    return !found.contains(nil) && found == identity(otherFile)
  }

  /// Returns the clock that is ahead: what has expired by either of them has expired by it.
  private static func clock(_ a: any Engine, _ b: any Engine) -> () -> Int64 {
    return { max(a.clock.now(), b.clock.now()) }
  }

  /// Rejects two addresses of the same database, whose collections would be dropped before they are
  /// read. A value written to the target must not become visible in the source.
  private func requireOtherDatabase(_ source: any Engine, _ target: any Engine) throws {
    guard source !== target else { throw Self.isSame }
    let probe = DocumentValue.int(.random(in: .min ... .max))
    let before = try target.write(nil) { writer in
      let before = try writer.metadata(CopyCheckpoint.name)
      try writer.setMetadata(probe, CopyCheckpoint.name)
      return before
    }
    let isSeen = Result {
      try source.read(.call, nil) { try $0.metadata(CopyCheckpoint.name) == probe }
    }
    try target.write(nil) { try $0.setMetadata(before, CopyCheckpoint.name) }
    if try isSeen.get() { throw Self.isSame }
  }

  private static let isSame = StoreError(
    .invalidArgument, "A store cannot be copied into itself or compared with itself")
}
