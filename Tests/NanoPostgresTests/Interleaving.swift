// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoPostgres
import NanoStorePostgres
import Synchronization
import Testing

/// Transactions that run step by step, in the order that a test determines. Each has its own thread and its own store,
/// whose connections the server lists under a name of their own.
///
/// ```swift
/// let run = try Interleaving(2, .serializable) { try $0["items"].save(["n": 0], key: "a") }
/// defer { run.end() }
/// try run[0].step { try $0["items"].save(["n": 1], key: "a") }
/// let second = try run[1].start { try $0["items"].get("a") }
/// #expect(second.isBlocked)
/// ```
struct Interleaving {
  /// A store without a transaction.
  let observer: Store
  private let transactions: [SteppedTransaction]

  /// - Parameter isKnown: Whether each store has read the collections before its transaction begins. The engine then
  ///   begins the transaction with its first call, in one round trip.
  init(
    _ count: Int, _ isolation: Isolation, isKnown: Bool = true,
    clock: any StoreClock = SystemClock(), _ setUp: (Store) throws -> Void = { _ in }
  ) throws {
    let configuration = Faults.configuration {
      // No wait ends by time.
      $0.busyTimeout = .seconds(600)
      $0.clock = clock
    }
    let url = try TestDatabase.url()
    observer = try Store.postgres(url, engine: configuration)
    let observer = observer
    transactions = try (0..<count).map { number in
      let name = "\(configuration.schema)_\(number)"
      let store = try Store.postgres(url + "?application_name=\(name)", engine: configuration)
      return SteppedTransaction(name, store, observer, isolation)
    }
    try setUp(observer)
    guard isKnown else { return }
    let names = try observer.collections().map(\.name)
    for transaction in transactions {
      for name in names { _ = try transaction.store[name].count() }
    }
  }

  subscript(_ number: Int) -> SteppedTransaction { transactions[number] }

  /// Rolls back what still runs, and closes the stores.
  func end() {
    for transaction in transactions { transaction.requestRollback() }
    for transaction in transactions { transaction.close() }
    try? observer.close()
  }
}

/// A write block that runs the steps it is given, and ends with an error, a commit or a rollback.
final class SteppedTransaction: Sendable {
  private struct State {
    var steps: [@Sendable () throws -> Void] = []
    var mayEnd = false
    var hasStarted = false
    var outcome: Result<Void, any Error>?
  }
  private struct RolledBack: Error {}

  let store: Store
  private let name: String
  private let observer: Store
  private let isolation: Isolation
  private let state = Mutex(State())
  /// Signaled when there is a step, or when the transaction may end.
  private let changed = DispatchSemaphore(value: 0)

  init(_ name: String, _ store: Store, _ observer: Store, _ isolation: Isolation) {
    (self.name, self.store, self.observer, self.isolation) = (name, store, observer, isolation)
  }

  /// Runs a step, which must not wait for another transaction.
  @discardableResult
  func step<Value: Sendable>(
    _ location: SourceLocation = #_sourceLocation,
    _ work: @escaping @Sendable (Store) throws -> Value
  ) throws -> Value {
    let step = try start(location, work)
    try #require(!step.isBlocked, "the step is blocked", sourceLocation: location)
    return try step.value()
  }

  /// Starts a step, and returns when it has ended, or waits for a lock of another transaction.
  func start<Value: Sendable>(
    _ location: SourceLocation = #_sourceLocation,
    _ work: @escaping @Sendable (Store) throws -> Value
  ) throws -> Step<Value> {
    let step = begin(location, work)
    try Faults.wait(for: "the step ends or is blocked", location) {
      try !step.isBlocked || isBlockedByOther()
    }
    return step
  }

  /// Starts a call outside of the transaction like a step.
  func startAlone<Value: Sendable>(
    _ location: SourceLocation = #_sourceLocation,
    _ work: @escaping @Sendable (Store) throws -> Value
  ) throws -> Step<Value> {
    let step = Step<Value>(location)
    let store = store
    Thread.detachNewThread { try? step.run { try work(store) } }
    try Faults.wait(for: "the call ends or is blocked", location) {
      try !step.isBlocked || isBlockedByOther()
    }
    return step
  }

  /// Starts a step without waiting for anything.
  func begin<Value: Sendable>(
    _ location: SourceLocation = #_sourceLocation,
    _ work: @escaping @Sendable (Store) throws -> Value
  ) -> Step<Value> {
    let step = Step<Value>(location)
    let store = store
    let isNew = state.withLock { state in
      state.steps.append { try step.run { try work(store) } }
      defer { state.hasStarted = true }
      return !state.hasStarted
    }
    if isNew { Thread.detachNewThread { self.run() } }
    changed.signal()
    return step
  }

  /// Commits the transaction, and returns the error that ended it; `nil` if it was committed.
  ///
  /// - Throws: An error that is not of the store.
  @discardableResult
  func commit(_ location: SourceLocation = #_sourceLocation) throws -> StoreError? {
    requestCommit()
    return try error(location)
  }

  /// Lets the transaction commit after its steps, without waiting for that.
  func requestCommit() {
    state.withLock { $0.mayEnd = true }
    changed.signal()
  }

  func rollBack(_ location: SourceLocation = #_sourceLocation) throws {
    requestRollback()
    _ = try error(location)
  }

  fileprivate func requestRollback() {
    state.withLock { state in
      state.steps.append { throw RolledBack() }
      state.mayEnd = true
    }
    changed.signal()
  }

  /// Waits for the end of the transaction, and returns the error that ended it.
  func error(_ location: SourceLocation = #_sourceLocation) throws -> StoreError? {
    try Faults.wait(for: "the transaction ends", location) {
      state.withLock { $0.outcome != nil || !$0.hasStarted }
    }
    do {
      try state.withLock(\.outcome)?.get()
      return nil
    } catch is RolledBack {
      return nil
    } catch let error as StoreError {
      return error
    }
  }

  fileprivate func close() {
    _ = try? error()
    try? store.close()
  }

  private func run() {
    let outcome = Result {
      try store.write(isolation: isolation) { while let step = nextStep() { try step() } }
    }
    state.withLock { $0.outcome = outcome.map { _ in } }
  }

  private func nextStep() -> (@Sendable () throws -> Void)? {
    while true {
      changed.wait()
      let (step, mayEnd) = state.withLock { state in
        (state.steps.isEmpty ? nil : state.steps.removeFirst(), state.mayEnd)
      }
      if let step { return step }
      if mayEnd { return nil }
    }
  }

  /// Whether the server lists a connection of the transaction as waiting for a lock that another one holds.
  private func isBlockedByOther() throws -> Bool {
    let rows = try observer.sql(
      """
      SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = ? \
      AND wait_event_type = 'Lock' AND cardinality(pg_blocking_pids(pid)) > 0
      """, name)
    return rows.first?["n"]?.int ?? 0 > 0
  }
}

/// A step of a transaction, and what it returned.
final class Step<Value: Sendable>: Sendable {
  private let result = Mutex<Result<Value, any Error>?>(nil)
  private let location: SourceLocation

  init(_ location: SourceLocation) { self.location = location }

  fileprivate func run(_ work: () throws -> Value) throws {
    let result = Result { try work() }
    self.result.withLock { $0 = result }
    _ = try result.get()
  }

  var isBlocked: Bool { result.withLock { $0 == nil } }

  /// Waits for the step, and returns its value.
  func value() throws -> Value {
    try Faults.wait(for: "the step ends", location) { !isBlocked }
    let result = result.withLock { $0 }
    return try #require(result, sourceLocation: location).get()
  }
}
