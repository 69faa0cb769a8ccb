// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import Synchronization

/// A signal to one live query that a commit may have changed its result.
///
/// It stores only a flag, however many commits arrive, so that a slow observer reads the newest
/// state when it asks for the next result, and only then.
final class InvalidationSignal: Sendable {
  /// The effect of a commit on a live query.
  enum Verdict {
    case unaffected
    /// The result may have changed.
    case invalidated
    /// The result has changed if one of these documents now matches the condition.
    case invalidatedIfMatching(Change)
  }

  private struct State {
    /// Initially true: nothing has been read yet.
    var isInvalid = true
    var isReading = false
    var isEnded = false
    /// The row IDs in the result; nil if unknown.
    var rows: Set<Int64>?
    var waiter: CheckedContinuation<Bool, Never>?

    mutating func takeWaiter() -> CheckedContinuation<Bool, Never>? {
      defer { waiter = nil }
      return waiter
    }
  }
  private let state = Mutex(State())
  /// The case-folded name of the collection.
  let collection: String
  /// The case-folded names of all collections whose commits can change the result.
  let collections: Set<ExactName>
  private let condition: WatchedCondition
  /// Whether other documents of the collection decide which documents are in the result, or their order: the number of
  /// documents and of their words is a part of each rank.
  private let readsOthers: Bool
  /// With an offset, a document outside of the result can shift the documents in it.
  private let hasOffset: Bool

  /// - Parameter related: The collections of documents that the result includes, besides those that conditions name.
  init(_ query: Query, in collection: String, related: Set<ExactName> = []) {
    self.collection = collection.foldingASCII
    collections = Set(
      ([ExactName(collection)] + query.relatedCollections + related).map(\.text.folded))
    condition = WatchedCondition(query.condition)
    hasOffset = query.offset > 0
    let own = collection.folded
    readsOthers =
      query.isRanked
      || query.relatedCollections.union(related).contains { $0.text.folded == own }
  }

  /// Waits until the result may have changed; returns false at the end.
  func changed() async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let result: Bool? = state.withLock { state in
          guard !state.isEnded else { return false }
          guard !state.isInvalid else { return true }
          state.waiter = continuation
          return nil
        }
        if let result { continuation.resume(returning: result) }
      }
    } onCancel: {
      end()
    }
  }

  /// Begins a read. Later commits may be missing from it.
  func beginReading() {
    state.withLock { state in
      state.isInvalid = false
      state.isReading = true
    }
  }

  /// - Parameter rows: The row IDs in the result; nil if unknown.
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
  var isArmed: Bool { state.withLock { !$0.isInvalid && !$0.isEnded } }

  func invalidate() {
    let waiter = state.withLock { state in
      state.isInvalid = true
      return state.takeWaiter()
    }
    waiter?.resume(returning: true)
  }

  /// Returns the effect of a commit, determined from row IDs alone.
  func verdict(on commit: Commit) -> Verdict {
    for other in collections where !other.text.hasSameBytes(as: collection) {
      guard commit.change(in: other.text) != nil else { continue }
      // Which documents are related to the changed ones is not known.
      return state.withLock { $0.isEnded || $0.isInvalid ? .unaffected : .invalidated }
    }
    guard let change = commit.change(in: collection) else { return .unaffected }
    if readsOthers {
      return state.withLock { $0.isEnded || $0.isInvalid ? .unaffected : .invalidated }
    }
    return state.withLock { state in
      guard !state.isEnded, !state.isInvalid else { return .unaffected }
      // A read in progress may or may not include this commit.
      guard let changed = change.rows, !state.isReading else { return .invalidated }
      if let rows = state.rows, !hasOffset {
        if changed.keys.contains(where: rows.contains) { return .invalidated }
      } else if changed.values.contains(where: { $0 != .inserted }) {
        return .invalidated
      }
      let hasRemaining = changed.values.contains { $0 != .deleted }
      return hasRemaining ? .invalidatedIfMatching(change) : .unaffected
    }
  }

  /// Returns whether a changed document matches the condition.
  ///
  /// - Parameter defaults: The collection's defaults for missing fields.
  func matches(_ document: StoredDocument, _ defaults: FieldDefaults?) -> Bool {
    condition.holds(for: document, defaults)
  }
}

// @unchecked: the matcher is accessed only on the queue of the hub.
private final class WatchedCondition: @unchecked Sendable {
  private let condition: Condition
  private var compiled: (matcher: ConditionMatcher?, defaults: FieldDefaults?)?

  init(_ condition: Condition) { self.condition = condition }

  /// Returns whether the document matches. If the condition does not compile, or fails on the
  /// document, the result is true, so that the observer executes its query and receives the error.
  func holds(for document: StoredDocument, _ defaults: FieldDefaults?) -> Bool {
    guard let matcher = matcher(defaults) else { return true }
    return (try? matcher.holds(for: document.body) { document.value(of: $0) }) ?? true
  }

  private func matcher(_ defaults: FieldDefaults?) -> ConditionMatcher? {
    if let compiled, compiled.defaults == defaults { return compiled.matcher }
    let matcher = try? ConditionMatcher(condition, defaults: defaults)
    compiled = (matcher, defaults)
    return matcher
  }
}
