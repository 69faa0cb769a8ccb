// SPDX-License-Identifier: MIT

import Foundation
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Synchronization
import Testing

@Suite("Killed server", .postgres)
struct KilledServerTests {
  /// The outcomes of saved documents, by key.
  private final class Journal: Sendable {
    enum Outcome { case stored, unknown, nothing }
    private let outcomes = Mutex<[String: Outcome]>([:])

    func save(_ key: String, in store: Store) {
      var outcome = Outcome.nothing
      do {
        // Two documents that must be saved atomically.
        try store.write {
          try store["left"].save(["key": .string(key)], key: key)
          try store["right"].save(["key": .string(key)], key: key)
        }
        outcome = .stored
      } catch let error as StoreError {
        switch error.code {
        case .connectionLost, .locked: break
        case .outcomeUnknown: outcome = .unknown
        default: Issue.record(error)
        }
      } catch {
        Issue.record(error)
      }
      outcomes.withLock { [outcome] in $0[key] = outcome }
    }

    func check(_ store: Store) throws -> String {
      let left = Set(try store["left"].find().keys())
      let right = Set(try store["right"].find().keys())
      #expect(left == right)
      let outcomes = outcomes.withLock(\.self)
      for (key, outcome) in outcomes {
        switch outcome {
        case .stored: #expect(left.contains(key), "\(key) was acknowledged")
        case .nothing: #expect(!left.contains(key), "\(key) was reported as not written")
        case .unknown: break
        }
      }
      let counts = Dictionary(grouping: outcomes.values) { "\($0)" }.mapValues(\.count)
      return counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(
        separator: ", ")
    }
  }

  @Test(
    "Acknowledged writes survive exactly once, and the store reconnects", .timeLimit(.minutes(30)))
  func killed() throws {
    let server = try PostgresServer(durable: true)
    defer { server.remove() }
    let store = try Store.postgres(
      server.url(),
      engine: Faults.configuration {
        $0.durability = .full
        $0.busyTimeout = .seconds(20)
      })
    defer { try? store.close() }
    let counters = try CounterWorkload(store)
    let journal = Journal()
    let isDone = Atomic(false)
    let saved = Atomic(0)
    let kills = 4 * Faults.rounds
    let writers = DispatchGroup()
    for thread in 0..<4 {
      writers.enter()
      Thread.detachNewThread {
        if thread < 2 {
          counters.run(store, SplitMix(seed: Faults.seed &+ UInt64(thread))) {
            !isDone.load(ordering: .relaxed)
          }
        } else {
          while !isDone.load(ordering: .relaxed) {
            journal.save("\(saved.add(1, ordering: .relaxed).newValue)", in: store)
          }
        }
        writers.leave()
      }
    }
    var random = SplitMix(seed: Faults.seed)
    for _ in 0..<kills {
      let before = counters.acknowledged
      let some = random.number(5...60)
      try Faults.wait(for: "writes continue") { counters.acknowledged >= before + some }
      try server.kill()
      try server.start()
    }
    let before = counters.acknowledged
    try Faults.wait(for: "writes continue after the last start") {
      counters.acknowledged >= before + 5
    }
    isDone.store(true, ordering: .relaxed)
    writers.wait()

    try counters.check(store)
    let blocks = try journal.check(store)
    print("kills: seed \(Faults.seed), \(kills) kills,", counters.description, "; blocks:", blocks)
    #expect(try store.verify().isEmpty)
  }
}
