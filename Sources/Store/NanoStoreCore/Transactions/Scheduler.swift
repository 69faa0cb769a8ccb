// SPDX-License-Identifier: MIT

import Dispatch
import NanoDocument
import NanoEngine
import Synchronization

/// Runs the blocking calls behind `await` on threads of their own, never on those of Swift's
/// concurrency.
///
/// Writes run one after the other in the order in which they were started. Those that wait while
/// another one runs are put into one transaction, each in a savepoint of its own, because a commit
/// costs more than a small write: 9 times less per write at NORMAL, 30 to 80 times less at FULL.
final class Scheduler: Sendable {
  private let writes = Mutex<(waiting: [any WaitingCall], isRunning: Bool)>(([], false))
  private let writeThread = DispatchQueue(label: "NanoStore.writes")
  private let reads = Mutex<(waiting: [any WaitingCall], idle: [DispatchQueue])>(
    // Serial queues, since blocks of a concurrent one take threads away from Swift's concurrency.
    ([], (1...Scheduler.maximumReads).map { DispatchQueue(label: "NanoStore.reads.\($0)") }))

  /// Blocks that read at once; more would only wait for a connection.
  private static let maximumReads = 8

  /// Writes that one transaction takes together. Arbitrary: the gain is had with far fewer.
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
      let starts = writes.withLock { writes in
        writes.waiting.append(call)
        defer { writes.isRunning = true }
        return !writes.isRunning
      }
      if starts { writeThread.async { self.runWrites(store) } }
    } withdraw: { interruption in
      writes.withLock { Self.take(interruption, from: &$0.waiting) }
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

  /// Waits for a call that is submitted. Cancelling stops it while it runs, and takes it back at once
  /// while it waits.
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
        // Cancelled before there was anything to withdraw.
        if interruption.isTriggered { withdraw(interruption)?.fail(CancellationError()) }
      }
    } onCancel: {
      interruption.trigger()
      withdraw(interruption)?.fail(CancellationError())
    }
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

  private func runWrites(_ store: Store) {
    while true {
      let batch = writes.withLock { writes in
        let batch = Self.batch(writes.waiting)
        writes.waiting.removeFirst(batch.count)
        if batch.isEmpty { writes.isRunning = false }
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

  /// What runs next, in one transaction. A block of the caller's runs alone: it may take long, or
  /// wait for a write before it, whose task hears of its end only after the commit.
  private static func batch(_ waiting: [any WaitingCall]) -> [any WaitingCall] {
    let together = waiting.prefix(maximumBatch).prefix { $0.isRepeatable }
    return Array(together.isEmpty ? waiting.prefix(1) : together)
  }

  /// One transaction for all. If it is lost, because the disk is full for example, nobody's write
  /// has happened; each is then tried by itself, so that one that is too large harms no other.
  private func run(_ batch: [any WaitingCall], on store: Store) {
    var isBegun = false
    do {
      let finish = try store.writeAtOnce {
        isBegun = true
        return try batch.map { call in
          let (done, isFailed) = call.runTogether(on: store)
          if isFailed { try store.requireTransaction() }
          return done
        }
      }
      for done in finish { done() }
    } catch {
      // If it could not even be begun, trying again would wait for the same lock again; if it may have
      // happened, it would happen twice.
      let mayHaveHappened = (error as? StoreError)?.code == .outcomeUnknown
      for call in batch {
        if isBegun && !mayHaveHappened { call.runAlone() } else { call.fail(error) }
      }
    }
  }
}

extension Store {
  /// - Throws: What ended the running transaction, although its block goes on.
  fileprivate func requireTransaction() throws {
    try TransactionContext.current(of: self)?.writer?.savepoint {}
  }
}
