// SPDX-License-Identifier: MIT

import NanoDocument
import Synchronization

/// Keeps a commit handler registered until the observation is canceled or deallocated.
package final class CommitObservation: Sendable {
  private let end: Mutex<(@Sendable () -> Void)?>

  package init(_ end: @escaping @Sendable () -> Void) { self.end = Mutex(end) }

  deinit { cancel() }

  /// Cancels the observation.
  ///
  /// A handler call that is running on another thread finishes; no later call begins. Calling this more than
  /// once has no effect.
  package func cancel() {
    let end = end.withLock { end in
      defer { end = nil }
      return end
    }
    end?()
  }
}

/// The default for engines without ``Capabilities/changes``.
extension Engine {
  package func observeCommits(
    _ handler: @escaping @Sendable (Commit) -> Void
  ) throws -> CommitObservation {
    throw StoreError(.unsupported, "The engine does not report commits", [.capability: "changes"])
  }
}
