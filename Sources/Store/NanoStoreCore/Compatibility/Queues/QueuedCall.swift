// SPDX-License-Identifier: MIT

import Dispatch
import NanoDocument
import NanoEngine
import Synchronization

/// A handle to a queued call, which is waiting, running or finished.
///
/// ```swift
/// let call = people.enqueue { try $0.insert(["name": "Ada"]).key }
/// let key = try await call.value
/// ```
///
/// The call runs whether or not the handle is retained.
public final class QueuedCall<Result: Sendable>: Sendable {
  /// The result of the call, or the error it threw.
  public typealias Outcome = Swift.Result<Result, any Error>
  private enum Stage {
    case waiting
    case running
    case finished(Outcome)
  }
  private let state = Mutex<(stage: Stage, waiters: [@Sendable (Outcome) -> Void])>((.waiting, []))
  private let interruption = Interruption()
  private let queue: CollectionQueue
  private let isInBlock: @Sendable () -> Bool

  /// - Parameter store: The store in whose blocks ``wait()`` throws.
  init(_ queue: CollectionQueue, _ store: Store? = nil) {
    self.queue = queue
    isInBlock = { [weak store] in store?.isInTransaction ?? false }
  }

  /// Whether the call has finished.
  public var isFinished: Bool {
    state.withLock { if case .finished = $0.stage { true } else { false } }
  }

  /// The result of the call. Canceling the task that waits has no effect on the call, and the wait
  /// ends only when the call ends.
  ///
  /// - Throws: An error thrown by the call; `CancellationError` if the call was canceled.
  public var value: Result {
    get async throws {
      try await withCheckedThrowingContinuation { continuation in
        whenFinished { continuation.resume(with: $0) }
      }
    }
  }

  /// Blocks the thread until the call has finished. In asynchronous code, use ``value``.
  ///
  /// - Throws: An error thrown by the call; ``StoreError/Code/invalidArgument`` where it could wait forever: in a
  ///   queued call that this one waits for, such as an earlier call on the same collection, and in a read or write block
  ///   of the store.
  public func wait() throws -> Result {
    let isWaiting = !isFinished
    if isWaiting, isInBlock() || !QueueRegistry.beginWaiting(for: queue), !isFinished {
      throw Self.deadlock
    }
    defer { if isWaiting { QueueRegistry.endWaiting() } }
    let done = DispatchSemaphore(value: 0)
    whenFinished { _ in done.signal() }
    done.wait()
    return try state.withLock { state in
      guard case .finished(let outcome) = state.stage else {
        preconditionFailure("A finished call has an outcome.")
      }
      return outcome
    }.get()
  }

  /// Cancels the call. A waiting call never runs; a running call has its statement interrupted, and
  /// what it wrote in a transaction is rolled back. Does nothing once the call has finished.
  public func cancel() {
    interruption.trigger()
    finish(.failure(CancellationError())) { if case .waiting = $0 { true } else { false } }
  }

  private static var deadlock: StoreError {
    StoreError(
      .invalidArgument, "Waiting for this queued call here can deadlock",
      [.hint: "use its completion, or wait outside queued calls and blocks"])
  }
}

extension QueuedCall {
  /// Runs the call unless it was canceled, and returns its result.
  func run(_ work: () throws -> Result) -> Outcome {
    let existing = state.withLock { state -> Outcome? in
      if case .finished(let outcome) = state.stage { return outcome }
      state.stage = .running
      return nil
    }
    if let existing { return existing }
    let outcome: Outcome
    do {
      outcome = .success(try interruption.stopping(work))
    } catch let error as StoreError where error.code == .interrupted && interruption.isTriggered {
      outcome = .failure(CancellationError())
    } catch {
      outcome = .failure(error)
    }
    finish(outcome)
    return outcome
  }

  private func finish(_ outcome: Outcome, if isRight: (Stage) -> Bool = { _ in true }) {
    let waiters = state.withLock { state -> [@Sendable (Outcome) -> Void] in
      guard isRight(state.stage) else { return [] }
      state.stage = .finished(outcome)
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter(outcome) }
  }

  private func whenFinished(_ resume: @escaping @Sendable (Outcome) -> Void) {
    let existing = state.withLock { state -> Outcome? in
      if case .finished(let outcome) = state.stage { return outcome }
      state.waiters.append(resume)
      return nil
    }
    if let existing { resume(existing) }
  }
}
