// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// Evaluates a live query, initially and after each commit that may have changed its result.
///
/// Confined to the iterating task; the subscription ends when it is deallocated.
final class LiveReader<Value: Sendable> {
  private let evaluator: LiveQueryEvaluator<Value>
  private let signal: InvalidationSignal
  private var last: ResultFingerprint?
  /// Whether the reader has started, on an open store.
  private var isRegistered = false
  private var isOver = false

  init(_ evaluator: LiveQueryEvaluator<Value>) {
    self.evaluator = evaluator
    signal = InvalidationSignal(
      evaluator.query, in: evaluator.collection, related: evaluator.related)
  }

  deinit { evaluator.store.hub.remove(signal) }

  /// Returns the first result, then each one that differs from the last one returned; nil when the
  /// store is closed.
  ///
  /// - Returns: The value, its fingerprint, and that of the previous value.
  func next() async throws -> (
    value: Value, fingerprint: ResultFingerprint, before: ResultFingerprint?
  )? {
    guard !isOver else { return nil }
    do {
      try Task.checkCancellation()
      try start()
      while await signal.changed() {
        signal.beginReading()
        let result = try await evaluator.evaluate()
        signal.finishReading(result.fingerprint.rows)
        let before = last
        last = result.fingerprint
        if let before, result.fingerprint.isUnchanged(since: before) { continue }
        guard let value = result.value else { continue }
        return (value, result.fingerprint, before)
      }
      finish()
      try Task.checkCancellation()
      return nil
    } catch let error as StoreError where error.code == .closed && isRegistered {
      finish()
      return nil
    } catch {
      finish()
      throw error
    }
  }

  private func start() throws {
    guard !isRegistered else { return }
    try evaluator.query.validate()
    // Registered before the first read, so that no commit is missed.
    try evaluator.store.hub.add(signal, on: evaluator.store.engine())
    isRegistered = true
  }

  private func finish() {
    isOver = true
    evaluator.store.hub.remove(signal)
  }
}
