// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
package import NanoEngine

extension PostgresEngine {
  package func keepBlob(
    _ digest: BlobDigest, _ interruption: Interruption?
  ) throws -> (any KeptBlob)? {
    try core.convertingErrors {
      try interruption?.check()
      let session = PostgresSession(core.pool, .snapshot, nil)
      do {
        let reader = PostgresReader(core, session)
        guard let record = try reader.blob(digest) else {
          session.end()
          return nil
        }
        let kept = PostgresKeptBlob(record, reader, session, self)
        guard keptBlobs.add(kept) else {
          kept.close()
          throw PostgresPool.closed
        }
        return kept
      } catch {
        session.end()
        throw error
      }
    }
  }
}

// @unchecked: `reader` and `session` are used only while `lock` is held.
/// A blob that is read in a transaction of its own, whose snapshot has its chunks even if another one deletes them. It
/// occupies a connection of the pool.
final class PostgresKeptBlob: KeptBlob, @unchecked Sendable {
  let record: BlobRecord
  private let lock = NSLock()
  private let engine: PostgresEngine
  private let reader: PostgresReader
  /// `nil` once closed.
  private var session: PostgresSession?

  init(
    _ record: BlobRecord, _ reader: PostgresReader, _ session: PostgresSession,
    _ engine: PostgresEngine
  ) {
    self.record = record
    self.reader = reader
    self.session = session
    self.engine = engine
  }

  func read<Result>(
    _ interruption: Interruption?, _ work: (any EngineBlobReader) throws -> Result
  ) throws -> Result {
    // Held meanwhile, so that closing waits.
    lock.lock()
    defer { lock.unlock() }
    guard session != nil else { throw PostgresPool.closed }
    return try engine.core.convertingErrors {
      try interruption?.check()
      return try work(reader)
    }
  }

  func close() {
    lock.lock()
    let taken = session
    session = nil
    taken?.end()
    lock.unlock()
    if taken != nil { engine.keptBlobs.remove(self) }
  }

  deinit { close() }
}
