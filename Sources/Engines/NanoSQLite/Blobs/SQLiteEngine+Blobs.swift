// SPDX-License-Identifier: MIT

import GRDB
import NanoDocument
package import NanoEngine
import Synchronization

extension SQLiteEngine {
  package func keepBlob(
    _ digest: BlobDigest, _ interruption: Interruption?
  ) throws -> (any KeptBlob)? {
    guard let blobReaders else {
      return try PinnedBlob(digest, in: self, blobPins, interruption)
    }
    try requireUsable()
    let reader = try blobReaders.take()
    let kept: SnapshotBlob
    do {
      try reader.connection.execute(SQLiteConnection.reading)
      let found = try interruptible(interruption, reader.connection, reader.queue) {
        try SQLiteReader(reader.connection).blob(digest)
      }
      guard let found else {
        try reader.connection.execute("COMMIT")
        blobReaders.putBack(reader)
        return nil
      }
      reader.connection.owner.releaseForAssertions()
      kept = SnapshotBlob(found, reader, self)
    } catch {
      try? reader.connection.execute("ROLLBACK")
      blobReaders.putBack(reader)
      throw error
    }
    guard keptBlobs.add(kept) else {
      kept.close()
      throw Self.closed
    }
    return kept
  }
}

extension SQLiteConfiguration {
  /// The settings of connections that read attachments.
  var forBlobs: SQLiteConfiguration {
    var copy = self
    copy.mappedSize = 0
    // One chunk; its pages are read once.
    copy.pageCacheSize = min(pageCacheSize, 256 << 10)
    // Each attachment that is read occupies one, for as long as its reader takes.
    copy.maximumReaders = 10_000
    return copy
  }
}

/// A blob that is read by a connection of its own, in a transaction that began when it was found: the snapshot has its
/// chunks even if another connection, of whatever process, deletes them.
final class SnapshotBlob: KeptBlob {
  let record: BlobRecord
  private let engine: SQLiteEngine
  /// `nil` once closed.
  private let reader: Mutex<ReaderPool.Reader?>

  init(_ record: BlobRecord, _ reader: ReaderPool.Reader, _ engine: SQLiteEngine) {
    self.record = record
    self.engine = engine
    self.reader = Mutex(reader)
  }

  func read<Result>(
    _ interruption: Interruption?, _ work: (any EngineBlobReader) throws -> Result
  ) throws -> Result {
    // Held meanwhile, so that closing waits.
    try reader.withLock { reader in
      guard let reader else { throw SQLiteEngine.closed }
      try engine.requireUsable()
      reader.connection.owner.takeForAssertions()
      defer { reader.connection.owner.releaseForAssertions() }
      return try engine.interruptible(interruption, reader.connection, reader.queue) {
        try work(SQLiteReader(reader.connection))
      }
    }
  }

  func close() {
    let taken = reader.withLock { reader in
      defer { reader = nil }
      return reader
    }
    guard let taken else { return }
    engine.keptBlobs.remove(self)
    taken.connection.owner.takeForAssertions()
    try? taken.connection.execute("ROLLBACK")
    engine.blobReaders?.putBack(taken)
  }

  deinit { close() }
}
