// SPDX-License-Identifier: MIT

import Foundation
import NanoStorePostgres
import NanoTesting
import Synchronization
import Testing

/// Counters that several threads increment with revision checks. Each increment has an operation ID that is kept
/// until the outcome is known. None may be lost or counted twice.
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

  /// Increments random counters while `wanted` returns true.
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
    let counter = try retrying { try store[name].get(key) }
    guard let counter, let revision = counter.revision, let value = counter["n"]?.int64 else {
      Issue.record("\(key) is gone")
      return false
    }
    let operation = UUID()
    do {
      _ = try retrying {
        try store[name].apply(
          [.replace(["n": .int(value + 1)], key: key, revision: revision)], operation: operation)
      }
      return true
    } catch let error as StoreError where error.code == .revisionConflict {
      state.withLock { $0.conflicts += 1 }
      return false
    }
  }

  /// Retries after a lost connection, an unknown outcome or a lock timeout.
  private func retrying<Result>(_ work: () throws -> Result) throws -> Result {
    let end = ContinuousClock.now + .seconds(900)
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

  /// Expects the counters to match the acknowledged increments.
  func check(_ store: Store) throws {
    let acknowledged = state.withLock(\.acknowledged)
    for key in counters {
      let counter = try store[name].get(key)
      #expect(counter?["n"]?.int64 == acknowledged[key] ?? 0, "\(key), seed \(Faults.seed)")
      // Only increments change the revision, each by one.
      #expect(counter?.revision == 1 + (acknowledged[key] ?? 0), "\(key), seed \(Faults.seed)")
    }
  }
}
