// SPDX-License-Identifier: MIT

package import NanoEngine
import Synchronization

/// A clock that stands still until a test sets it.
///
/// ```swift
/// let clock = ManualClock()
/// let engine = ReferenceEngine(clock: clock)
/// clock.advance(by: .seconds(60))                  // calls the handlers that are due by then
/// ```
package final class ManualClock: StoreClock {
  private struct Waiting {
    let time: Int64
    let handler: @Sendable () -> Void
  }
  private struct State {
    var now: Int64
    var waiting: [Int: Waiting] = [:]
    var last = 0
  }
  private let state: Mutex<State>

  /// - Parameter now: Microseconds since 1970; by default, a moment in 2026.
  package init(now: Int64 = 1_767_225_600_000_000) { state = Mutex(State(now: now)) }

  package func now() -> Int64 { state.withLock(\.now) }

  /// The number of wakeups that have not happened.
  package var waitingCount: Int { state.withLock(\.waiting.count) }

  package func advance(by duration: Duration) {
    set(now().addingOrClamping(duration.inMicroseconds))
  }

  /// Sets the clock, forward or back, and calls the handlers whose time has come.
  package func set(_ now: Int64) {
    let due = state.withLock { state in
      state.now = now
      let due = state.waiting.filter { $0.value.time <= now }
      for number in due.keys { state.waiting[number] = nil }
      return due.values.sorted { $0.time < $1.time }
    }
    for waiting in due { waiting.handler() }
  }

  package func wake(at time: Int64, _ handler: @escaping @Sendable () -> Void) -> ClockWakeup {
    let number: Int? = state.withLock { state in
      guard time > state.now else { return nil }
      state.last += 1
      state.waiting[state.last] = Waiting(time: time, handler: handler)
      return state.last
    }
    guard let number else {
      handler()
      return ClockWakeup {}
    }
    return ClockWakeup { [weak self] in self?.state.withLock { $0.waiting[number] = nil } }
  }
}
