// SPDX-License-Identifier: MIT

import NanoStore
import NanoTesting
import Synchronization

/// The counterpart of a file for the reference engine, which keeps its contents between openings.
final class Reference: Sendable {
  private let clock: ManualClock
  private let engine: Mutex<ReferenceEngine>

  init(_ clock: ManualClock) {
    self.clock = clock
    engine = Mutex(ReferenceEngine(clock: clock))
  }

  var opened: SharedEngine { SharedEngine(engine.withLock { $0 }) }
  /// Removes the contents, as closing an in-memory store does.
  func empty() { engine.withLock { $0 = ReferenceEngine(clock: clock) } }
}

/// An engine whose contents outlive the store that opened it, like a file.
final class SharedEngine: Engine {
  private let engine: ReferenceEngine
  private let isClosed = Atomic(false)

  init(_ engine: ReferenceEngine) { self.engine = engine }

  var capabilities: Capabilities { engine.capabilities }
  var clock: any StoreClock { engine.clock }
  var hasExpirations: Bool { engine.hasExpirations }

  private func opened() throws -> ReferenceEngine {
    if isClosed.load(ordering: .relaxed) { throw StoreError(.closed, "The store is closed") }
    return engine
  }

  func read<Result>(
    _ scope: ReadScope, _ interruption: Interruption?,
    _ work: (any EngineReader) throws -> Result
  ) throws -> Result {
    try opened().read(scope, interruption, work)
  }

  func write<Result>(
    _ isolation: Isolation, _ interruption: Interruption?,
    _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    try opened().write(isolation, interruption, work)
  }

  func keepBlob(_ digest: BlobDigest, _ interruption: Interruption?) throws -> (any KeptBlob)? {
    try opened().keepBlob(digest, interruption)
  }

  func observeCommits(_ handler: @escaping @Sendable (Commit) -> Void) throws -> CommitObservation {
    try opened().observeCommits(handler)
  }

  func compact() throws { try opened().compact() }
  func backup(to destination: BackupDestination, progress: ((Double) throws -> Void)?) throws {
    try opened().backup(to: destination, progress: progress)
  }
  func verify() throws -> [VerificationProblem] { try opened().verify() }
  func statistics() throws -> EngineStatistics { try opened().statistics() }
  func close() throws { isClosed.store(true, ordering: .relaxed) }
}
