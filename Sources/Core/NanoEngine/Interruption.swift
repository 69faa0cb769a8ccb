// SPDX-License-Identifier: MIT

package import NanoDocument
import Synchronization

/// A handle that stops a running call from another thread.
///
/// While a statement runs, its engine attaches a closure that stops it. Triggering calls the closure; calls that
/// begin later under this interruption fail immediately.
package final class Interruption: Sendable {
  private let stop = Mutex<(@Sendable () -> Void)?>(nil)
  private let triggered = Atomic(false)

  package init() {}

  /// Stops the call that runs under this interruption, and makes every later one fail.
  package func trigger() {
    triggered.store(true, ordering: .releasing)
    // Called while the lock is held, so that it cannot stop the call that follows one that has just ended.
    stop.withLock { $0?() }
  }

  /// Whether the interruption was triggered, which cannot be undone.
  package var isTriggered: Bool { triggered.load(ordering: .acquiring) }

  /// - Throws: ``StoreError/Code/interrupted`` if it was triggered. A call that runs several statements checks
  ///   before each of them, because stopping a statement has no effect between two.
  @inline(__always)
  package func check() throws(StoreError) {
    if isTriggered { throw StoreError(.interrupted, "The operation was canceled") }
  }

  /// Runs a block that can be interrupted.
  ///
  /// - Throws: ``StoreError/Code/interrupted``, without running the block, if it was triggered earlier.
  package func whileRunning<Result>(
    stop: @escaping @Sendable () -> Void, _ work: () throws -> Result
  ) throws -> Result {
    // A nested call, for example on a second store, restores the closure of the outer call.
    let outer = self.stop.withLock { current in
      defer { current = stop }
      return current
    }
    defer { self.stop.withLock { $0 = outer } }
    try check()
    return try work()
  }
}
