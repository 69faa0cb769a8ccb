// SPDX-License-Identifier: MIT

package import NanoDocument
import Synchronization

/// A way to stop a running call from another thread.
///
/// An engine attaches what stops its statement while it runs; triggering calls that, or makes the
/// next call that begins under this interruption fail at once.
package final class Interruption: Sendable {
  private let stop = Mutex<(@Sendable () -> Void)?>(nil)
  private let triggered = Atomic(false)

  package init() {}

  /// Stops the call that runs under this interruption, and every later one.
  package func trigger() {
    triggered.store(true, ordering: .releasing)
    // Called inside the lock, so that a call that has just ended is not stopped in its successor.
    stop.withLock { $0?() }
  }

  /// Whether it was triggered, which cannot be undone.
  package var isTriggered: Bool { triggered.load(ordering: .acquiring) }

  /// - Throws: ``StoreError/Code/interrupted`` if it was triggered. A call of many statements asks
  ///   before each of them, since what stops a statement has no effect between two.
  @inline(__always)
  package func check() throws(StoreError) {
    if isTriggered { throw StoreError(.interrupted, "The operation was cancelled") }
  }

  /// Runs a block that can be stopped.
  ///
  /// - Throws: ``StoreError/Code/interrupted`` without running it, if it was triggered before.
  package func whileRunning<Result>(
    stop: @escaping @Sendable () -> Void, _ work: () throws -> Result
  ) throws -> Result {
    // A call inside another one, of a second store for example, gives back what it finds.
    let outer = self.stop.withLock { current in
      defer { current = stop }
      return current
    }
    defer { self.stop.withLock { $0 = outer } }
    try check()
    return try work()
  }
}
