// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// Evaluates a live query, initially and after each commit that may have changed its result.
///
/// Confined to the iterating task; the subscription ends when it is deallocated.
final class LiveReader<Value: Sendable> {
  private let question: LiveQueryEvaluator<Value>
  private let watch: InvalidationSignal
  private var last: AnswerMark?
  private var isStarted = false
  private var isOver = false

  init(_ question: LiveQueryEvaluator<Value>) {
    self.question = question
    watch = InvalidationSignal(question.query, in: question.collection)
  }

  deinit { question.store.hub.remove(watch) }

  /// Returns the first result, then each one that differs from the last one returned; nil when the
  /// store is closed.
  ///
  /// - Returns: The value, its fingerprint, and that of the previous value.
  func next() async throws -> (value: Value, mark: AnswerMark, before: AnswerMark?)? {
    guard !isOver else { return nil }
    do {
      try Task.checkCancellation()
      try start()
      while await watch.changed() {
        watch.beginReading()
        let answer = try await question.ask()
        watch.finishReading(answer.mark.rows)
        let before = last
        last = answer.mark
        if let before, answer.mark.isUnchanged(since: before) { continue }
        guard let value = answer.value else { continue }
        return (value, answer.mark, before)
      }
      finish()
      try Task.checkCancellation()
      return nil
    } catch let error as StoreError where error.code == .closed && watch.hasEnded {
      finish()
      return nil
    } catch {
      finish()
      throw error
    }
  }

  private func start() throws {
    guard !isStarted else { return }
    isStarted = true
    try question.query.validate()
    // Registered before the first read, so that no commit is missed.
    try question.store.hub.add(watch, on: question.store.engine())
  }

  private func finish() {
    isOver = true
    question.store.hub.remove(watch)
  }
}
