// SPDX-License-Identifier: MIT

import Dispatch
import Synchronization

/// What is queued on one collection: run one after the other, in the order in which it came.
///
/// Operations that are not queued themselves take a turn in it as long as something is queued.
final class CollectionQueue: Sendable {
  private struct State {
    var submitted = 0
    var finished = 0
    var lastWaiter = 0
    var waiters: [(number: Int, target: Int, resume: @Sendable (Bool) -> Void)] = []
  }
  private let state = Mutex(State())
  private let thread: DispatchQueue
  /// Counts what is queued in the whole store.
  private let registry: QueueRegistry

  init(_ name: String, _ registry: QueueRegistry) {
    thread = DispatchQueue(label: "NanoStore.queue.\(name)")
    self.registry = registry
  }

  /// Runs a block behind everything that is queued.
  func submit(_ work: @escaping @Sendable () -> Void) {
    registry.begin()
    state.withLock { state in
      state.submitted += 1
      thread.async {
        QueueContext.run(in: self, work)
        self.finish()
      }
    }
  }

  /// Runs a block behind everything that is queued, and what is queued later behind it.
  func inTurn<Result>(_ work: () throws -> Result) rethrows -> Result {
    registry.begin()
    state.withLock { $0.submitted += 1 }
    defer { finish() }
    return try thread.sync { try QueueContext.run(in: self, work) }
  }

  /// As ``inTurn(_:)``, for asynchronous code, which can be cancelled. The block runs on the queue's
  /// thread: were it to run elsewhere and the turn end when its task goes on, synchronous calls that wait
  /// on all threads of Swift's concurrency would keep the task from ever going on.
  func inTurn<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    let call = QueuedCall<Result>(self)
    return try await withTaskCancellationHandler {
      submit { _ = call.run(work) }
      return try await call.value
    } onCancel: {
      call.cancel()
    }
  }

  private func finish() {
    let reached = state.withLock { state in
      state.finished += 1
      let finished = state.finished
      let split = state.waiters.partition { $0.target <= finished }
      let reached = Array(state.waiters[split...])
      state.waiters.removeSubrange(split...)
      return reached
    }
    registry.end()
    for waiter in reached { waiter.resume(true) }
  }

  /// Calls back when everything that is queued now is done, with true, or with false when
  /// ``giveUp(_:)`` was called before. Nil if nothing is queued: then nobody is called.
  func notify(_ resume: @escaping @Sendable (Bool) -> Void) -> Int? {
    state.withLock { state in
      guard state.finished < state.submitted else { return nil }
      state.lastWaiter += 1
      state.waiters.append((state.lastWaiter, state.submitted, resume))
      return state.lastWaiter
    }
  }

  func giveUp(_ number: Int) {
    let waiter = state.withLock { state in
      state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
    }
    waiter?.resume(false)
  }
}
