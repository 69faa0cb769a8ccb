// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Synchronization

/// The wall clock by which documents expire. Tests replace it with one that they set.
package protocol StoreClock: Sendable {
  /// The time in microseconds since 1970.
  func now() -> Int64
  /// Calls a handler once, as soon as the clock has reached a time, on any thread.
  func wake(at time: Int64, _ handler: @escaping @Sendable () -> Void) -> ClockWakeup
}

/// A scheduled call of a handler, which ends when it is canceled or deallocated.
package final class ClockWakeup: Sendable {
  private let onCancel: @Sendable () -> Void

  package init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

  deinit { onCancel() }

  package func cancel() { onCancel() }
}

/// The clock of the system.
package struct SystemClock: StoreClock {
  package init() {}

  package func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }

  /// The longest wait, in microseconds: an hour. Dispatch does not notice on every platform that the clock was set, so
  /// the time is checked again at least this often.
  private static let longestWait: Int64 = 3_600_000_000

  package func wake(at time: Int64, _ handler: @escaping @Sendable () -> Void) -> ClockWakeup {
    let canceled = Canceled()
    let wait = max(0, min(time.addingOrClamping(-now()), Self.longestWait))
    // Rounded up, so that the clock has reached the time.
    Self.queue.asyncAfter(wallDeadline: .now() + .microseconds(Int(wait) + 1_000)) {
      if !canceled.flag.load(ordering: .relaxed) { handler() }
    }
    return ClockWakeup { canceled.flag.store(true, ordering: .relaxed) }
  }

  private final class Canceled: Sendable {
    let flag = Atomic(false)
  }

  private static let queue = DispatchQueue(label: "NanoStore.clock")
}
