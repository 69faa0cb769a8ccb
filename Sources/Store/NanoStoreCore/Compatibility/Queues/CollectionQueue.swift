// SPDX-License-Identifier: MIT

import Dispatch
import Synchronization

/// A serial queue of the calls on one collection.
///
/// While calls are queued, calls that are not queued themselves also take a turn in it.
final class CollectionQueue: Sendable {
  private struct State {
    var submitted = 0
    var finished = 0
    var lastWaiter = 0
    var waiters: [(number: Int, target: Int, resume: @Sendable (Bool) -> Void)] = []
  }
  private let state = Mutex(State())
  private let thread: DispatchQueue
  /// Counts the queued calls of the whole store.
  private let registry: QueueRegistry

  init(_ name: String, _ registry: QueueRegistry) {
    thread = DispatchQueue(label: "NanoStore.queue.\(name)")
    self.registry = registry
  }

  /// Runs a block after everything that is queued.
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

  /// Runs a block after everything that is queued, and before later calls.
  func inTurn<Result>(_ work: () throws -> Result) rethrows -> Result {
    registry.begin()
    state.withLock { $0.submitted += 1 }
    defer { finish() }
    return try thread.sync { try QueueContext.run(in: self, work) }
  }

  /// The asynchronous form of ``inTurn(_:)``, which can be canceled.
  ///
  /// The block runs on the queue's thread. If it ran elsewhere and the turn ended when its task
  /// resumed, synchronous calls waiting on all threads of Swift concurrency would prevent the task
  /// from ever resuming.
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

  /// Calls back with true when everything that is queued now is done, or with false if
  /// ``giveUp(_:)`` was called before. Returns nil if nothing is queued; the closure is then never
  /// called.
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
