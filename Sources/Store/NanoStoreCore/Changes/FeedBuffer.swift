// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import Synchronization

/// The commits that a reader of the feed has not taken yet: few, and then the last ones together.
final class FeedBuffer: Sendable {
  private struct State {
    var waiting: [Commit] = []
    var isEnded = false
    /// Why it ended; nil if the store was closed or the reader left.
    var failure: StoreError?
    var waiter: CheckedContinuation<Commit?, Never>?
  }
  private let state = Mutex(State())
  /// Nil for all.
  private let collection: String?

  init(_ collection: String?) { self.collection = collection }

  /// Commits that are kept apart for a reader who is behind. Arbitrary.
  static let maximumWaiting = 64

  func add(_ commit: Commit) {
    guard let commit = shown(commit) else { return }
    let waiter = state.withLock { state -> CheckedContinuation<Commit?, Never>? in
      guard !state.isEnded else { return nil }
      if let waiter = state.waiter {
        state.waiter = nil
        return waiter
      }
      if state.waiting.count < Self.maximumWaiting {
        state.waiting.append(commit)
      } else {
        state.waiting[state.waiting.count - 1].merge(commit)
      }
      return nil
    }
    waiter?.resume(returning: commit)
  }

  /// What a reader is to see of a commit; nil if nothing. The collections that the store keeps for
  /// itself are nobody else's.
  private func shown(_ commit: Commit) -> Commit? {
    guard !commit.isEverything else { return commit }
    if let collection { return commit.change(in: collection).map { Commit([$0]) } }
    let changes = commit.changes.filter { InternalCollection(named: $0.collection) == nil }
    return changes.isEmpty ? nil : Commit(changes)
  }

  /// The next commit; nil at the end, when what is kept has been taken.
  func next() async -> Commit? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer: Commit?? = state.withLock { state in
          if !state.waiting.isEmpty { return state.waiting.removeFirst() }
          guard !state.isEnded else { return .some(nil) }
          state.waiter = continuation
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      end()
    }
  }

  /// Why there is no next commit; nil if the store was closed.
  var failure: StoreError? { state.withLock { $0.failure } }

  func end(with failure: StoreError? = nil) {
    let waiter = state.withLock { state in
      if !state.isEnded { state.failure = failure }
      state.isEnded = true
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: nil)
  }
}
