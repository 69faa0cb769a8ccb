// SPDX-License-Identifier: MIT

import Synchronization

/// The blobs that are being read. Closing the engine closes them first, since each occupies a connection.
package final class KeptBlobs: Sendable {
  private struct Entry {
    weak var blob: (any KeptBlob)?
  }
  private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

  package init() {}

  package func add(_ blob: any KeptBlob) {
    entries.withLock { $0[ObjectIdentifier(blob)] = Entry(blob: blob) }
  }

  package func remove(_ blob: any KeptBlob) {
    entries.withLock { $0[ObjectIdentifier(blob)] = nil }
  }

  package func closeAll() {
    let open = entries.withLock { entries in
      defer { entries = [:] }
      return entries.values.compactMap(\.blob)
    }
    for blob in open { blob.close() }
  }
}
