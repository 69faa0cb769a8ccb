// SPDX-License-Identifier: MIT

import NanoEngine

// Every call that reads or writes documents of a collection goes through these functions, so that
// calls that are not queued keep the order.
extension DocumentCollection {
  @inline(__always)
  func reading<Result>(
    _ scope: ReadScope, _ work: (any EngineReader) throws -> Result
  ) throws -> Result {
    try inTurn { try store.reading(scope, work) }
  }

  @inline(__always)
  func readingDocuments<Result>(_ work: (any EngineReader) throws -> Result) throws -> Result {
    try inTurn { try store.readingDocuments(work) }
  }

  @inline(__always)
  func writing<Result>(
    atomic: Bool = false, insertions: Int? = nil, callsBack: Bool = false,
    isIdempotent: Bool = false, _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    try inTurn {
      try store.writing(
        atomic: atomic, insertions: insertions.map { ($0, name) }, callsBack: callsBack,
        isIdempotent: isIdempotent, work)
    }
  }

  @inline(__always)
  func inTurn<Result>(_ work: () throws -> Result) throws -> Result {
    try checkFailure()
    guard store.queues.isBusy else { return try work() }
    return try waitForTurn(work)
  }

  @inline(never)
  private func waitForTurn<Result>(_ work: () throws -> Result) rethrows -> Result {
    if store.runsAtOnce { return try work() }
    return try store.queues.queue(name).inTurn(work)
  }

  /// Runs a block of synchronous reads on a thread of the store. Canceling the task interrupts its
  /// statement.
  ///
  /// Every asynchronous call is built on this function or ``onWriter(repeatable:_:)``.
  package func onReader<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    guard store.queues.isBusy else { return try await store.scheduler.read(work) }
    return try await store.queues.queue(name).inTurn(work)
  }

  /// Runs a block of synchronous writes on the store's writing thread.
  ///
  /// - Parameters:
  ///   - repeatable: Whether the block may run again if a commit that it shares with other calls
  ///     fails. If false, it has its own transaction.
  ///   - work: The block.
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

// Operations that do not belong to a single collection start after everything that is queued.
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
