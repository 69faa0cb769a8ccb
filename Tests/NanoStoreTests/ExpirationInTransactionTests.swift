// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoStore
import NanoTestSupport
import NanoTesting
import Synchronization
import Testing

@testable import NanoStoreCore

@Suite("Expiration, transactions, and bags")
struct ExpirationInTransactionTests {
  private struct Undo: Error {}

  private let clock = ManualClock()
  private let store: Store
  private let sessions: DocumentCollection
  private let bag: Bag

  /// Creates a bag with one document. Expired documents are deleted only by the transactions of the tests.
  init() throws {
    store = try anyStore(clock: clock)
    store.sweeper.stop()
    sessions = store["sessions"]
    bag = Bag(name: "old", in: store)
    try bag.add(Document(["n": 1], key: "a"), in: "sessions")
    try bag.save()
  }

  private func expire() throws {
    try sessions.setExpiration(Date(microsecondsSince1970: clock.now()), of: "a")
  }

  @Test("A document that reuses an expired key is only in the bags that it is added to")
  func reusedKey() throws {
    let new = Bag(name: "new", in: store)
    try expire()

    try store.write {
      let again = try sessions.save(["n": 2], key: "a")
      #expect(try bag.count() == 0)
      try new.add(again)
      try new.save()
    }

    #expect(try new.documents().map { $0["n"] } == [2])
    #expect(try bag.count() == 0)
  }

  @Test("A document can be added again to the bag that it was in when it expired")
  func sameBag() throws {
    try expire()
    try store.write {
      try bag.add(try sessions.save(["n": 2], key: "a"))
      try bag.save()
    }
    #expect(try bag.documents().map { $0["n"] } == [2])
  }

  @Test("Saving a bag writes a new document under an expired key, and keeps its membership")
  func savedWithBag() throws {
    let other = Bag(name: "other", in: store)
    try other.add(try #require(try sessions.get("a")))
    try other.save()
    try expire()

    try bag.add(Document(["n": 2], key: "a"), in: "sessions")
    try bag.save()

    #expect(try bag.documents().map { $0["n"] } == [2])
    #expect(try other.count() == 0)
  }

  @Test("Rolling back the deletion of an expired document keeps it in its bags")
  func rolledBack() throws {
    try store.write {
      try? store.write {
        try expire()
        try sessions.save(["n": 2], key: "a")
        throw Undo()
      }
    }
    #expect(try bag.documents().map { $0["n"] } == [1])
    #expect(try sessions.expiration(of: "a") == nil)
  }

  @Test("Rolling back what follows the deletion of an expired document removes it from its bags")
  func rolledBackLater() throws {
    try expire()
    try store.write {
      try sessions.save(["n": 2], key: "a")
      try? store.write {
        try sessions.save(["n": 3], key: "a")
        throw Undo()
      }
    }
    #expect(try sessions.get("a")?["n"] == 2)
    #expect(try bag.count() == 0)
  }

  @Test(
    "A unique index that is created concurrently ignores expired documents, which leave their bags")
  func concurrentIndex() throws {
    try sessions.save(["n": 1], key: "b")
    try expire()

    try sessions.createIndex("n", unique: true, concurrently: true)
    try sessions.save(["n": 2], key: "a")

    #expect(try sessions.indexes().count == 1)
    #expect(try bag.count() == 0)
  }

  @Test("A unique index is not created concurrently if documents collide that have not expired")
  func concurrentViolation() throws {
    try sessions.save(["n": 2], key: "b")
    try sessions.save(["n": 2], key: "c")
    try expire()

    let error = #expect(throws: StoreError.self) {
      try sessions.createIndex("n", unique: true, concurrently: true)
    }
    #expect(error?.code == .uniqueViolation)
    #expect(try sessions.indexes().isEmpty)
  }

  @Test("A buffered save of a document under an expired key is in no bag")
  func buffered() throws {
    try expire()
    store.saveInterval = 10
    try sessions.save(["n": 2], key: "a")
    #expect(try bag.count() == 0)
    try store.flush()
    #expect(try sessions.get("a")?["n"] == 2)
    #expect(try bag.count() == 0)
  }
}

@Suite("Checks for expired documents")
struct ExpirySweeperTests {
  @Test("An expiration that is set while a check runs causes another check")
  func notedDuringCheck() throws {
    let clock = HookedClock()
    let store = try anyStore(clock: clock)
    let sessions = store["sessions"]
    let start = Date(microsecondsSince1970: clock.now())
    for key in ["a", "b", "c"] { try sessions.save(["n": 1], key: key) }
    try sessions.setExpiration(start.addingTimeInterval(10), of: "a")
    store.sweeper.drain()
    try sessions.setExpiration(start.addingTimeInterval(30), of: "b")
    store.sweeper.drain()

    // The check at 10 waits for the expiration at 30 when it ends, and meanwhile one is set that is earlier.
    clock.onWake {
      _ = try? sessions.setExpiration(start.addingTimeInterval(20), of: "c")
    }
    clock.manual.advance(by: .seconds(10))
    store.sweeper.drain()
    clock.manual.advance(by: .seconds(10))
    store.sweeper.drain()

    let left = try store.engine().read(.call, nil) { reader in
      try reader.expirations(ofRows: Array(1...3), in: "sessions").count
    }
    #expect(left == 1)
  }

  @Test("Expirations without a document do not end the deletion of expired documents", .sqlite)
  func orphans() throws {
    let scratch = try Scratch()
    let clock = ManualClock()
    var engine = SQLiteConfiguration()
    engine.clock = clock
    let store = try Store(.file(scratch.file("a.db")), engine: engine)
    store.sweeper.stop()
    let sessions = store["sessions"]
    try sessions.save(["n": 1], key: "a")
    try sessions.setExpiration(Date(microsecondsSince1970: clock.now()), of: "a")
    // As a REPLACE statement of another program leaves them.
    try scratch.shell(
      "a.db",
      """
      WITH RECURSIVE rows(id) AS (SELECT 1000 UNION ALL SELECT id + 1 FROM rows WHERE id < 1449)
      INSERT INTO nano_expirations_sessions(id, expires) SELECT id, 1 FROM rows;
      """)

    #expect(try store.deleteExpired() == 1)

    let left = try store.sql("SELECT count(*) AS n FROM nano_expirations_sessions")
    #expect(left.first?["n"] == 0)
    #expect(try store.verify().isEmpty)
  }
}

/// A manual clock that runs a closure before the next wakeup is scheduled.
private final class HookedClock: StoreClock {
  let manual = ManualClock()
  private let hook = Mutex<(@Sendable () -> Void)?>(nil)

  func onWake(_ work: @escaping @Sendable () -> Void) { hook.withLock { $0 = work } }

  func now() -> Int64 { manual.now() }

  func wake(at time: Int64, _ handler: @escaping @Sendable () -> Void) -> ClockWakeup {
    let work = hook.withLock { hook -> (@Sendable () -> Void)? in
      defer { hook = nil }
      return hook
    }
    work?()
    return manual.wake(at: time, handler)
  }
}
