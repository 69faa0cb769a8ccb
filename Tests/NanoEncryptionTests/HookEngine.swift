// SPDX-License-Identifier: MIT

import NanoEngine
import NanoTesting
import Synchronization

/// An engine that runs closures at certain moments of other calls.
final class HookEngine: ForwardingEngine {
  let engine: any Engine
  private let lookups = Atomic(0)
  private let willLookUp: @Sendable (Int) throws -> Void
  private let didCommit = Mutex<(@Sendable () throws -> Void)?>(nil)

  /// - Parameter willLookUp: Called before each lookup of content to keep, with the number of the lookup.
  init(_ engine: any Engine, willLookUp: @escaping @Sendable (Int) throws -> Void = { _ in }) {
    self.engine = engine
    self.willLookUp = willLookUp
  }

  /// Runs a closure once, when the next transaction is committed and its caller does not know it yet.
  func onNextCommit(_ work: @escaping @Sendable () throws -> Void) {
    didCommit.withLock { $0 = work }
  }

  func keepBlob(_ digest: BlobDigest, _ interruption: Interruption?) throws -> (any KeptBlob)? {
    try willLookUp(lookups.add(1, ordering: .relaxed).newValue)
    return try engine.keepBlob(digest, interruption)
  }

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
    let result = try engine.write(isolation, interruption, work)
    let hook = didCommit.withLock { hook -> (@Sendable () throws -> Void)? in
      defer { hook = nil }
      return hook
    }
    try hook?()
    return result
  }

  func observeCommits(_ handler: @escaping @Sendable (Commit) -> Void) throws -> CommitObservation {
    try engine.observeCommits(handler)
  }
}
