// SPDX-License-Identifier: MIT

package import NanoDocument
import Synchronization

/// An engine that forwards every call to a wrapped engine, and checks that both sides respect the contract.
///
/// Debug builds wrap the engine of every store, and the conformance suite wraps every engine. A violation ends the
/// process with a message that names the engine, the call, and the rule:
///
/// ```swift
/// let engine = ContractCheckingEngine(try SQLiteEngine(.memory, .init()))
/// try engine.write(nil) { escaped = $0 }
/// try escaped.count(Query(), in: "people")  // SQLiteEngine.count(_:in:): The reader or writer was used …
/// ```
package final class ContractCheckingEngine: Engine {
  /// The wrapped engine.
  package let base: any Engine
  private let reporter: ContractReporter
  /// Whether ``close()`` has returned.
  private let isClosed = Atomic(false)
  /// The threads that run the blocks of transactions.
  private let writing = Mutex<Set<UInt>>([])

  /// - Parameter onViolation: Called on the thread of the violating call, which continues if the handler returns.
  package init(
    _ base: any Engine, onViolation: @escaping ContractViolation.Handler = ContractViolation.trap
  ) {
    self.base = base
    reporter = ContractReporter(engine: "\(type(of: base))", handler: onViolation)
  }

  /// Runs a call of the engine. The result of a call on the closed engine is accepted if `isNothing` returns true.
  private func checked<Result>(
    _ interruption: Interruption? = nil, _ call: StaticString = #function,
    orNothing isNothing: (Result) -> Bool = { _ in false },
    _ work: (ContractCheck) throws -> Result
  ) throws -> Result {
    let check = ContractCheck(reporter, call)
    let mustFail = isClosed.load(ordering: .acquiring)
    do {
      let result = try check.run { try work(check) }
      if mustFail { check.require(isNothing(result), .usableAfterClose) }
      return result
    } catch {
      if mustFail, interruption?.isTriggered != true {
        check.require((error as? StoreError)?.code == .closed, .usableAfterClose)
      }
      throw error
    }
  }

  /// Runs the block of a transaction or a snapshot, which the engine must run once.
  private func runBlock<Result>(
    _ check: ContractCheck, _ work: (BlockScope) throws -> Result
  ) throws -> Result {
    check.require(check.count == 0, .blockNotRunOnce)
    let scope = BlockScope()
    defer { scope.end() }
    return try check.callerClosure { try work(scope) }
  }

  package var capabilities: Capabilities { base.capabilities }

  package func read<Result>(
    _ scope: ReadScope, _ interruption: Interruption?,
    _ work: (any EngineReader) throws -> Result
  ) throws -> Result {
    try checked(interruption) { check in
      let result = try base.read(scope, interruption) { reader in
        try runBlock(check) { try work(CheckedReader.wrapping(reader, $0, reporter)) }
      }
      check.require(check.count == 1, .blockNotRunOnce)
      return result
    }
  }

  package func get(
    _ identity: Identity, in collection: String, _ interruption: Interruption?,
    _ visit: (StoredDocument) throws -> Void
  ) throws -> Bool {
    try checked(interruption) { check in
      let exists = try base.get(identity, in: collection, interruption) { document in
        check.require(document.has(identity), .wrongDocument)
        try check.callerClosure { try visit(document) }
      }
      check.require(check.count == (exists ? 1 : 0), .wrongResult)
      return exists
    }
  }

  package func get(
    keys: [DocumentKey], in collection: String, _ interruption: Interruption?,
    _ visit: (StoredDocument) throws -> Void
  ) throws {
    try checked(interruption) { check in
      var requested = RequestedKeys(keys, check)
      try base.get(keys: keys, in: collection, interruption) { document in
        requested.receive(document)
        try check.callerClosure { try visit(document) }
      }
    }
  }

  package var concurrentWrites: Int { base.concurrentWrites }
  package var maximumReads: Int { base.maximumReads }
  package var isReadOnly: Bool { base.isReadOnly }
  package var clock: any StoreClock { base.clock }
  package var hasExpirations: Bool { base.hasExpirations }
  package var lastCommit: CommitStamp? { base.lastCommit }

  package func write<Result>(
    _ isolation: Isolation, _ interruption: Interruption?,
    _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    try checked(interruption) { check in
      let thread = ThreadOwner.current
      check.require(!writing.withLock { $0.contains(thread) }, .nestedWrite)
      let result = try base.write(isolation, interruption) { writer in
        let count = writing.withLock { writing in
          writing.insert(thread)
          return writing.count
        }
        defer { writing.withLock { _ = $0.remove(thread) } }
        check.require(count == 1 || base.concurrentWrites > 1, .tooManyWriters)
        return try runBlock(check) { try work(CheckedWriter.wrapping(writer, $0, reporter)) }
      }
      check.require(check.count == 1, .blockNotRunOnce)
      return result
    }
  }

  package func put(
    _ document: NewDocument, newKey: DocumentKey, replacing: Bool, into collection: String,
    _ interruption: Interruption?
  ) throws -> (rowID: Int64, key: DocumentKey?)? {
    try checked(interruption, orNothing: { $0 == nil }) { check in
      let stored = try base.put(
        document, newKey: newKey, replacing: replacing, into: collection, interruption)
      guard let stored else { return nil }
      check.require(StoredNames.isAcceptable(collection), .acceptedInvalidName)
      check.require(replacing || stored.rowID > 0, .rowIDNotPositive)
      check.require(document.key == nil || stored.key == document.key, .wrongResult)
      return stored
    }
  }

  package func replace(
    key: DocumentKey, with document: NewDocument, in collection: String,
    _ interruption: Interruption?
  ) throws -> Bool? {
    try checked(interruption, orNothing: { $0 == nil }) { _ in
      try base.replace(key: key, with: document, in: collection, interruption)
    }
  }

  package func delete(
    key: DocumentKey, from collection: String, unless references: String,
    _ interruption: Interruption?
  ) throws -> Bool? {
    try checked(interruption, orNothing: { $0 == nil }) { _ in
      try base.delete(key: key, from: collection, unless: references, interruption)
    }
  }

  package func createIndexConcurrently(
    _ index: IndexDefinition, in collection: String, _ interruption: Interruption?
  ) throws -> Bool {
    try checked(interruption) { check in
      let isDone = try base.createIndexConcurrently(index, in: collection, interruption)
      check.require(!isDone || StoredNames.isAcceptable(collection), .acceptedInvalidName)
      return isDone
    }
  }

  package func keepBlob(
    _ digest: BlobDigest, _ interruption: Interruption?
  ) throws -> (any KeptBlob)? {
    try checked(interruption) { check in
      let blob = try base.keepBlob(digest, interruption)
      check.require(blob == nil || blob?.record.digest == digest, .wrongResult)
      return blob
    }
  }

  package func observeCommits(
    _ handler: @escaping @Sendable (Commit) -> Void
  ) throws -> CommitObservation {
    try checked { check in
      let observation = try base.observeCommits(handler)
      check.require(capabilities.contains(.changes), .missingCapability)
      return observation
    }
  }

  package func compact() throws { try checked { _ in try base.compact() } }

  package func backup(
    to destination: BackupDestination, progress: ((Double) throws -> Void)?
  ) throws {
    try checked { check in
      try base.backup(to: destination, progress: progress.map(check.progress))
      check.require(capabilities.contains(.backup), .missingCapability)
    }
  }

  package func verify() throws -> [VerificationProblem] { try checked { _ in try base.verify() } }

  package func statistics() throws -> EngineStatistics {
    try checked { check in
      let statistics = try base.statistics()
      check.require(statistics.size >= 0 && statistics.unused >= 0, .negativeCount)
      return statistics
    }
  }

  package func close() throws {
    try ContractCheck(reporter, #function).run { try base.close() }
    isClosed.store(true, ordering: .releasing)
  }
}

extension Engine {
  /// The engine with checks in debug builds, and the engine itself in release builds.
  package var checkedInDebugBuilds: any Engine {
    #if DEBUG
      self is ContractCheckingEngine
        ? self : ContractCheckingEngine(self, onViolation: ContractViolation.print)
    #else
      self
    #endif
  }

  /// The engine without the checks of debug builds.
  package var unchecked: any Engine { (self as? ContractCheckingEngine)?.base ?? self }
}
