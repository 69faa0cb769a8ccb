// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Synchronization

/// Runs a task until it finishes or a termination signal cancels it, so that the caller can release its resources.
///
/// `SIGHUP` has no effect on a process that ignores it because `nohup` has started it.
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
    let signals = Self.signals()
    Self.changeMask(SIG_BLOCK, signals)
    Thread.detachNewThread { [self] in
      var set = signals
      var signal: Int32 = 0
      guard sigwait(&set, &signal) == 0 else { return }
      let isRunning = state.withLock { state in
        state.signal = signal
        state.task?.cancel()
        return state.task != nil
      }
      // A second signal terminates the process as usual, and so does the first one before there is anything to cancel.
      Self.changeMask(SIG_UNBLOCK, signals)
      if !isRunning { raise(signal) }
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

  private static func signals() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in [SIGINT, SIGTERM] { sigaddset(&set, signal) }
    // Linux would keep a signal that is ignored and blocked for `sigwait`.
    let handler = signal(SIGHUP, SIG_DFL)
    _ = signal(SIGHUP, handler)
    let ignored = unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    if !ignored { sigaddset(&set, SIGHUP) }
    return set
  }

  private static func changeMask(_ how: Int32, _ signals: sigset_t) {
    var set = signals
    pthread_sigmask(how, &set, nil)
  }
}
