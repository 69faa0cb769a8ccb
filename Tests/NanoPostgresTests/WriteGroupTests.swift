// SPDX-License-Identifier: MIT

import Foundation
import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Synchronization
import Testing

/// Threads of one store, whose writes of single documents wait for each other and are combined.
@Suite("Combined writes on PostgreSQL", .postgres, .timeLimit(.minutes(20)))
struct WriteGroupTests {
  private static let threads = 12

  private func store() throws -> (store: Store, films: DocumentCollection) {
    let store = try TestDatabase.store(
      Faults.configuration { $0.maximumConnections = Self.threads + 1 })
    let films = store["films"]
    // The paths are known, so that the following writes need no transaction.
    try films.save(["n": 0, "by": 0, "unique": "none"], key: "first")
    return (store, films)
  }

  private func inThreads(_ work: @escaping @Sendable (Int) throws -> Void) async {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        Faults.inThreads(Self.threads) { thread in
          do { try work(thread) } catch { Issue.record(error) }
        }
        continuation.resume()
      }
    }
  }

  @Test("Of several inserts with one key, one succeeds, and the others fail with duplicateKey")
  func inserts() async throws {
    let (store, films) = try await Faults.onThread { try self.store() }
    let inserted = Counter()
    let rejected = Counter()
    await inThreads { thread in
      for number in 0..<40 {
        let key = "\(number)"
        switch Faults.code({ try films.insert(["by": .int(Int64(thread))], key: key) }) {
        case nil: inserted.increase()
        case .duplicateKey: rejected.increase()
        case let code: Issue.record("\(String(describing: code))")
        }
        try films.insert(["by": .int(Int64(thread))], key: "\(thread)/\(number)")
      }
    }
    #expect(inserted.value == 40)
    #expect(rejected.value == 40 * (Self.threads - 1))
    #expect(try await films.count() == 41 + 40 * Self.threads)
    #expect(try await store.verify().isEmpty)
    try store.close()
  }

  @Test("A document that a unique index rejects does not affect those beside it")
  func uniqueIndexes() async throws {
    let (store, films) = try await Faults.onThread { try self.store() }
    try await films.createIndex("unique", unique: true)
    let rejected = Counter()
    await inThreads { thread in
      for number in 0..<30 {
        let shared = number % 5 == 0
        let value = shared ? "\(number)" : "\(thread)/\(number)"
        let code = Faults.code {
          try films.save(["unique": .string(value), "n": 1], key: "\(thread)/\(number)")
        }
        if code != nil { rejected.increase() }
        #expect(code == nil || shared && code == .uniqueViolation)
      }
    }
    #expect(rejected.value == 6 * (Self.threads - 1))
    #expect(try await films.count() == 1 + 24 * Self.threads + 6)
    try store.close()
  }

  @Test("Updates, replacements and deletions are applied once, in either Unicode form of a key")
  func changes() async throws {
    let (store, films) = try await Faults.onThread { try self.store() }
    for key in ["\u{E9}", "e\u{301}", "c"] { try await films.save(["n": 0], key: key) }
    let deleted = Counter()
    let replaced = Counter()
    await inThreads { thread in
      for number in 0..<20 {
        try films.update("\u{E9}", set: ["n": .int(Int64(number)), "by": .int(Int64(thread))])
        try films.save(["n": .int(Int64(number))], key: "e\u{301}")
        try films.save(["n": .int(Int64(number))], key: "\(thread)")
        if try films.delete("\(thread)") { deleted.increase() }
        if let found = try films.get("c") {
          let code = Faults.code { try films.replace(found, ifRevision: found.revision) }
          #expect(code == nil || code == .revisionConflict)
          if code == nil { replaced.increase() }
        }
      }
    }
    #expect(try await films.get("\u{E9}")?.revision == Int64(20 * Self.threads + 1))
    #expect(try await films.get("e\u{301}")?.revision == Int64(20 * Self.threads + 1))
    #expect(deleted.value == 20 * Self.threads)
    #expect(try await films.get("c")?.revision == Int64(replaced.value + 1))
    #expect(try await films.count() == 4)
    try store.close()
  }

  @Test(
    "Gets that are combined return each its own document, as it is after writes that have ended")
  func gets() async throws {
    let (store, films) = try await Faults.onThread { try self.store() }
    for (number, key) in ["\u{E9}", "e\u{301}"].enumerated() {
      try await films.save(["n": .int(Int64(number))], key: key)
    }
    await inThreads { thread in
      for number in 0..<40 as Range<Int64> {
        try films.save(["n": .int(number)], key: "\(thread)")
        #expect(try films.get("\(thread)")?["n"] == .int(number))
        #expect(try films.get("e\u{301}")?["n"] == 1)
        #expect(try films.get("\u{E9}")?["n"] == 0)
        #expect(try films.get("missing \(thread)") == nil)
        #expect(try store["other \(thread % 3)"].get("\(thread)") == nil)
      }
    }
    try store.close()
  }

  @Test("Writes that wait for a lock do not hold up those of other documents")
  func waiting() async throws {
    let store = try TestDatabase.store(
      Faults.configuration {
        $0.maximumConnections = Self.threads + 1
        $0.busyTimeout = .seconds(1_200)
      })
    let films = store["films"]
    for key in ["locked", "free"] { try await films.save(["n": 0], key: key) }
    let isLocked = DispatchSemaphore(value: 0)
    let isWritten = DispatchSemaphore(value: 0)
    await inThreads { thread in
      switch thread {
      case 0:
        try store.write {
          try films.save(["n": 1], key: "locked")
          for _ in 1..<Self.threads { isLocked.signal() }
          // Without progress of the others, their lock times out, and this wait fails.
          #expect(isWritten.wait(timeout: .now() + 480) == .success)
        }
      case 1...6:
        isLocked.wait()
        try films.save(["n": .int(Int64(thread))], key: "locked")
      default:
        isLocked.wait()
        // After those that wait for the lock.
        usleep(200_000)
        for number in 0..<10 { try films.save(["n": .int(Int64(number))], key: "free") }
        isWritten.signal()
      }
    }
    #expect(try await films.get("free")?["n"] == 9)
    #expect(try await films.get("locked")?.revision == 8)
    try store.close()
  }

  @Test("Observers see the final state of each document")
  func observers() async throws {
    let (store, films) = try await Faults.onThread { try self.store() }
    var changes = films.changes().makeAsyncIterator()
    await inThreads { thread in
      var random = SplitMix(seed: Faults.seed &+ UInt64(thread))
      for number in 0..<60 {
        let key = "\(random.number(0...15))"
        if random.oneIn(3) {
          try films.delete(key)
        } else {
          try films.save(["n": .int(Int64(number))], key: key)
        }
      }
    }
    let last = try await films.insert(["n": -1], key: "last")
    var kinds: [Int64: Change.Kind] = [:]
    while let change = try await changes.next() {
      for (row, kind) in try #require(change.rows) { kinds[row] = kind }
      if let row = last.rowID, kinds[row] != nil { break }
    }
    let stored = Set(try await films.find().fetch().compactMap(\.rowID))
    let present = Set(kinds.filter { $0.value != .deleted }.keys)
    #expect(present == stored.subtracting([1]))
    try store.close()
  }

  @Test(
    "With connections cut at random, a write that succeeds is stored, and one that fails is not")
  func cuts() async throws {
    let store = try await Faults.onThread {
      try CutStore { $0.maximumConnections = Self.threads + 1 }
    }
    let films = store.cut["films"]
    try await films.save(["n": 0], key: "first")
    let running = Atomic(Self.threads)
    let outcomes = Mutex<[String: StoreError.Code?]>([:])
    let proxy = store.proxy
    Thread.detachNewThread {
      while running.load(ordering: .relaxed) > 0 {
        usleep(20_000)
        proxy.cutAll()
      }
    }
    await inThreads { thread in
      for number in 0..<60 * Faults.rounds {
        let key = "\(thread)/\(number)"
        let code = Faults.code { try films.insert(["n": .int(Int64(number))], key: key) }
        // Whether it was stored is not known.
        if code == .outcomeUnknown || code == .notFound { continue }
        outcomes.withLock { $0[key] = .some(code) }
      }
      running.subtract(1, ordering: .relaxed)
    }
    let stored = Set(try await store.direct["films"].find().fetch().compactMap(\.key))
    for (key, code) in outcomes.withLock(\.self) {
      #expect(stored.contains(key) == (code == nil), "\(code?.rawValue ?? "success")")
    }
    try await Faults.onThread { try store.close() }
  }
}

private final class Counter: Sendable {
  private let count = Atomic(0)
  var value: Int { count.load(ordering: .relaxed) }
  func increase() { count.add(1, ordering: .relaxed) }
}
