// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoEngine

/// Waits for the lock of another connection until it is free, the busy timeout is over, or the call is interrupted.
///
/// The handler of `sqlite3_busy_timeout` does the same, but does not notice an interruption.
final class LockWait {
  /// The interruption of the call that runs on the connection.
  var interruption: Interruption?
  private let timeout: Int32
  private var waited: Int32 = 0

  /// The pauses in milliseconds, the last one repeated: those of SQLite's handler (`sqliteDefaultBusyCallback`).
  private static let pauses: [Int32] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100]

  /// - Parameter timeout: The busy timeout in milliseconds.
  init(timeout: Int32) { self.timeout = timeout }

  /// Replaces the busy handler of a connection, which does not retain this object.
  func install(on handle: OpaquePointer) {
    sqlite3_busy_handler(
      handle,
      { context, count in
        guard let context else { return 0 }
        return Unmanaged<LockWait>.fromOpaque(context).takeUnretainedValue().pause(count) ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// - Parameter count: The number of pauses before, for the same lock.
  /// - Returns: Whether to try again.
  private func pause(_ count: Int32) -> Bool {
    if count == 0 { waited = 0 }
    let pause = min(Self.pauses[min(Int(count), Self.pauses.count - 1)], timeout - waited)
    guard pause > 0, interruption?.isTriggered != true else { return false }
    sqlite3_sleep(pause)
    waited += pause
    return interruption?.isTriggered != true
  }
}
