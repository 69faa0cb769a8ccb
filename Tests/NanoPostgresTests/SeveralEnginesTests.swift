// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Synchronization
import Testing

@Suite("Several stores on one schema", .postgres)
struct SeveralEnginesTests {
  private func stores(
    _ count: Int = 2, _ change: (inout PostgresConfiguration) -> Void = { _ in }
  ) throws -> [Store] {
    let configuration = Faults.configuration(change)
    return try (0..<count).map { _ in try TestDatabase.store(configuration) }
  }

  /// Returns the errors that the threads threw.
  private func errors(_ threads: Int, _ work: @escaping @Sendable (Int) throws -> Void)
    -> [any Error]
  {
    let errors = Mutex<[any Error]>([])
    Faults.inThreads(threads) { thread in
      do { try work(thread) } catch { errors.withLock { $0.append(error) } }
    }
    return errors.withLock(\.self)
  }

  @Test("Several stores can create the tables concurrently")
  func opening() throws {
    for _ in 0..<5 {
      let configuration = Faults.configuration()
      let found = errors(4) { thread in
        let store = try TestDatabase.store(configuration)
        try store["items"].save(["n": 1], key: "\(thread)")
        try store.close()
      }
      #expect(found.isEmpty, "\(found)")
    }
  }

  @Test("Several stores can create the same collection and index concurrently")
  func definitions() throws {
    let stores = try stores()
    for round in 0..<10 {
      let found = errors(4) { thread in
        let items = stores[thread % 2]["items \(round)"]
        try items.save(["n": .int(Int64(thread)), "a": [1]], key: "\(thread)")
        try items.createIndex("n", name: "same")
        try items.createIndex("n", unique: true, name: "unique")
        try items.createIndex("a", elements: true)
        try items.createFullTextIndex("t")
        try items.setDefaults(["t": "nothing"])
      }
      #expect(found.isEmpty, "\(found)")
      for store in stores {
        #expect(try store["items \(round)"].count() == 4)
        #expect(try store["items \(round)"].indexes().count == 3)
        #expect(try store["items \(round)"].find("[n] = ?", 2).keys() == ["2"])
      }
    }
    #expect(try stores[0].verify().isEmpty)
  }

  @Test("A deadlock between two stores is resolved, and one of them writes nothing")
  func deadlock() throws {
    let stores = try stores { $0.busyTimeout = .seconds(20) }
    for name in ["a", "b"] { try stores[0][name].save(["n": 0], key: "k") }
    let arrived = Atomic(0)
    let outcomes = Mutex<[StoreError.Code?]>([])
    Faults.inThreads(2) { thread in
      let store = stores[thread]
      let names = thread == 0 ? ["a", "b"] : ["b", "a"]
      let code = Faults.code {
        try store.write {
          try store[names[0]].save(["n": .int(Int64(thread + 1))], key: "k")
          arrived.add(1, ordering: .sequentiallyConsistent)
          while arrived.load(ordering: .sequentiallyConsistent) < 2 { usleep(1_000) }
          try store[names[1]].save(["n": .int(Int64(thread + 1))], key: "k")
        }
      }
      outcomes.withLock { $0.append(code) }
    }
    let codes = outcomes.withLock(\.self)
    #expect(codes.filter { $0 == nil }.count == 1, "\(codes)")
    #expect(codes.contains(.locked))
    let values = try ["a", "b"].map { try stores[0][$0].get("k")?["n"]?.int }
    #expect(values[0] == values[1])
    #expect(values[0] != 0)
  }

  @Test("Changed settings and indexes apply to the next call of the other store")
  func settings() throws {
    let stores = try stores()
    let (one, other) = (stores[0]["items"], stores[1]["items"])
    try one.save(["n": 1], key: "a")
    #expect(try other.find("[color] = 'red'").count() == 0)
    try one.setDefaults(["color": "red"])
    #expect(try other.find("[color] = 'red'").count() == 1)
    try one.createIndex("n", unique: true)
    #expect(Faults.code { try other.save(["n": 1], key: "b") } == .uniqueViolation)
    #expect(try other.indexes().count == 1)
    try one.dropIndexes()
    try other.save(["n": 1], key: "b")
    try one.setDefaults([:])
    #expect(try other.find("[color] = 'red'").count() == 0)
    // A path where the other store has only seen numbers.
    try one.save(["n": "text"], key: "c")
    #expect(try other.find("[n] = 'text'").keys() == ["c"])
    #expect(try other.find().sorted(by: "n").keys() == ["a", "b", "c"])
    #expect(try other.observedPaths() == one.observedPaths())
  }

  @Test("Live queries and change feeds report commits of the other store")
  func changes() async throws {
    let stores = try stores { $0.changeInterval = .milliseconds(10) }
    var counts = stores[0]["items"].find().countUpdates().makeAsyncIterator()
    var feed = stores[0]["items"].changes().makeAsyncIterator()
    #expect(try await counts.next() == 0)
    let first = Task { try await stores[1]["items"].save(["n": 1], key: "a") }
    #expect(try await counts.next() == 1)
    _ = try await first.value
    #expect(try await feed.next()?.collection == "items")
    // Each commit here follows one of the other store that has not been polled yet.
    for number in 0..<20 {
      try await stores[1]["items"].save(["n": 1], key: "b \(number)")
      try await stores[0]["items"].save(["n": 1], key: "c \(number)")
    }
    var last = 0
    while last < 41 { last = try #require(try await counts.next()) }
    #expect(last == 41)
    _ = try await stores[1]["items"].drop()
    while last > 0 { last = try #require(try await counts.next()) }
  }

  @Test("A store learns of an expiration that another one sets", arguments: [false, true])
  func expiration(isTracked: Bool) async throws {
    let clock = ManualClock()
    let stores = try stores {
      $0.changeInterval = .milliseconds(10)
      $0.clock = clock
    }
    if isTracked { try await stores[0]["sessions"].setChangeTracking(.on) }
    try await stores[0]["sessions"].save(["n": 1], key: "a")
    var counts = stores[0]["sessions"].find().countUpdates().makeAsyncIterator()
    #expect(try await counts.next() == 1)

    try await Faults.onThread {
      let sessions = stores[1]["sessions"]
      try stores[1].write {
        if isTracked { try sessions.update("a", set: ["n": 2]) }
        try sessions.setExpiration(Date(timeIntervalSince1970: 1_767_225_660), of: "a")
      }
      try stores[1].close()
    }
    try Faults.wait(for: "the timer") { clock.waitingCount > 0 }
    clock.advance(by: .seconds(60))
    var last = 1
    while last == 1 { last = try #require(try await counts.next()) }
    #expect(last == 0)
  }

  @Test("A unique value is unique across stores")
  func unique() throws {
    let stores = try stores()
    try stores[0]["items"].createIndex("n", unique: true)
    let stored = Atomic(0)
    let found = errors(4) { thread in
      for number in 0..<(30 * Faults.rounds) {
        do {
          try stores[thread % 2]["items"].insert(["n": .int(Int64(number))])
          stored.add(1, ordering: .relaxed)
        } catch let error as StoreError where error.code == .uniqueViolation {}
      }
    }
    #expect(found.isEmpty, "\(found)")
    #expect(stored.load(ordering: .relaxed) == 30 * Faults.rounds)
    #expect(try stores[0]["items"].count() == 30 * Faults.rounds)
  }
}
