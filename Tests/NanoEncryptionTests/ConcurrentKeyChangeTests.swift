// SPDX-License-Identifier: MIT

import NanoEncryption
import NanoEngine
import NanoTesting
import Synchronization
import Testing

@Suite("Concurrent key changes")
struct ConcurrentKeyChangeTests {
  @Test("After two concurrent key changes, a store reopens with the key that was set last")
  func reopening() throws {
    let inner = CommitHookEngine(ReferenceEngine())
    let session = EncryptionSession(.test())
    let engine = try EncryptedEngine(inner, session)
    inner.onNextCommit { try engine.changeKey(to: .passphrase("second"), cost: .small) }

    try engine.changeKey(to: .passphrase("first"), cost: .small)

    #expect(code { _ = try EncryptedEngine(inner, .test("second")) } == nil)
    #expect(code { _ = try EncryptedEngine(inner, session) } == nil)
  }
}

/// An engine that runs a closure once, when the next transaction is committed and its caller does not know it yet.
private final class CommitHookEngine: Engine {
  private let engine: any Engine
  private let didCommit = Mutex<(@Sendable () throws -> Void)?>(nil)

  init(_ engine: any Engine) { self.engine = engine }

  func onNextCommit(_ work: @escaping @Sendable () throws -> Void) {
    didCommit.withLock { $0 = work }
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
    let result = try engine.write(isolation, interruption, work)
    let hook = didCommit.withLock { hook -> (@Sendable () throws -> Void)? in
      let taken = hook
      hook = nil
      return taken
    }
    try hook?()
    return result
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
