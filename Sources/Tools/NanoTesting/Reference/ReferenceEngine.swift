// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
package import NanoEngine
import Synchronization

// @unchecked: `state` and the counters are touched only while `lock` is held.
/// A straightforward implementation of the engine contract: documents in arrays, conditions evaluated on each.
///
/// The reference for comparing other engines. It is not fast and stores nothing on disk.
///
/// ```swift
/// let engine = ReferenceEngine()
/// let id = try engine.write(nil) { try $0.insert(document, into: "people") }
/// ```
package final class ReferenceEngine: Engine, @unchecked Sendable {
  private let lock = NSCondition()
  private var state = ReferenceState()
  private var isWriting = false
  private var running = 0
  private var isClosed = false
  private let commits = CommitBroadcast()
  /// A number that is unique to each engine.
  private let number = ReferenceEngine.lastNumber.add(1, ordering: .relaxed).newValue
  private static let lastNumber = Atomic<UInt32>(0)

  package let clock: any StoreClock
  /// - Parameter clock: The clock by which documents expire.
  package init(clock: any StoreClock = SystemClock()) { self.clock = clock }

  package var hasExpirations: Bool {
    lock.withLock { state.collections.values.contains(where: \.hasExpirations) }
  }

  package var lastCommit: CommitStamp? {
    lock.withLock { isClosed ? nil : CommitStamp(words: .zero, count: state.commits) }
  }

  package var capabilities: Capabilities {
    [
      .uniqueIndexes, .elementIndexes, .uniqueElementIndexes, .concurrentReads, .everythingIndex,
      .changes, .fullTextIndexes, .blobs, .expiration,
    ]
  }

  /// Reads a copy of the state, which is a value and therefore a snapshot.
  package func read<Result>(
    _ scope: ReadScope, _ interruption: Interruption?,
    _ work: (any EngineReader) throws -> Result
  ) throws -> Result {
    try running(interruption) { cancellation in
      try work(ReferenceReader(lock.withLock { state }, number, cancellation, clock))
    }
  }

  package func write<Result>(
    _ isolation: Isolation, _ interruption: Interruption?,
    _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    defer { commits.deliver() }
    return try running(interruption) { cancellation in
      lock.lock()
      while isWriting { lock.wait() }
      isWriting = true
      let writer = ReferenceWriter(state, number, cancellation, clock)
      lock.unlock()
      defer {
        lock.lock()
        isWriting = false
        lock.broadcast()
        lock.unlock()
      }
      let result = try work(writer)
      writer.state.commits += 1
      let before = lock.withLock {
        defer { state = writer.state }
        return state
      }
      commits.post(Commit(writer.state.changes(since: before)))
      return result
    }
  }

  package func keepBlob(
    _ digest: BlobDigest, _ interruption: Interruption?
  ) throws -> (any KeptBlob)? {
    try read(.snapshot, interruption) { reader in
      guard let reader = reader as? ReferenceReader, let record = try reader.blob(digest) else {
        return nil
      }
      return ReferenceKeptBlob(record, reader.state, number) { [self] in
        try running(nil) { _ in lock.withLock { state } }
      }
    }
  }

  package func observeCommits(
    _ handler: @escaping @Sendable (Commit) -> Void
  ) throws -> CommitObservation {
    try running(nil) { _ in commits.observe(handler) }
  }

  private func running<Result>(
    _ interruption: Interruption?, _ work: (CancellationFlag) throws -> Result
  ) throws -> Result {
    try lock.withLock {
      guard !isClosed else { throw StoreError(.closed, "The store is closed") }
      running += 1
    }
    defer {
      lock.lock()
      running -= 1
      lock.broadcast()
      lock.unlock()
    }
    let cancellation = CancellationFlag()
    guard let interruption else { return try work(cancellation) }
    return try interruption.whileRunning(stop: { cancellation.set() }, { try work(cancellation) })
  }

  package func compact() throws { try running(nil) { _ in } }

  package func backup(to destination: BackupDestination, progress: ((Double) throws -> Void)?)
    throws
  {
    try running(nil) { _ in
      throw StoreError(
        .unsupported, "The reference engine keeps no files", [.capability: "backup"])
    }
  }

  package func verify() throws -> [VerificationProblem] { try running(nil) { _ in [] } }

  package func statistics() throws -> EngineStatistics {
    try read(.snapshot, nil) { reader in
      EngineStatistics(
        collections: try reader.collections().map {
          EngineStatistics.Collection(
            name: $0.name, documents: try reader.count(.init(), in: $0.name),
            indexes: try reader.indexes(in: $0.name).count)
        },
        size: 0, unused: 0, engine: "reference", settings: [:])
    }
  }

  package func close() throws {
    lock.lock()
    isClosed = true
    while running > 0 { lock.wait() }
    lock.unlock()
  }

  deinit { try? close() }
}
