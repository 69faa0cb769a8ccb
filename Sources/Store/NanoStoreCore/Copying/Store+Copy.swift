// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine

extension Store {
  /// Copies everything into another store, whatever the engines of the two, and compares both.
  ///
  /// ```swift
  /// let report = try library.copy(to: archive) { print($0.phase, $0.documents, $0.total) }
  /// report.copied     // 42
  /// ```
  ///
  /// Documents keep their keys, row ids, classes, versions, moments and bytes; collections their identity,
  /// indexes that were declared, text indexes, policy, defaults, aliases and queryable fields; bags and
  /// metadata are copied too. Revisions begin anew, indexes that the store made by itself do not come along,
  /// and a document of another program that has no moment gets 1970-01-01. Row ids of removed documents are
  /// not given again, as far as the source's engine tells them.
  ///
  /// The source is read as it is at this moment and may be written to meanwhile, where its engine can do both
  /// at once; otherwise writers wait. The target is written in many transactions: it belongs to the copy until the
  /// call has returned. When it ends before that, by an error or the end of the process, calling it again goes on
  /// with the source as it is then. Documents that are there and are the same stay, others are replaced.
  ///
  /// - Parameters:
  ///   - target: A store that holds nothing, or a copy of this store that was not completed. One that is equal
  ///     to this store is a copy that was completed: nothing is written. What is buffered in both is written first.
  ///   - progress: Called after each transaction, outside of it. It must not use the stores; an error that it
  ///     throws ends the call.
  /// - Returns: What was copied; its ``CopyReport/isEqual`` is true.
  /// - Throws: ``StoreError/Code/alreadyExists`` if the target holds something else and must not be replaced,
  ///   ``StoreError/Code/unsupported`` for a definition that its engine does not have,
  ///   ``StoreError/Code/invalidArgument`` if both are one store, a batch is empty, or the source is itself an
  ///   unfinished copy: the target is as it was. ``StoreError/Code/database`` if the two differ in the end, as
  ///   when somebody else wrote to the target; calling this again mends it.
  ///   ``StoreError/Code/corruptDocument`` with the row id of one that does not decode, and errors of reading and
  ///   writing: the target has a part of the documents.
  @discardableResult
  public func copy(
    to target: Store, _ options: CopyOptions = CopyOptions(),
    progress: ((CopyProgress) throws -> Void)? = nil
  ) throws -> CopyReport {
    try options.validate()
    let (from, to) = try engines(with: target)
    if options.replacing { try requireOtherDatabase(from, to) }
    defer { target.noteDroppedDefinition() }
    return try from.read(.snapshot, nil) { source in
      try StoreCopy(source, to, options, progress).run()
    }
  }
  @discardableResult
  public func copy(
    to target: Store, _ options: CopyOptions = CopyOptions(),
    progress: (@Sendable (CopyProgress) throws -> Void)? = nil
  ) async throws -> CopyReport {
    try await apart(progress) { try self.copy(to: target, options, progress: $0) }
  }

  /// Compares everything that `copy` copies, and writes nothing.
  ///
  /// ```swift
  /// try library.compare(with: archive).isEqual     // true
  /// ```
  ///
  /// Each store is read as it is at one moment, about the same for both.
  ///
  /// - Parameter progress: As in `copy`.
  /// - Returns: How they differ, which is no error.
  /// - Throws: ``StoreError/Code/invalidArgument`` if both are one store; errors of reading.
  public func compare(
    with target: Store, progress: ((CopyProgress) throws -> Void)? = nil
  ) throws -> CopyReport {
    let (from, to) = try engines(with: target)
    return try from.read(.snapshot, nil) { source in
      try to.read(.snapshot, nil) { target in
        try StoreComparison(source, target, progress).run()
      }
    }
  }
  public func compare(
    with target: Store, progress: (@Sendable (CopyProgress) throws -> Void)? = nil
  ) async throws -> CopyReport {
    try await apart(progress) { try self.compare(with: target, progress: $0) }
  }
}

extension Store {
  /// Runs on a thread of its own; cancelling the task ends it at the next progress.
  private func apart(
    _ progress: (@Sendable (CopyProgress) throws -> Void)?,
    _ work:
      @escaping @Sendable (@escaping @Sendable (CopyProgress) throws -> Void) throws ->
      CopyReport
  ) async throws -> CopyReport {
    let interruption = Interruption()
    return try await withTaskCancellationHandler {
      try await scheduler.run {
        try work { done in
          if interruption.isTriggered { throw CancellationError() }
          try progress?(done)
        }
      }
    } onCancel: {
      interruption.trigger()
    }
  }

  /// The engines of both stores, to which everything is written.
  private func engines(with target: Store) throws -> (any Engine, any Engine) {
    try requireNoTransaction()
    try target.requireNoTransaction()
    guard self !== target, !isFile(of: target) else { throw Self.isSame }
    try flush()
    try target.flush()
    return (try engine(), try target.engine())
  }

  /// Whether both are one file, by whatever names.
  private func isFile(of other: Store) -> Bool {
    guard let file, let otherFile = other.file else { return false }
    if file == otherFile { return true }
    func place(_ path: String) -> [Int?] {
      let attributes = try? FileManager.default.attributesOfItem(
        atPath: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
      return [.systemNumber, .systemFileNumber].map { attributes?[$0] as? Int }
    }
    let found = place(file)
    return !found.contains(nil) && found == place(otherFile)
  }

  /// Two addresses may lead to one database, whose collections would be removed before they are read: what is
  /// written to the target must not be seen in the source.
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
