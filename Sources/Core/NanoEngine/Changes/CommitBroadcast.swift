// SPDX-License-Identifier: MIT

import Synchronization

/// Tells the observers of an engine of its commits, in their order.
///
/// For those who write an engine: ``post(_:)`` inside of the lock that puts commits in order, after
/// the commit, and ``deliver()`` when that lock is given back.
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
    var waiting: [Commit] = []
    var isDelivering = false
  }
  private let state = Mutex(State())
  private let count = Atomic(0)

  package init() {}

  /// Whether anybody listens. Asked after the commit too: one who registers before a commit and reads
  /// after that misses nothing.
  @inline(__always)
  package var isObserved: Bool { count.load(ordering: .sequentiallyConsistent) > 0 }

  /// Calls the handler for every commit from now on.
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

  /// Keeps a commit to be told of; one that changed nothing is left out.
  package func post(_ commit: Commit) {
    guard !commit.isEmpty else { return }
    state.withLock { state in
      guard !state.handlers.isEmpty else { return state.waiting.removeAll() }
      if state.waiting.count < Self.maximumWaiting {
        state.waiting.append(commit)
      } else {
        state.waiting[state.waiting.count - 1].merge(commit)
      }
    }
  }

  /// Tells of what is kept, unless another thread does so already and will find it.
  package func deliver() {
    var isFirst = true
    while true {
      let (commits, handlers) = state.withLock {
        state -> ([Commit], [@Sendable (Commit) -> Void]) in
        guard !isFirst || !state.isDelivering else { return ([], []) }
        let commits = state.waiting
        state.waiting = []
        state.isDelivering = !commits.isEmpty
        return (commits, Array(state.handlers.values))
      }
      if commits.isEmpty { return }
      isFirst = false
      for commit in commits { for handler in handlers { handler(commit) } }
    }
  }

  /// Commits kept apart while a handler runs. Arbitrary; handlers are quick.
  private static let maximumWaiting = 64
}
