// SPDX-License-Identifier: MIT

import Dispatch
import NanoDocument
import NanoEngine
import Synchronization

/// A call that waits for its turn on its collection, runs, or is done.
///
/// ```swift
/// let call = people.enqueue { try $0.insert(["name": "Ada"]).key }
/// let key = try await call.value
/// ```
///
/// It runs whether or not anybody keeps this.
public final class QueuedCall<Result: Sendable>: Sendable {
  public typealias Outcome = Swift.Result<Result, any Error>
  private enum Stage {
    case waiting
    case running
    case finished(Outcome)
  }
  private let state = Mutex<(stage: Stage, waiters: [@Sendable (Outcome) -> Void])>((.waiting, []))
  private let interruption = Interruption()
  private let queue: CollectionQueue

  init(_ queue: CollectionQueue) { self.queue = queue }

  /// Whether its outcome is known.
  public var isFinished: Bool {
    state.withLock { if case .finished = $0.stage { true } else { false } }
  }

  /// What the call gave. Cancelling the task that waits cancels only the waiting, when the call ends.
  ///
  /// - Throws: What the call threw, `CancellationError` if it was cancelled.
  public var value: Result {
    get async throws {
      try await withCheckedThrowingContinuation { continuation in
        whenFinished { continuation.resume(with: $0) }
      }
    }
  }

  /// Blocks the thread until the call is done. For asynchronous code there is ``value``.
  ///
  /// - Throws: What the call threw; ``StoreError/Code/invalidArgument`` in a call on the same
  ///   collection before it, which it waits for itself.
  public func wait() throws -> Result {
    if !isFinished, QueueContext.current === queue { throw Self.wouldNeverEnd }
    let done = DispatchSemaphore(value: 0)
    whenFinished { _ in done.signal() }
    done.wait()
    return try state.withLock { state in
      guard case .finished(let outcome) = state.stage else {
        preconditionFailure("A call that is done has an outcome.")
      }
      return outcome
    }.get()
  }

  /// Stops the call: one that waits never runs, of one that runs the statement is stopped and what it
  /// wrote in a transaction is undone. Does nothing once it is done.
  public func cancel() {
    interruption.trigger()
    finish(.failure(CancellationError())) { if case .waiting = $0 { true } else { false } }
  }

  private static var wouldNeverEnd: StoreError {
    StoreError(
      .invalidArgument, "A queued call cannot wait for one that is queued behind it",
      [.hint: "use its completion, or wait outside of queued calls"])
  }
}

extension QueuedCall {
  /// Runs the call in its turn, unless it was cancelled, and gives its outcome.
  func run(_ work: () throws -> Result) -> Outcome {
    let known = state.withLock { state -> Outcome? in
      if case .finished(let outcome) = state.stage { return outcome }
      state.stage = .running
      return nil
    }
    if let known { return known }
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
    let known = state.withLock { state -> Outcome? in
      if case .finished(let outcome) = state.stage { return outcome }
      state.waiters.append(resume)
      return nil
    }
    if let known { resume(known) }
  }
}
