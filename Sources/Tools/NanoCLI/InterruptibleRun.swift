// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Synchronization

/// Runs a task until it finishes or a termination signal cancels it, so that the caller can release its resources.
///
/// Blocks the signals and waits for them on a dedicated thread, because a signal handler may call only
/// async-signal-safe functions. Create it before any other thread, since existing threads do not inherit the mask.
final class InterruptibleRun: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    var signal: Int32?
    var failure: (any Error)?
  }
  private let state = Mutex(State())

  init() {
    Self.changeMask(SIG_BLOCK)
    Thread.detachNewThread { [self] in
      var set = Self.signals
      var signal: Int32 = 0
      guard sigwait(&set, &signal) == 0 else { return }
      state.withLock { state in
        state.signal = signal
        state.task?.cancel()
      }
      // A second signal terminates the process as usual.
      Self.changeMask(SIG_UNBLOCK)
      while true { sleep(UInt32.max) }
    }
  }

  /// - Throws: The error of the task, or ``CommandFailure`` with the status 128 + signal if a signal arrived.
  func run(_ work: @escaping @Sendable () async throws -> Void) throws {
    let done = DispatchSemaphore(value: 0)
    state.withLock { state in
      state.task = Task.detached { [self] in
        do { try await work() } catch { self.state.withLock { $0.failure = error } }
        done.signal()
      }
      if state.signal != nil { state.task?.cancel() }
    }
    done.wait()
    let (signal, failure) = state.withLock { ($0.signal, $0.failure) }
    if let signal { throw CommandFailure(message: "", status: 128 + signal) }
    if let failure { throw failure }
  }

  private static var signals: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&set, signal) }
    return set
  }

  private static func changeMask(_ how: Int32) {
    var set = signals
    pthread_sigmask(how, &set, nil)
  }
}
