// SPDX-License-Identifier: MIT

import NanoEngine

/// How operations that are not queued keep the order: through here goes each that reads or writes
/// documents of a collection.
extension DocumentCollection {
  @inline(__always)
  func reading<Result>(
    _ scope: ReadScope, _ work: (any EngineReader) throws -> Result
  ) throws -> Result {
    try inTurn { try store.reading(scope, work) }
  }

  @inline(__always)
  func showing<Result>(_ work: (any EngineReader) throws -> Result) throws -> Result {
    try inTurn { try store.showing(work) }
  }

  @inline(__always)
  func writing<Result>(
    atomic: Bool = false, callsBack: Bool = false, _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    try inTurn { try store.writing(atomic: atomic, callsBack: callsBack, work) }
  }

  @inline(__always)
  func inTurn<Result>(_ work: () throws -> Result) throws -> Result {
    try checkFailure()
    guard store.queues.isBusy else { return try work() }
    return try takingTurn(work)
  }

  @inline(never)
  private func takingTurn<Result>(_ work: () throws -> Result) rethrows -> Result {
    if store.runsAtOnce { return try work() }
    return try store.queues.queue(name).inTurn(work)
  }

  /// Runs a block of plain calls that read, on a thread of the store; cancelling the task stops its
  /// statement. Every call with `await` is made of this one or ``onWriter(repeatable:_:)``.
  package func onReader<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    guard store.queues.isBusy else { return try await store.scheduler.read(work) }
    return try await store.queues.queue(name).inTurn(work)
  }

  /// Runs a block of plain calls that write, on the store's thread for writing.
  ///
  /// - Parameter repeatable: Whether the block may run once more if a commit that it shares with others
  ///   fails; if not, it has a transaction to itself.
  @discardableResult
  package func onWriter<Result: Sendable>(
    repeatable: Bool = true, _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    guard store.queues.isBusy else {
      return try await store.scheduler.write(on: store, repeatable: repeatable, work)
    }
    return try await store.queues.queue(name).inTurn(work)
  }
}

/// Operations on no single collection begin behind everything that is queued.
extension Store {
  @inline(__always)
  func waitForQueued() { if queues.isBusy { waitForAll() } }

  @inline(never)
  private func waitForAll() {
    if !runsAtOnce { _ = queues.finish(nil, nil) }
  }

  func waitForQueued() async throws {
    if queues.isBusy { _ = try await queues.finish(nil, nil) }
  }
}
