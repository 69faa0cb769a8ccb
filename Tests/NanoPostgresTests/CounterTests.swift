// SPDX-License-Identifier: MIT

import Foundation
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Synchronization
import Testing

@Suite("Increments with revision checks", .postgres)
struct CounterTests {
  @Test("No increment is lost or counted twice while connections are cut at random")
  func cuts() throws {
    let stores = try CutStore { $0.maximumConnections = 4 }
    defer { try? stores.close() }
    let counters = try CounterWorkload(stores.direct)
    let wanted = 200 * Faults.rounds
    let cuts = Atomic(0)
    let isDone = Atomic(false)
    Thread.detachNewThread {
      var random = SplitMix(seed: Faults.seed)
      while !isDone.load(ordering: .relaxed) {
        switch random.number(0...5) {
        case 0: stores.proxy.cutAll(random.oneIn(2) ? .reset : .finished)
        case 1, 2: stores.proxy.cut(afterBytesToClient: random.number(0...2_000))
        default: stores.proxy.cut(afterBytesToServer: random.number(0...6_000))
        }
        cuts.add(1, ordering: .relaxed)
        // Lets writes make progress between cuts, however slow the machine is.
        let next = counters.acknowledged + random.number(1...3)
        while counters.acknowledged < next, !isDone.load(ordering: .relaxed) { usleep(500) }
      }
    }
    Faults.inThreads(4) { thread in
      counters.run(stores.cut, SplitMix(seed: Faults.seed &+ UInt64(thread + 1))) {
        counters.acknowledged < wanted
      }
    }
    isDone.store(true, ordering: .relaxed)

    print("cuts: seed \(Faults.seed), \(cuts.load(ordering: .relaxed)) cuts,", counters.description)
    try counters.check(stores.direct)
    #expect(try stores.direct.verify().isEmpty)
  }

  @Test("Blocks that get documents with one call do not deadlock, whatever the order of the keys")
  func oneCall() throws {
    let store = try TestDatabase.store(Faults.configuration())
    let sums = store["sums"]
    for key in ["a", "b"] { try sums.save(["n": 0], key: key) }
    Faults.inThreads(6) { thread in
      let keys = thread.isMultiple(of: 2) ? ["a", "b"] : ["b", "a"]
      for _ in 0..<15 {
        do {
          try store.write {
            for (document, change) in zip(try sums.get(keys: keys), [-1, 1] as [Int64]) {
              var changed = document
              changed["n"] = .int((document["n"]?.int64 ?? 0) + change)
              try sums.save(changed)
            }
          }
        } catch {
          Issue.record(error)
        }
      }
    }
    #expect(try ["a", "b"].map { try sums.get($0)?["n"]?.int } == [0, 0])
    try store.close()
  }

  @Test("No increment is lost between two stores with read-modify-write transactions")
  func blocks() throws {
    let configuration = Faults.configuration()
    let stores = try [TestDatabase.store(configuration), TestDatabase.store(configuration)]
    let each = 60 * Faults.rounds
    Faults.inThreads(4) { thread in
      let store = stores[thread % 2]
      for _ in 0..<each {
        do {
          try store.write {
            let now = try store["sums"].get("a")?["n"]?.int64 ?? 0
            try store["sums"].save(["n": .int(now + 1)], key: "a")
          }
        } catch {
          Issue.record(error)
        }
      }
    }
    #expect(try stores[0]["sums"].get("a")?["n"]?.int == 4 * each)
    for store in stores { try store.close() }
  }
}
