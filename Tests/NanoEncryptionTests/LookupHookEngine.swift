// SPDX-License-Identifier: MIT

import NanoEngine
import Synchronization

/// An engine that runs a closure before each lookup of content to keep, with the number of the lookup.
final class LookupHookEngine: Engine {
  private let engine: any Engine
  private let lookups = Atomic(0)
  private let willLookUp: @Sendable (Int) throws -> Void

  init(_ engine: any Engine, _ willLookUp: @escaping @Sendable (Int) throws -> Void) {
    self.engine = engine
    self.willLookUp = willLookUp
  }

  func keepBlob(_ digest: BlobDigest, _ interruption: Interruption?) throws -> (any KeptBlob)? {
    try willLookUp(lookups.add(1, ordering: .relaxed).newValue)
    return try engine.keepBlob(digest, interruption)
  }

  var capabilities: Capabilities { engine.capabilities }

  func read<Result>(
    _ scope: ReadScope, _ interruption: Interruption?,
    _ work: (any EngineReader) throws -> Result
  ) throws -> Result {
    try engine.read(scope, interruption, work)
  }

  func write<Result>(
    _ isolation: Isolation, _ interruption: Interruption?,
    _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    try engine.write(isolation, interruption, work)
  }

  func observeCommits(_ handler: @escaping @Sendable (Commit) -> Void) throws -> CommitObservation {
    try engine.observeCommits(handler)
  }

  func compact() throws { try engine.compact() }
  func backup(to destination: BackupDestination, progress: ((Double) throws -> Void)?) throws {
    try engine.backup(to: destination, progress: progress)
  }
  func verify() throws -> [VerificationProblem] { try engine.verify() }
  func statistics() throws -> EngineStatistics { try engine.statistics() }
  func close() throws { try engine.close() }
}
