// SPDX-License-Identifier: MIT

import NanoDocument
import Synchronization

/// A blob that is read in one call of the engine for each chunk, and pinned in between.
package final class PinnedBlob: KeptBlob {
  package let record: BlobRecord
  private let engine: any Engine
  private let pins: BlobPins
  private let isClosed = Atomic(false)

  /// Finds a blob and pins it in one call, so that it cannot be deleted in between.
  package init?(
    _ digest: BlobDigest, in engine: any Engine, _ pins: BlobPins, _ interruption: Interruption?
  ) throws {
    let found = try engine.read(.snapshot, interruption) { reader in
      let found = try reader.blob(digest)
      if let found { pins.pin(found.rowID) }
      return found
    }
    guard let found else { return nil }
    record = found
    self.engine = engine
    self.pins = pins
  }

  package func read<Result>(
    _ interruption: Interruption?, _ work: (any EngineBlobReader) throws -> Result
  ) throws -> Result {
    guard !isClosed.load(ordering: .acquiring) else {
      throw StoreError(.closed, "The attachment is no longer being read")
    }
    return try engine.read(.snapshot, interruption) { try work($0) }
  }

  package func close() {
    guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    pins.unpin(record.rowID)
  }

  deinit { close() }
}
