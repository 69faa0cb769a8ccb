// SPDX-License-Identifier: MIT

import Synchronization

/// The blobs that this process is reading, which must not be deleted. Used by engines whose readers have no snapshots.
package final class BlobPins: Sendable {
  private let counts = Mutex<[Int64: Int]>([:])

  package init() {}

  package func pin(_ rowID: Int64) { counts.withLock { $0[rowID, default: 0] += 1 } }

  package func unpin(_ rowID: Int64) {
    counts.withLock { counts in
      guard let count = counts[rowID] else { return }
      counts[rowID] = count > 1 ? count - 1 : nil
    }
  }

  package func contains(_ rowID: Int64) -> Bool { counts.withLock { $0[rowID] != nil } }
}
