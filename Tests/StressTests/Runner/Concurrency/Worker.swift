// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoStore
import NanoTesting

/// A task that uses the stores of its process until the end of the stress test.
struct Worker: Sendable {
  enum Activity: String, CaseIterable, Sendable {
    case transfer, audit, append, read, claim, batch, note, bag, shape, backup, compact, reopen,
      cancel

    /// The relative frequency of the activity.
    var weight: Int {
      switch self {
      case .transfer, .append: 20
      case .read, .audit, .claim, .note: 10
      case .bag, .batch, .cancel: 8
      case .shape: 3
      case .backup, .compact, .reopen: 1
      }
    }
  }
  /// Thrown to roll back a transaction.
  struct Undo: Error {}

  let pool: WorkerPool
  let number: Int
  var random: SplitMix
  var activity = Activity.transfer
  /// The last number used for something that this task wrote.
  var lastNumber = 0
  /// The number of lists that reached their maximum length.
  var round = 0
  /// The queue for calls without `await`, which block their thread.
  private let thread: DispatchQueue

  init(_ pool: WorkerPool, _ number: Int, _ random: SplitMix) {
    self.pool = pool
    self.number = number
    self.random = random
    thread = DispatchQueue(label: "worker \(number)")
  }

  private static let choices = Activity.allCases.flatMap {
    Array(repeating: $0, count: $0.weight)
  }

  mutating func run() async throws {
    defer { pool.begin("finished", number) }
    while pool.goesOn {
      activity = random.pick(Self.choices)
      pool.begin(activity.rawValue, number)
      if try await perform() { pool.count(activity.rawValue) }
    }
  }

  /// - Returns: Whether the activity was performed.
  private mutating func perform() async throws -> Bool {
    switch activity {
    case .transfer: try await transfer()
    case .audit: try await audit()
    case .append: try await append()
    case .read: try await readList()
    case .claim: try await claim()
    case .batch: try await writeBatch()
    case .note: try await writeNote()
    case .bag: try await saveBag()
    case .shape: try await changeShape()
    case .backup: try await backUp()
    case .compact: try await attempt { try await $0.compact() } != nil
    case .reopen: try await reopen()
    case .cancel: try await cancel()
    }
  }

  mutating func next() -> String {
    lastNumber += 1
    return "\(pool.process).\(number).\(lastNumber)"
  }
}

extension Worker {
  /// - Returns: Nil if the call failed with a permitted error.
  /// - Throws: Any other error.
  mutating func attempt<Result: Sendable>(
    canceled: Bool = false, _ work: (Store) async throws -> Result
  ) async throws -> Result? {
    let store = random.pick(pool.stores)
    let start = ContinuousClock.now
    do {
      return try await work(store)
    } catch is Undo {
      return nil
    } catch let error as StoreError where Self.isAllowed(error, .now - start) {
      pool.count("refused")
      return nil
    }
  }

  /// Returns whether an error is permitted. Another task may close the store, and a lock may time out.
  static func isAllowed(_ error: StoreError, _ time: Duration) -> Bool {
    switch error.code {
    case .closed: true
    case .locked: time >= WorkerPool.busyTimeout * 0.95
    default: false
    }
  }

  /// Runs the call with `await`, or without it on the task's queue.
  mutating func either<Result: Sendable>(
    plain: @escaping @Sendable () throws -> Result, _ awaited: () async throws -> Result
  ) async throws -> Result {
    if random.oneIn(2) { return try await awaited() }
    return try await withCheckedThrowingContinuation { continuation in
      thread.async { continuation.resume(with: Swift.Result(catching: plain)) }
    }
  }

  mutating func write<Result: Sendable>(
    _ store: Store, _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await either(plain: { try store.write(work) }, { try await store.write(work) })
  }

  mutating func read<Result: Sendable>(
    _ store: Store, _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await either(plain: { try store.read(work) }, { try await store.read(work) })
  }
}
