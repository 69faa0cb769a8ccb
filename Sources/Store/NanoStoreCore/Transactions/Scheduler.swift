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
  private let writes = Mutex<(waiting: [any WriteJob], isRunning: Bool)>(([], false))
  private let writeThread = DispatchQueue(label: "NanoStore.writes")
  private let reads = Mutex<(waiting: [@Sendable () -> Void], running: Int)>(([], 0))
  private let readThreads = DispatchQueue(label: "NanoStore.reads", attributes: .concurrent)

  /// Blocks that read at once; more would only wait for a connection.
  private static let maximumReads = 8

  /// Writes that one transaction takes together. Arbitrary: the gain is had with far fewer.
  private static let maximumBatch = 256

  func read<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    let interruption = Interruption()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        submitRead { continuation.resume(with: Self.result(interruption, work)) }
      }
    } onCancel: {
      interruption.trigger()
    }
  }

  /// Runs a block beside reads and writes, such as a backup.
  func run<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      readThreads.async { continuation.resume(with: Swift.Result { try work() }) }
    }
  }

  private func submitRead(_ job: @escaping @Sendable () -> Void) {
    let starts = reads.withLock { reads in
      reads.waiting.append(job)
      guard reads.running < Self.maximumReads else { return false }
      reads.running += 1
      return true
    }
    if starts { readThreads.async { self.runReads() } }
  }

  private func runReads() {
    while let job = reads.withLock({ reads -> (@Sendable () -> Void)? in
      guard !reads.waiting.isEmpty else {
        reads.running -= 1
        return nil
      }
      return reads.waiting.removeFirst()
    }) { job() }
  }

  static func result<Result: Sendable>(
    _ interruption: Interruption, _ work: () throws -> Result
  ) -> Swift.Result<Result, any Error> {
    if interruption.isTriggered { return .failure(CancellationError()) }
    do {
      return .success(try Interruption.$current.withValue(interruption) { try work() })
    } catch let error as StoreError {
      return .failure(error.code == .interrupted ? CancellationError() : error)
    } catch {
      return .failure(error)
    }
  }
}

extension Scheduler {
  func write<Result: Sendable>(
    on store: Store, _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    let interruption = Interruption()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let job = Job(interruption: interruption, work: work, continuation: continuation)
        let starts = writes.withLock { writes in
          writes.waiting.append(job)
          defer { writes.isRunning = true }
          return !writes.isRunning
        }
        if starts { writeThread.async { self.runWrites(store) } }
      }
    } onCancel: {
      interruption.trigger()
    }
  }

  private func runWrites(_ store: Store) {
    while true {
      let batch = writes.withLock { writes in
        let batch = Array(writes.waiting.prefix(Self.maximumBatch))
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

  /// One transaction for all. If it cannot be begun or committed, nobody's write has happened.
  private func run(_ batch: [any WriteJob], on store: Store) {
    do {
      let finish = try store.write { try batch.map { try $0.runTogether(on: store) } }
      for done in finish { done(nil) }
    } catch {
      for job in batch { job.fail(error) }
    }
  }
}

/// A write that waits, whatever its result is.
private protocol WriteJob: Sendable {
  /// In a transaction of its own; can be stopped.
  func runAlone()
  /// In a savepoint of the running transaction. What it gives is to be called after the commit.
  func runTogether(on store: Store) throws -> ((any Error)?) -> Void
  func fail(_ error: any Error)
}

private struct Job<Result: Sendable>: WriteJob {
  let interruption: Interruption
  let work: @Sendable () throws -> Result
  let continuation: CheckedContinuation<Result, any Error>

  func runAlone() { continuation.resume(with: Scheduler.result(interruption, work)) }

  func runTogether(on store: Store) throws -> ((any Error)?) -> Void {
    // Stopping the statement would undo the writes of others, so a write that runs goes on.
    if interruption.isTriggered {
      return { _ in continuation.resume(throwing: CancellationError()) }
    }
    let result = Swift.Result { try store.write { try work() } }
    return { _ in continuation.resume(with: result) }
  }

  func fail(_ error: any Error) { continuation.resume(throwing: error) }
}
