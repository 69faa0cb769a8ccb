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

  func inTurn<Result: Sendable>(
    _ work: @Sendable () async throws -> Result
  ) async throws -> Result {
    let turn = QueueTurn()
    try await turn.wait { submit(turn.hold) }
    defer { turn.end() }
    return try await work()
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

/// A place in a queue that an asynchronous operation holds while it runs elsewhere.
final class QueueTurn: Sendable {
  private enum Stage {
    case waiting(CheckedContinuation<Void, any Error>?)
    case begun
    case over
  }
  private let stage = Mutex(Stage.waiting(nil))
  private let ended = DispatchSemaphore(value: 0)

  /// Returns when the turn has come.
  ///
  /// - Throws: `CancellationError`, at once; the place is given up then.
  func wait(_ submit: () -> Void) async throws {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isCancelled = stage.withLock { stage in
          if case .over = stage { return true }
          stage = .waiting(continuation)
          return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) } else { submit() }
      }
    } onCancel: {
      let continuation = stage.withLock { stage -> CheckedContinuation<Void, any Error>? in
        guard case .waiting(let continuation) = stage else { return nil }
        stage = .over
        return continuation
      }
      continuation?.resume(throwing: CancellationError())
    }
  }

  /// Runs on the queue's thread, and keeps it until the operation has ended.
  @Sendable func hold() {
    let continuation = stage.withLock { stage -> CheckedContinuation<Void, any Error>? in
      guard case .waiting(let continuation) = stage else { return nil }
      stage = .begun
      return continuation
    }
    guard let continuation else { return }
    continuation.resume()
    ended.wait()
  }

  func end() { ended.signal() }
}
