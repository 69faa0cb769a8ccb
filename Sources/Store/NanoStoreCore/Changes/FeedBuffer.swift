// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import Synchronization

/// The commits that the reader of a feed has not received yet. The number is bounded: later commits
/// are merged.
final class FeedBuffer: Sendable {
  private struct State {
    var waiting: [Commit] = []
    var isEnded = false
    /// The error that ended the feed; nil if the store was closed or the reader stopped.
    var failure: StoreError?
    var waiter: CheckedContinuation<Commit?, Never>?
  }
  private let state = Mutex(State())
  /// The only collection of interest; nil for all.
  private let collection: String?

  init(_ collection: String?) { self.collection = collection }

  /// The maximum number of buffered commits for a slow reader before they are merged. Arbitrary.
  static let maximumWaiting = 64

  func add(_ commit: Commit) {
    guard let commit = visiblePart(commit) else { return }
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

  /// Returns the part of a commit that the reader receives, or nil if there is none. Internal
  /// collections are not visible.
  private func visiblePart(_ commit: Commit) -> Commit? {
    if let collection { return commit.change(in: collection).map { Commit([$0]) } }
    var visible = commit
    visible.mayHaveNewExpirations = false
    visible.changes.removeAll { InternalCollection(named: $0.collection) != nil }
    return visible.isEmpty ? nil : visible
  }

  /// Returns the next commit; nil at the end, after the buffered ones.
  func next() async -> Commit? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let result: Commit?? = state.withLock { state in
          if !state.waiting.isEmpty { return state.waiting.removeFirst() }
          guard !state.isEnded else { return .some(nil) }
          state.waiter = continuation
          return nil
        }
        if let result { continuation.resume(returning: result) }
      }
    } onCancel: {
      end()
    }
  }

  /// Returns the commits that are waiting, without waiting for more.
  func takeWaiting() -> [Commit] {
    state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  /// The error that ended the feed; nil if the store was closed.
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
