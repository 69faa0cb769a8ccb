// SPDX-License-Identifier: MIT

import Synchronization

/// Delivers an engine's commits to its observers, in commit order.
///
/// An engine calls ``post(_:)`` after the commit, while it still holds the lock that orders commits, and
/// ``deliver()`` after it releases the lock.
///
/// ```swift
/// let result = try lock.withLock {
///   let result = try commit()
///   if commits.isObserved { commits.post(changed) }
///   return result
/// }
/// commits.deliver()
/// ```
package final class CommitBroadcast: Sendable {
  private struct State {
    var handlers: [Int: @Sendable (Commit) -> Void] = [:]
    var lastHandler = 0
    var pending: [Commit] = []
    var isDelivering = false
  }
  private let state = Mutex(State())
  private let count = Atomic(0)

  package init() {}

  /// Whether there are any observers.
  ///
  /// Engines check this after the commit as well: an observer that registers before a commit and reads after
  /// registering misses nothing.
  @inline(__always)
  package var isObserved: Bool { count.load(ordering: .sequentiallyConsistent) > 0 }

  /// Calls the handler for every later commit.
  package func observe(_ handler: @escaping @Sendable (Commit) -> Void) -> CommitObservation {
    let number = state.withLock { state in
      state.lastHandler += 1
      state.handlers[state.lastHandler] = handler
      return state.lastHandler
    }
    count.add(1, ordering: .sequentiallyConsistent)
    return CommitObservation { [self] in
      count.subtract(1, ordering: .sequentiallyConsistent)
      state.withLock { _ = $0.handlers.removeValue(forKey: number) }
    }
  }

  /// Queues a commit for delivery, unless there is nothing to report.
  package func post(_ commit: Commit) {
    guard commit.isReported else { return }
    state.withLock { state in
      guard !state.handlers.isEmpty else { return state.pending.removeAll() }
      if state.pending.count < Self.maximumPending {
        state.pending.append(commit)
      } else {
        state.pending[state.pending.count - 1].merge(commit)
      }
    }
  }

  /// Delivers the queued commits, unless another thread is already delivering and will deliver these too.
  package func deliver() {
    var isFirst = true
    while true {
      let (commits, handlers) = state.withLock {
        state -> ([Commit], [@Sendable (Commit) -> Void]) in
        guard !isFirst || !state.isDelivering else { return ([], []) }
        let commits = state.pending
        state.pending = []
        state.isDelivering = !commits.isEmpty
        return (commits, Array(state.handlers.values))
      }
      if commits.isEmpty { return }
      isFirst = false
      for commit in commits { for handler in handlers { handler(commit) } }
    }
  }

  /// The number of queued commits that stay separate while a handler runs; later ones are merged. Arbitrary;
  /// handlers are quick.
  private static let maximumPending = 64
}
