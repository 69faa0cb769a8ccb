// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import Synchronization

/// What one observer of a query waits for: that a commit may have changed its answer.
///
/// It keeps nothing but one mark, however many commits come, so that an observer that is slow reads
/// the newest state when it asks again, and only then.
final class InvalidationSignal: Sendable {
  /// What a commit means for an observer.
  enum Verdict {
    case untouched
    /// It may have another answer.
    case touched
    /// It has if one of these documents fulfils its condition now.
    case touchedIfFound(Change)
  }

  private struct State {
    /// At the beginning nothing is known.
    var isTouched = true
    var isReading = false
    var isEnded = false
    /// The documents in the answer; nil where they are not known.
    var rows: Set<Int64>?
    var waiter: CheckedContinuation<Bool, Never>?

    mutating func takeWaiter() -> CheckedContinuation<Bool, Never>? {
      defer { waiter = nil }
      return waiter
    }
  }
  private let state = Mutex(State())
  /// In small letters.
  let collection: String
  private let condition: WatchedCondition
  /// With an offset, a document outside of the answer moves what is in it.
  private let hasOffset: Bool

  init(_ query: Query, in collection: String) {
    self.collection = collection.foldingASCII
    condition = WatchedCondition(query.condition)
    hasOffset = query.offset > 0
  }

  /// Waits until the answer may be another one; false at the end.
  func changed() async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer: Bool? = state.withLock { state in
          guard !state.isEnded else { return false }
          guard !state.isTouched else { return true }
          state.waiter = continuation
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      end()
    }
  }

  /// Commits from now on may be missing in what is read.
  func beginReading() {
    state.withLock { state in
      state.isTouched = false
      state.isReading = true
    }
  }

  /// - Parameter rows: The documents in the answer; nil if not known.
  func finishReading(_ rows: Set<Int64>?) {
    state.withLock { state in
      state.isReading = false
      state.rows = rows
    }
  }

  func end() {
    let waiter = state.withLock { state in
      state.isEnded = true
      return state.takeWaiter()
    }
    waiter?.resume(returning: false)
  }

  var hasEnded: Bool { state.withLock { $0.isEnded } }

  /// Whether a commit can still make a difference.
  var isAsking: Bool { state.withLock { !$0.isTouched && !$0.isEnded } }

  func touch() {
    let waiter = state.withLock { state in
      state.isTouched = true
      return state.takeWaiter()
    }
    waiter?.resume(returning: true)
  }

  /// What a commit means, from row ids alone.
  func verdict(on commit: Commit) -> Verdict {
    guard let change = commit.change(in: collection) else { return .untouched }
    return state.withLock { state in
      guard !state.isEnded, !state.isTouched else { return .untouched }
      // What is being read may hold documents of this commit or not.
      guard let changed = change.rows, !state.isReading else { return .touched }
      if let rows = state.rows, !hasOffset {
        if changed.keys.contains(where: rows.contains) { return .touched }
      } else if changed.values.contains(where: { $0 != .inserted }) {
        return .touched
      }
      let isAnyThere = changed.values.contains { $0 != .deleted }
      return isAnyThere ? .touchedIfFound(change) : .untouched
    }
  }

  /// Whether a document that was changed fulfils the condition.
  ///
  /// - Parameter defaults: What the collection has for fields that documents do not have.
  func finds(_ document: StoredDocument, _ defaults: FieldDefaults?) -> Bool {
    condition.holds(for: document, defaults)
  }
}

// @unchecked: the program is touched only on the queue of the hub.
private final class WatchedCondition: @unchecked Sendable {
  private let condition: Condition
  private var made: (program: ConditionMatcher?, defaults: FieldDefaults?)?

  init(_ condition: Condition) { self.condition = condition }

  /// A condition that cannot be made ready, or fails on a document, is said to hold, so that the
  /// observer asks its question and meets the error.
  func holds(for document: StoredDocument, _ defaults: FieldDefaults?) -> Bool {
    guard let program = program(defaults) else { return true }
    return (try? program.holds(for: document.body) { document.value(of: $0) }) ?? true
  }

  private func program(_ defaults: FieldDefaults?) -> ConditionMatcher? {
    if let made, made.defaults == defaults { return made.program }
    let program = try? ConditionMatcher(condition, defaults: defaults)
    made = (program, defaults)
    return program
  }
}
