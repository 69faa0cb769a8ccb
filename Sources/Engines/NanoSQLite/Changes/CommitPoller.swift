// SPDX-License-Identifier: MIT

import Dispatch
import NanoEngine
import Synchronization

/// Runs a closure at a fixed interval while there are observations; without any, there is no timer.
final class CommitPoller: Sendable {
  private struct State {
    var observers = 0
    var timer: (any DispatchSourceTimer)?
  }
  private let state = Mutex(State())
  private let interval: Double

  /// - Parameter interval: Seconds.
  init(every interval: Double) { self.interval = interval }

  /// Starts polling unless it is already running. Polling ends with the last observation.
  func begin(_ poll: @escaping @Sendable () -> Void) -> CommitObservation {
    state.withLock { state in
      state.observers += 1
      if state.timer == nil { state.timer = makeTimer(poll) }
    }
    return CommitObservation { [self] in
      state.withLock { state in
        state.observers -= 1
        if state.observers == 0 { Self.end(&state) }
      }
    }
  }

  /// Stops polling permanently, because the database is closed.
  func end() { state.withLock { Self.end(&$0) } }

  private static func end(_ state: inout State) {
    state.timer?.cancel()
    state.timer = nil
  }

  private func makeTimer(_ poll: @escaping @Sendable () -> Void) -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "NanoStore.others"))
    timer.schedule(deadline: .now() + interval, repeating: interval, leeway: .milliseconds(5))
    timer.setEventHandler(handler: poll)
    timer.resume()
    return timer
  }
}
