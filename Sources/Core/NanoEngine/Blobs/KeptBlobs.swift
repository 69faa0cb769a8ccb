// SPDX-License-Identifier: MIT

import Synchronization

/// The blobs that are being read. Closing the engine closes them first, since each occupies a connection.
package final class KeptBlobs: Sendable {
  private struct Entry {
    weak var blob: (any KeptBlob)?
  }
  /// Nil once they are closed.
  private let entries = Mutex<[ObjectIdentifier: Entry]?>([:])

  package init() {}

  /// - Returns: False if the engine is being closed: the caller closes the blob.
  package func add(_ blob: any KeptBlob) -> Bool {
    entries.withLock { entries in
      entries?[ObjectIdentifier(blob)] = Entry(blob: blob)
      return entries != nil
    }
  }

  package func remove(_ blob: any KeptBlob) {
    entries.withLock { $0?[ObjectIdentifier(blob)] = nil }
  }

  package func closeAll() {
    let open = entries.withLock { entries in
      defer { entries = nil }
      return entries?.values.compactMap(\.blob) ?? []
    }
    for blob in open { blob.close() }
  }
}
