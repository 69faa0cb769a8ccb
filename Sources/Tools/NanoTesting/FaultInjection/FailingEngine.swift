// SPDX-License-Identifier: MIT

package import NanoDocument
package import NanoEngine
import Synchronization

/// An engine that forwards every call to a wrapped engine and fails a chosen one.
///
/// Every method of a reader or writer counts as a call, as does every entry point of the engine: `read`, `write`,
/// `get`, `put`, `observeCommits`, `compact`, `backup`, `verify`, `statistics`, `close`, and the commit at the end of a
/// `write`.
///
/// ```swift
/// let engine = FailingEngine(try SQLiteEngine(.memory, .init()))
/// engine.fail(at: 3, StoreError(.full, "No space is left for the database"))
/// ```
package final class FailingEngine: Engine {
  private let engine: any Engine
  private let plan = FailurePlan()

  package init(_ engine: any Engine) { self.engine = engine }

  /// Fails the call with the given number, counted from 1 starting now; all other calls are forwarded.
  package func fail(at call: Int, _ error: StoreError) { plan.set(call, error) }

  /// Stops failing calls, and restarts the count at 1.
  package func succeed() { plan.set(0, nil) }

  /// The number of calls since the last ``fail(at:_:)`` or ``succeed()``.
  package var calls: Int { plan.count }

  /// The capabilities of the wrapped engine without ``Capabilities/sql``, since SQL is not forwarded.
  package var capabilities: Capabilities { engine.capabilities.subtracting(.sql) }

  package func read<Result>(
    _ scope: ReadScope, _ interruption: Interruption?,
    _ work: (any EngineReader) throws -> Result
  ) throws -> Result {
    try plan.call()
    return try engine.read(scope, interruption) { try work(FailingReader($0, plan)) }
  }

  package var concurrentWrites: Int { engine.concurrentWrites }
  package var maximumReads: Int { engine.maximumReads }
  package var isReadOnly: Bool { engine.isReadOnly }
  package var clock: any StoreClock { engine.clock }
  package var hasExpirations: Bool { engine.hasExpirations }
  package var lastCommit: CommitStamp? { engine.lastCommit }

  package func write<Result>(
    _ isolation: Isolation, _ interruption: Interruption?,
    _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    try plan.call()
    return try engine.write(isolation, interruption) { writer in
      let result = try work(FailingWriter(writer, plan))
      // This call stands for the commit.
      try plan.call()
      return result
    }
  }

  package func get(
    _ identity: Identity, in collection: String, _ interruption: Interruption?,
    _ visit: (StoredDocument) throws -> Void
  ) throws -> Bool {
    try plan.call()
    return try engine.get(identity, in: collection, interruption, visit)
  }

  package func get(
    keys: [DocumentKey], in collection: String, _ interruption: Interruption?,
    _ visit: (StoredDocument) throws -> Void
  ) throws {
    try plan.call()
    try engine.get(keys: keys, in: collection, interruption, visit)
  }

  package func put(
    _ document: NewDocument, newKey: DocumentKey, replacing: Bool, into collection: String,
    _ interruption: Interruption?
  ) throws -> (rowID: Int64, key: DocumentKey?)? {
    try plan.call()
    return try engine.put(
      document, newKey: newKey, replacing: replacing, into: collection, interruption)
  }

  package func replace(
    key: DocumentKey, with document: NewDocument, in collection: String,
    _ interruption: Interruption?
  ) throws -> Bool? {
    try plan.call()
    return try engine.replace(key: key, with: document, in: collection, interruption)
  }

  package func delete(
    key: DocumentKey, from collection: String, unless references: String,
    _ interruption: Interruption?
  ) throws -> Bool? {
    try plan.call()
    return try engine.delete(key: key, from: collection, unless: references, interruption)
  }

  package func createIndexConcurrently(
    _ index: IndexDefinition, in collection: String, _ interruption: Interruption?
  ) throws -> Bool {
    try plan.call()
    return try engine.createIndexConcurrently(index, in: collection, interruption)
  }

  package func keepBlob(
    _ digest: BlobDigest, _ interruption: Interruption?
  ) throws -> (any KeptBlob)? {
    try plan.call()
    return try engine.keepBlob(digest, interruption)
  }

  package func observeCommits(
    _ handler: @escaping @Sendable (Commit) -> Void
  ) throws -> CommitObservation {
    try plan.call()
    return try engine.observeCommits(handler)
  }

  package func compact() throws {
    try plan.call()
    try engine.compact()
  }

  package func backup(
    to destination: BackupDestination, progress: ((Double) throws -> Void)?
  ) throws {
    try plan.call()
    try engine.backup(to: destination, progress: progress)
  }

  package func verify() throws -> [VerificationProblem] {
    try plan.call()
    return try engine.verify()
  }

  package func statistics() throws -> EngineStatistics {
    try plan.call()
    return try engine.statistics()
  }

  package func close() throws {
    try plan.call()
    try engine.close()
  }
}

/// Counts calls and determines which one fails.
final class FailurePlan: Sendable {
  private struct State {
    var count = 0
    var failing = 0
    var error: StoreError?
  }
  private let state = Mutex(State())

  var count: Int { state.withLock(\.count) }

  func set(_ call: Int, _ error: StoreError?) {
    state.withLock { $0 = State(count: 0, failing: call, error: error) }
  }

  func call() throws(StoreError) {
    try state.withLock { state throws(StoreError) in
      state.count += 1
      if state.count == state.failing, let error = state.error { throw error }
    }
  }
}
