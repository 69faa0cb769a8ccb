// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import Synchronization

/// The cached documents of one collection.
final class CollectionCache: Sendable {
  private let contents: Mutex<CacheContents>
  /// The caches of the store, which share a memory limit.
  private unowned let all: DocumentCache

  init(size: Int, of all: DocumentCache) {
    contents = Mutex(CacheContents(size: size))
    self.all = all
  }

  /// Runs a block on the contents, then enforces the memory limit of the store.
  @inline(__always)
  func withContents<Result: Sendable>(
    _ work: (inout CacheContents) throws -> Result
  ) rethrows -> Result {
    let (result, change) = try contents.withLock { contents in
      let before = contents.bytes
      return (try work(&contents), contents.bytes - before)
    }
    if change != 0 { all.note(change) }
    return result
  }

  /// Evicts the oldest documents, at least this many bytes if there are as many, and returns the number of bytes.
  func evict(_ bytes: Int) -> Int {
    contents.withLock { contents in
      let before = contents.bytes
      while contents.kept.count > 0, before - contents.bytes < bytes { contents.dropOldest() }
      return before - contents.bytes
    }
  }

  var bytes: Int { contents.withLock(\.bytes) }

  @inline(__always)
  func document(
    _ stored: StoredDocument, in collection: String, isCommitted: Bool, _ state: CommittedState?
  ) -> (document: Document, wasKnown: Bool) {
    withContents {
      $0.document(stored, isCommitted: isCommitted, in: state) { Document(stored, in: collection) }
    }
  }
}
