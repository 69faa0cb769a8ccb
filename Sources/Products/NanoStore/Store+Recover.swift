// SPDX-License-Identifier: MIT

import Dispatch
import NanoSQLite

extension Store {
  /// Saves every document that can be read of a damaged file into a new file.
  ///
  /// ```swift
  /// let report = try Store.recover(from: "library.db", to: "saved.db")
  /// print(report.saved, report.skippedCount)        // 4_998 2
  /// for skipped in report.skipped { print(skipped.collection, skipped.rowID, skipped.reason) }
  /// ```
  ///
  /// Documents keep their keys, classes, versions, moments and row ids, and collections their settings and
  /// indexes, as far as those can be read; metadata and bags are copied, and documents of an encrypted
  /// store as they are sealed. The damaged file is opened for nothing but being copied; close stores on it
  /// before, since what is written meanwhile may be missing. It takes as much space again as the file has.
  ///
  /// - Parameters:
  ///   - path: The damaged file. Its write-ahead log or journal is read if it lies beside it.
  ///   - destination: The new file, there whole or not at all.
  ///   - replacing: Whether a file that is there may be replaced.
  ///   - progress: Called with 0...1; throwing from it ends the call and leaves nothing behind.
  /// - Returns: What was saved, and what was not and why.
  /// - Throws: ``StoreError/Code/cannotOpen`` if there is no file,
  ///   ``StoreError/Code/alreadyExists`` if the new one is there and must not be replaced,
  ///   ``StoreError/Code/notADatabase`` if nothing in the file looks like a store. Nothing was made.
  @discardableResult
  public static func recover(
    from path: String, to destination: String, replacing: Bool = false,
    progress: ((Double) throws -> Void)? = nil
  ) throws -> RecoveryReport {
    try SQLiteEngine.recover(
      from: path, to: BackupDestination(path: destination, replacing: replacing),
      progress: progress)
  }
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
