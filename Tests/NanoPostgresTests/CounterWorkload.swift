// SPDX-License-Identifier: MIT

import Foundation
import NanoStorePostgres
import NanoTesting
import Synchronization
import Testing

/// Counters that several threads increment by comparing revisions, each time under an operation id that is kept
/// until the outcome is known. None may be lost, and none counted twice.
final class CounterWorkload: Sendable {
  private struct State {
    var acknowledged: [String: Int64] = [:]
    var total = 0
    var conflicts = 0
    var repeated = 0
  }
  private let state = Mutex(State())
  private let counters: [String]
  private let name = "counters"

  init(_ store: Store, counters: Int = 5) throws {
    self.counters = (0..<counters).map { "counter \($0)" }
    for key in self.counters { try store[name].save(["n": 0], key: key) }
  }

  var acknowledged: Int { state.withLock(\.total) }
  var description: String {
    state.withLock {
      "\($0.total) increments acknowledged, \($0.conflicts) conflicts, \($0.repeated) repeated"
    }
  }

  /// Increments counters until `wanted` says that it is enough.
  func run(_ store: Store, _ random: SplitMix, while wanted: () -> Bool) {
    var random = random
    while wanted() {
      let key = random.pick(counters)
      do {
        if try increment(key, store) {
          state.withLock {
            $0.acknowledged[key, default: 0] += 1
            $0.total += 1
          }
        }
      } catch {
        Issue.record(error)
        return
      }
    }
  }

  /// - Returns: Whether it was incremented.
  private func increment(_ key: String, _ store: Store) throws -> Bool {
    let counter = try patiently { try store[name].get(key) }
    guard let counter, let revision = counter.revision, let value = counter["n"]?.int64 else {
      Issue.record("\(key) is gone")
      return false
    }
    let operation = UUID()
    do {
      _ = try patiently {
        try store[name].apply(
          [.replace(["n": .int(value + 1)], key: key, revision: revision)], operation: operation)
      }
      return true
    } catch let error as StoreError where error.code == .revisionConflict {
      state.withLock { $0.conflicts += 1 }
      return false
    }
  }

  /// Repeats what a lost server or a stuck transaction has stopped.
  private func patiently<Result>(_ work: () throws -> Result) throws -> Result {
    let end = ContinuousClock.now + .seconds(120)
    while true {
      do {
        return try work()
      } catch let error as StoreError
        where [.connectionLost, .outcomeUnknown, .locked].contains(error.code)
      {
        guard ContinuousClock.now < end else { throw error }
        state.withLock { $0.repeated += 1 }
        usleep(2_000)
      }
    }
  }

  /// That the counters are what was acknowledged.
  func check(_ store: Store) throws {
    let acknowledged = state.withLock(\.acknowledged)
    for key in counters {
      let counter = try store[name].get(key)
      #expect(counter?["n"]?.int64 == acknowledged[key] ?? 0, "\(key), seed \(Faults.seed)")
      // Each increment is one revision more, and nothing else is.
      #expect(counter?.revision == 1 + (acknowledged[key] ?? 0), "\(key), seed \(Faults.seed)")
    }
  }
}
