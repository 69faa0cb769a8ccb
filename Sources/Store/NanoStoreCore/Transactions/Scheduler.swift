// SPDX-License-Identifier: MIT

import Dispatch
import NanoDocument
import NanoEngine
import Synchronization

/// Runs blocking calls on dedicated threads, never on the threads of Swift concurrency.
///
/// Writes begin in the order in which they were submitted. On an engine with one writer at a time,
/// those that wait while another runs share one transaction, each in its own savepoint (group
/// commit), because a commit costs more than a small write: a write costs 9 times less at NORMAL, 30
/// to 80 times less at FULL. On other engines each runs in its own transaction, concurrently with
/// others: a server commits concurrent transactions together.
final class Scheduler: Sendable {
  private struct Writes {
    var waiting: [any WaitingCall] = []
    /// The calls whose shared transaction has not begun, by the first one of each.
    var beginning: [ObjectIdentifier: [any WaitingCall]] = [:]
    var idle: [DispatchQueue] = []
    var threads = 0
  }
  private let writes = Mutex(Writes())
  private let reads = Mutex<(waiting: [any WaitingCall], idle: [DispatchQueue])>(
    // Serial queues, because blocks of a concurrent queue take threads away from Swift concurrency.
    ([], (1...Scheduler.maximumReads).map { DispatchQueue(label: "NanoStore.reads.\($0)") }))

  /// The maximum number of concurrent reads; more would only wait for a connection.
  private static let maximumReads = 8

  /// The maximum number of concurrent writes. Arbitrary; each has a thread.
  private static let maximumWrites = 128

  /// The maximum number of writes in one transaction. Arbitrary: far fewer achieve most of the
  /// gain.
  private static let maximumBatch = 256

  func read<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await run(isRepeatable: true, work) { call in
      let thread = reads.withLock { reads in
        reads.waiting.append(call)
        return reads.idle.popLast()
      }
      thread?.async { self.runReads(thread) }
    } withdraw: { interruption in
      reads.withLock { Self.take(interruption, from: &$0.waiting) }
    }
  }

  func write<Result: Sendable>(
    on store: Store, repeatable: Bool, _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await run(isRepeatable: repeatable, work) { call in
      let concurrent = (try? store.engine().concurrentWrites) ?? 1
      let thread = writes.withLock { writes -> DispatchQueue? in
        writes.waiting.append(call)
        if let idle = writes.idle.popLast() { return idle }
        guard writes.threads < min(concurrent, Self.maximumWrites) else { return nil }
        writes.threads += 1
        return DispatchQueue(label: "NanoStore.writes.\(writes.threads)")
      }
      thread?.async { self.runWrites(store, thread, shares: concurrent == 1) }
    } withdraw: { interruption in
      writes.withLock { Self.take(interruption, from: &$0) }
    }
  }

  /// Runs a block beside reads and writes, such as a backup.
  func run<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "NanoStore.maintenance").async {
        continuation.resume(with: Swift.Result { try work() })
      }
    }
  }

  /// Submits a call and waits for it. Canceling interrupts a running call, and removes a waiting
  /// one at once.
  private func run<Result: Sendable>(
    isRepeatable: Bool, _ work: @escaping @Sendable () throws -> Result,
    submit: (any WaitingCall) -> Void,
    withdraw: @Sendable (Interruption) -> (any WaitingCall)?
  ) async throws -> Result {
    let interruption = Interruption()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        submit(
          Call(
            interruption: interruption, isRepeatable: isRepeatable, work: work,
            continuation: continuation))
        // Canceled before the call was submitted.
        if interruption.isTriggered { withdraw(interruption)?.fail(CancellationError()) }
      }
    } onCancel: {
      interruption.trigger()
      withdraw(interruption)?.fail(CancellationError())
    }
  }

  private static func take(
    _ interruption: Interruption, from writes: inout Writes
  ) -> (any WaitingCall)? {
    if let call = take(interruption, from: &writes.waiting) { return call }
    for batch in writes.beginning.keys {
      if let call = take(interruption, from: &writes.beginning[batch, default: []]) { return call }
    }
    return nil
  }

  private static func take(
    _ interruption: Interruption, from waiting: inout [any WaitingCall]
  ) -> (any WaitingCall)? {
    waiting.firstIndex { $0.interruption === interruption }.map { waiting.remove(at: $0) }
  }
}

extension Scheduler {
  private func runReads(_ thread: DispatchQueue?) {
    while let call = reads.withLock({ reads -> (any WaitingCall)? in
      guard reads.waiting.isEmpty else { return reads.waiting.removeFirst() }
      if let thread { reads.idle.append(thread) }
      return nil
    }) { call.runAlone() }
  }

  private func runWrites(_ store: Store, _ thread: DispatchQueue?, shares: Bool) {
    while true {
      let batch = writes.withLock { writes in
        let batch = shares ? Self.batch(writes.waiting) : Array(writes.waiting.prefix(1))
        writes.waiting.removeFirst(batch.count)
        if batch.isEmpty, let thread { writes.idle.append(thread) }
        if batch.count > 1 { writes.beginning[Self.identity(of: batch)] = batch }
        return batch
      }
      if batch.isEmpty { return }
      if batch.count == 1 {
        batch[0].runAlone()
      } else {
        run(batch, on: store)
      }
    }
  }

  /// Returns the calls that run next, in one transaction. A call with a user-supplied block runs
  /// alone: it may take long, or wait for an earlier write, whose task resumes only after the
  /// commit.
  private static func batch(_ waiting: [any WaitingCall]) -> [any WaitingCall] {
    let together = waiting.prefix(maximumBatch).prefix { $0.isRepeatable }
    return Array(together.isEmpty ? waiting.prefix(1) : together)
  }

  private static func identity(of batch: [any WaitingCall]) -> ObjectIdentifier {
    ObjectIdentifier(batch[0].interruption)
  }

  /// Returns the calls of a batch that were not canceled before its transaction began.
  private func begin(_ batch: [any WaitingCall]) -> [any WaitingCall] {
    writes.withLock { $0.beginning.removeValue(forKey: Self.identity(of: batch)) ?? [] }
  }

  /// Runs all calls in one transaction. If it fails, for example because the disk is full, none of
  /// the writes has happened; each is then retried alone, so that one that is too large does not
  /// make the others fail.
  private func run(_ batch: [any WaitingCall], on store: Store) {
    var begun: [any WaitingCall]?
    do {
      let finish = try store.writeWithoutWaiting {
        let calls = begin(batch)
        begun = calls
        return try calls.map { call in
          let (done, isFailed) = call.runInSharedTransaction(on: store)
          if isFailed { try store.requireTransaction() }
          return done
        }
      }
      for done in finish { done() }
    } catch {
      // If it could not even begin, retrying would wait for the same lock again. If it may have
      // been committed, retrying would execute it twice.
      let mayHaveHappened = (error as? StoreError)?.code == .outcomeUnknown
      let isRepeated = begun != nil && !mayHaveHappened
      for call in begun ?? begin(batch) {
        if isRepeated { call.runAlone() } else { call.fail(error) }
      }
    }
  }
}

extension Store {
  /// - Throws: The error that ended the running transaction while its block continues.
  fileprivate func requireTransaction() throws {
    try TransactionContext.current(of: self)?.writer?.savepoint {}
  }
}
