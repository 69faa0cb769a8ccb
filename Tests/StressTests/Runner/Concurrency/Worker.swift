// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoStore
import NanoTesting

/// A task that uses the stores of its process for as long as the trial lasts.
struct Worker: Sendable {
  enum Activity: String, CaseIterable, Sendable {
    case transfer, audit, append, read, claim, batch, note, bag, shape, backup, compact, reopen,
      cancel

    /// How often it is chosen, among all.
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
  /// Thrown by a block that wants to be undone.
  struct Undo: Error {}

  let crowd: Crowd
  let number: Int
  var random: SplitMix
  var activity = Activity.transfer
  /// Different for each thing that this task writes.
  var lastNumber = 0
  /// Lists have so many tokens; then others follow.
  var round = 0
  /// Where calls without `await` run, which block their thread.
  private let thread: DispatchQueue

  init(_ crowd: Crowd, _ number: Int, _ random: SplitMix) {
    self.crowd = crowd
    self.number = number
    self.random = random
    thread = DispatchQueue(label: "worker \(number)")
  }

  private static let choices = Activity.allCases.flatMap {
    Array(repeating: $0, count: $0.weight)
  }

  mutating func run() async throws {
    defer { crowd.begin("finished", number) }
    while crowd.goesOn {
      activity = random.pick(Self.choices)
      crowd.begin(activity.rawValue, number)
      if try await perform() { crowd.count(activity.rawValue) }
    }
  }

  /// - Returns: Whether it was done.
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
    return "\(crowd.process).\(number).\(lastNumber)"
  }
}

extension Worker {
  /// - Returns: Nil if the call was refused in a way in which it may be.
  /// - Throws: What must not happen.
  mutating func attempt<Result: Sendable>(
    cancelled: Bool = false, _ work: (Store) async throws -> Result
  ) async throws -> Result? {
    let store = random.pick(crowd.stores)
    let start = ContinuousClock.now
    do {
      return try await work(store)
    } catch is Undo {
      return nil
    } catch let error as StoreError where Self.isAllowed(error, .now - start) {
      crowd.count("refused")
      return nil
    }
  }

  /// A store may be closed by another task; a locked one must have been waited for.
  static func isAllowed(_ error: StoreError, _ time: Duration) -> Bool {
    switch error.code {
    case .closed: true
    case .locked: time >= .seconds(Crowd.busyTimeout * 0.95)
    default: false
    }
  }

  /// Runs a block with `await`, or without it on a thread of the task's own.
  mutating func either<Result: Sendable>(
    plain: @escaping @Sendable () throws -> Result, _ later: () async throws -> Result
  ) async throws -> Result {
    if random.oneIn(2) { return try await later() }
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
