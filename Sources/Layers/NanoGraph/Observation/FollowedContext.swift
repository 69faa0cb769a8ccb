// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoStoreCore

// @unchecked: `context` is used only on the actor that it belongs to; loading a weak reference is atomic.
/// A context that follows the store, and its actor. Neither is retained, because the actor may own the context.
final class FollowedContext: @unchecked Sendable {
  private weak var context: ObjectContext?
  private weak var actor: (any Actor)?

  init(_ context: ObjectContext, on actor: (any Actor)?) {
    self.context = context
    self.actor = actor
  }

  /// Merges commits into the context until the store is closed, the context is released, or the task is canceled.
  ///
  /// - Parameter subscription: Nil if the server could not be reached.
  func follow(_ store: Store, _ subscription: CommitSubscription?) async throws {
    guard let subscription else { return try await followLater(store) }
    while let commit = await subscription.next() {
      try await merge(commit)
      try await Task.sleep(for: ObjectContext.interval)
    }
  }

  private func followLater(_ store: Store) async throws {
    var pause = RetryPause()
    while true {
      try await pause.wait()
      do {
        let subscription = try await store.onReader { try CommitSubscription(store) }
        // What was committed in the meantime is unknown.
        try await merge(.everything)
        return try await follow(store, subscription)
      } catch let error as StoreError where error.isRetryable {}
    }
  }

  /// Merges a commit. While the server cannot be reached, the objects stay as they are.
  private func merge(_ commit: Commit) async throws {
    var pause = RetryPause()
    while try await !attempt(commit) { try await pause.wait() }
  }

  private func attempt(_ commit: Commit) async throws -> Bool {
    guard let actor else { throw CancellationError() }
    return try await merge(commit, on: actor)
  }

  /// - Returns: False if the documents could not be read at the moment.
  private func merge(_ commit: Commit, on actor: isolated any Actor) async throws -> Bool {
    guard let context else { throw CancellationError() }
    do {
      try await context.merge(commit)
    } catch let error as StoreError where error.isRetryable {
      return false
    } catch let error as StoreError where error.code == .closed {
      // What is in memory can still be read.
    } catch let error as CancellationError {
      throw error
    } catch {
      context.discard(commit)
    }
    return true
  }
}
