// SPDX-License-Identifier: MIT

import NanoDocument
import Synchronization

/// Keeps a handler of commits registered until it is cancelled or let go of.
package final class CommitObservation: Sendable {
  private let end: Mutex<(@Sendable () -> Void)?>

  package init(_ end: @escaping @Sendable () -> Void) { self.end = Mutex(end) }

  deinit { cancel() }

  /// Ends it. A call of the handler that runs at this moment on another thread goes on, no other
  /// begins. A second time it does nothing.
  package func cancel() {
    let end = end.withLock { end in
      defer { end = nil }
      return end
    }
    end?()
  }
}

/// What engines without ``Capabilities/changes`` do.
extension Engine {
  package func observeCommits(
    _ handler: @escaping @Sendable (Commit) -> Void
  ) throws -> CommitObservation {
    throw StoreError(.unsupported, "The engine does not tell of commits", [.capability: "changes"])
  }
}
