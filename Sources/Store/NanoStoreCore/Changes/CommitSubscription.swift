// SPDX-License-Identifier: MIT

package import NanoEngine

/// The commits of a store from now on, for one reader, which receives all that have waited as a single commit.
package final class CommitSubscription: Sendable {
  private let store: Store
  private let buffer = FeedBuffer(nil)

  /// - Throws: ``StoreError/Code/closed``, ``StoreError/Code/unsupported``.
  package init(_ store: Store) throws {
    self.store = store
    try store.hub.add(buffer, on: store.engine())
  }

  deinit { store.hub.remove(buffer) }

  /// Returns the next commits, merged; nil when the store is closed or the task is canceled.
  package func next() async -> Commit? {
    guard var commit = await buffer.next() else { return nil }
    for later in buffer.takeWaiting() { commit.merge(later) }
    return commit
  }
}
