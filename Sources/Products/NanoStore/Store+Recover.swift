// SPDX-License-Identifier: MIT

import Dispatch
import NanoSQLite

extension Store {
  /// Recovers every readable document of a damaged file into a new file.
  ///
  /// ```swift
  /// let report = try Store.recover(from: "library.db", to: "saved.db")
  /// print(report.saved, report.skippedCount)        // 4_998 2
  /// for skipped in report.skipped { print(skipped.collection, skipped.rowID, skipped.reason) }
  /// ```
  ///
  /// Documents keep their keys, classes, versions, insertion times and row IDs, and collections
  /// their settings and indexes, as far as those are readable. Metadata and bags are copied, and
  /// documents of an encrypted store stay encrypted. The damaged file is only read; close stores on
  /// it first, since concurrent writes may be missing. The call needs as much additional space as
  /// the size of the file.
  ///
  /// - Parameters:
  ///   - path: The damaged file. A write-ahead log or journal beside it is read too.
  ///   - destination: The new file, which is created atomically.
  ///   - replacing: Whether an existing file may be replaced.
  ///   - progress: Called with values from 0 to 1. If it throws, the call ends and leaves nothing
  ///     behind.
  /// - Returns: A report of what was recovered, and what was not and why.
  /// - Throws: ``StoreError/Code/cannotOpen`` if there is no file, or the process has too few file descriptors left,
  ///   ``StoreError/Code/alreadyExists`` if the new file exists and must not be replaced,
  ///   ``StoreError/Code/notADatabase`` if nothing in the file resembles a store. Nothing was
  ///   created.
  @discardableResult
  public static func recover(
    from path: String, to destination: String, replacing: Bool = false,
    progress: ((Double) throws -> Void)? = nil
  ) throws -> RecoveryReport {
    let warmup = try DispatchWarmup()
    defer { warmup.wait() }
    return try SQLiteEngine.recover(
      from: path, to: BackupDestination(path: destination, replacing: replacing),
      progress: progress)
  }
  /// The asynchronous form of `recover(from:to:replacing:progress:)`, which does not block the
  /// calling thread. Canceling the task ends the call at the next progress report and leaves
  /// nothing behind.
  @discardableResult
  public static func recover(
    from path: String, to destination: String, replacing: Bool = false,
    progress: (@Sendable (Double) throws -> Void)? = nil
  ) async throws -> RecoveryReport {
    let interruption = Interruption()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "NanoStore.recovery").async {
          continuation.resume(
            with: Result {
              try self.recover(from: path, to: destination, replacing: replacing) { done in
                if interruption.isTriggered { throw CancellationError() }
                try progress?(done)
              }
            })
        }
      }
    } onCancel: {
      interruption.trigger()
    }
  }
}
