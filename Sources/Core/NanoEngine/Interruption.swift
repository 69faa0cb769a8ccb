// SPDX-License-Identifier: MIT

import NanoDocument
import Synchronization

/// A way to stop a running call from another thread.
///
/// An engine attaches what stops its statement while it runs; triggering calls that, or makes the
/// next call that begins under this interruption fail at once.
public final class Interruption: Sendable {
  private struct State {
    var triggered = false
    var stop: (@Sendable () -> Void)?
  }
  private let state = Mutex(State())

  public init() {}

  /// Stops the call that runs under this interruption, and every later one.
  public func trigger() {
    // Called inside the lock, so that a call that has just ended is not stopped in its successor.
    state.withLock { state in
      state.triggered = true
      state.stop?()
    }
  }

  public var isTriggered: Bool { state.withLock(\.triggered) }

  /// Runs a block that can be stopped.
  ///
  /// - Throws: ``StoreError/Code/interrupted`` without running it, if it was triggered before.
  public func whileRunning<Result>(
    stop: @escaping @Sendable () -> Void, _ work: () throws -> Result
  ) throws -> Result {
    try state.withLock { state throws(StoreError) in
      if state.triggered { throw StoreError(.interrupted, "The operation was cancelled") }
      state.stop = stop
    }
    defer { state.withLock { $0.stop = nil } }
    return try work()
  }
}
