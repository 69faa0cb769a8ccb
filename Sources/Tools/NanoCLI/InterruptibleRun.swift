// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Synchronization

/// Runs a task until it ends or a signal asks the process to end, so that the caller can close what it opened.
///
/// The signals are blocked and waited for on a thread, where ordinary code can handle them: a signal handler may
/// call almost nothing. Create it before the first thread, which would not block them.
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
      // A second one ends the process as usual.
      Self.changeMask(SIG_UNBLOCK)
      while true { sleep(UInt32.max) }
    }
  }

  /// - Throws: What the task throws; ``CommandFailure`` with the shell's status for the signal.
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
