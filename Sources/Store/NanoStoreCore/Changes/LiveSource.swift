// SPDX-License-Identifier: MIT

import NanoDocument
import Synchronization

/// What live results show: a query that is evaluated on a thread of the store, and how its value
/// becomes elements on the actor of the results.
package struct LiveSource<Element> {
  let evaluator: LiveQueryEvaluator<any Sendable>
  let make: (any Sendable) throws -> [Element]
  let identify: ((Element) -> AnyHashable)?

  /// - Parameters:
  ///   - make: Makes the elements, on the actor of the results, after each evaluation.
  ///   - identify: The identity of an element, distinct in a list. If it is given, identities and
  ///     their order determine whether the elements changed, not the content of documents: for
  ///     objects that report changes of their content themselves, or that are not saved yet.
  package init<Value: Sendable>(
    _ evaluator: LiveQueryEvaluator<Value>, identify: ((Element) -> AnyHashable)? = nil,
    make: @escaping (Value) throws -> [Element]
  ) {
    self.evaluator = evaluator.erased
    self.identify = identify
    self.make = { value in
      guard let value = value as? Value else { return [] }
      return try make(value)
    }
  }
}

extension LiveSource where Element: Sendable {
  init(_ updates: DocumentUpdates<Element>) { self.init(updates.evaluator) { $0 } }
  init(_ updates: ValueUpdates<Element>) { self.init(updates.evaluator) { [$0] } }
  init(_ updates: ValueUpdates<Element?>) {
    self.init(updates.evaluator) { value in value.map { [$0] } ?? [] }
  }
}

/// What an evaluation of a live query yields.
enum LiveOutcome: Sendable {
  case result(LiveResult<any Sendable>)
  case failure(any Error)
  /// No further outcome follows.
  case end

  /// Whether it is an error that may be over by itself.
  var isRetryable: Bool {
    guard case .failure(let error as StoreError) = self else { return false }
    return error.isRetryable
  }
}

/// Evaluates a live query until it is ended, after errors as well.
final class LiveSubscription: Sendable {
  private let evaluator: LiveQueryEvaluator<any Sendable>
  let signal: InvalidationSignal
  private let task = Mutex<Task<Void, Never>?>(nil)

  init(_ evaluator: LiveQueryEvaluator<any Sendable>) {
    self.evaluator = evaluator
    signal = InvalidationSignal(
      evaluator.query, in: evaluator.collection, related: evaluator.related)
  }

  /// Registers for commits.
  func start() throws {
    try evaluator.query.validate()
    try evaluator.store.hub.add(signal, on: evaluator.store.engine())
  }

  /// Releases all resources. No outcome is delivered if it is called on the receiving actor.
  func end() {
    task.withLock { $0 }?.cancel()
    evaluator.store.hub.remove(signal)
  }

  /// Evaluates the query on this thread.
  ///
  /// Within a read block of the store, it takes part in the block, as other calls do: with a connection of its own it could
  /// wait for one that the block has. Within a write block it sees the committed state.
  func evaluateNow() -> LiveOutcome {
    signal.beginReading()
    guard let context = TransactionContext.current(of: evaluator.store) else {
      return finishReading(Result { try evaluator.evaluateNow() })
    }
    // There may have been commits since the block began.
    defer { signal.invalidate() }
    return finishReading(
      Result {
        if context.writer == nil, !context.seesBufferedSaves {
          return try evaluator.evaluate(in: context.reader)
        }
        guard try evaluator.store.engine().capabilities.contains(.concurrentReads) else {
          throw StoreError(
            .invalidArgument,
            "A live query cannot be evaluated in a block with writes of this store",
            [.hint: "load it outside of the block; it is evaluated again when the block has ended"])
        }
        return try evaluator.evaluateNow()
      })
  }

  /// Delivers outcomes, one at a time, the first one immediately.
  ///
  /// - Parameters:
  ///   - interval: The minimum time between two evaluations.
  ///   - isLoaded: Whether it has been started and evaluated.
  func run(
    _ interval: Duration, isLoaded: Bool,
    _ deliver: @escaping @Sendable (LiveSubscription, LiveOutcome) async -> Void
  ) {
    let next = Task.detached { [self] in
      // A canceled task that starts late registers, too.
      defer { evaluator.store.hub.remove(signal) }
      do {
        if !isLoaded { try await startWhenReachable(deliver) }
        var earliest = ContinuousClock.now + (isLoaded ? interval : .zero)
        var pause = RetryPause()
        while await signal.changed() {
          try await Task.sleep(until: earliest, clock: .continuous)
          earliest = .now + interval
          guard let outcome = await evaluate() else { break }
          await deliver(self, outcome)
          guard outcome.isRetryable else {
            pause = RetryPause()
            continue
          }
          // No commit reports that the server can be reached again.
          try await pause.wait()
          signal.invalidate()
        }
      } catch {
        await deliver(self, .failure(error))
      }
      await deliver(self, .end)
    }
    task.withLock { $0 = next }
  }

  /// Registers for commits, again after errors of a server that cannot be reached.
  private func startWhenReachable(
    _ deliver: (LiveSubscription, LiveOutcome) async -> Void
  ) async throws {
    var pause = RetryPause()
    while true {
      try Task.checkCancellation()
      do {
        return try await evaluator.store.onReader { try self.start() }
      } catch let error as StoreError where error.isRetryable {
        await deliver(self, .failure(error))
        try await pause.wait()
      }
    }
  }

  /// Evaluates the query on a thread of the store; returns nil if the store has been closed.
  private func evaluate() async -> LiveOutcome? {
    signal.beginReading()
    do {
      return finishReading(.success(try await evaluator.evaluate()))
    } catch let error as StoreError where error.code == .closed {
      return nil
    } catch {
      return finishReading(.failure(error))
    }
  }

  private func finishReading(
    _ result: Result<LiveResult<any Sendable>, any Error>
  ) -> LiveOutcome {
    switch result {
    case .success(let result):
      signal.finishReading(result.fingerprint.rows)
      return .result(result)
    case .failure(let error):
      // Any document may be the cause.
      signal.finishReading(nil)
      return .failure(error)
    }
  }
}
