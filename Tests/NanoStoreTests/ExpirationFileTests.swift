// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import NanoTesting
import Testing

@testable import NanoStoreCore

@Suite("Expiration in files", .sqlite)
struct ExpirationFileTests {
  private let clock = ManualClock()

  private func open(_ path: String, readOnly: Bool = false) throws -> Store {
    var engine = SQLiteConfiguration()
    engine.clock = clock
    engine.durability = .fast
    engine.isReadOnly = readOnly
    return try Store(.file(path), engine: engine)
  }

  private func date(_ seconds: Double) -> Date {
    Date(microsecondsSince1970: clock.now()).addingTimeInterval(seconds)
  }

  @Test("Opening a store deletes what has expired in the meantime")
  func opening() throws {
    let scratch = try Scratch()
    let path = scratch.file("a.db")
    let store = try open(path)
    try store["c"].save(["n": 1], key: "a")
    try store["c"].setExpiration(date(10), of: "a")
    try store.close()
    clock.advance(by: .seconds(10))

    let reopened = try open(path)
    reopened.sweeper.drain()

    #expect(try reopened.sql("SELECT count(*) AS n FROM c").first?["n"] == 0)
    #expect(try reopened.verify().isEmpty)
  }

  @Test("A store that only reads hides expired documents, and its live queries drop them")
  func readOnly() async throws {
    let scratch = try Scratch()
    let path = scratch.file("a.db")
    let store = try open(path)
    try await store["c"].save(["n": 1], key: "a")
    try await store["c"].save(["n": 2], key: "b")
    try await store["c"].setExpiration(date(10), of: "a")
    try store.close()
    let reader = try open(path, readOnly: true)
    reader.sweeper.drain()
    var updates = try reader["c"].find("[n] > 0").updates().makeAsyncIterator()
    #expect(try await updates.next()?.count == 2)

    clock.advance(by: .seconds(10))

    #expect(try await updates.next()?.compactMap(\.key) == ["b"])
    #expect(try await reader.sql("SELECT count(*) AS n FROM c").first?["n"] == 2)
  }

  @Test("A live query reports an expiration while another collection is being written")
  func liveDuringWrite() async throws {
    let scratch = try Scratch()
    let store = try open(scratch.file("a.db"))
    let sessions = store["sessions"]
    try await sessions.save(["n": 1], key: "a")
    try await sessions.setExpiration(date(10), of: "a")
    var counts = sessions.find().countUpdates().makeAsyncIterator()
    #expect(try await counts.next() == 1)
    let (entered, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let writing = Task.detached {
      try store.write {
        try store["other"].save(["n": 1], key: "x")
        entered.signal()
        release.wait()
      }
    }
    await Task.detached { entered.wait() }.value

    clock.advance(by: .milliseconds(10_000))

    #expect(try await counts.next() == 0)
    release.signal()
    try await writing.value
    try store.close()
  }

  @Test("Rows of other programs do not escape the rule")
  func foreignRows() throws {
    let scratch = try Scratch()
    let store = try open(scratch.file("a.db"))
    let coupons = store["coupons"]
    try coupons.setExpirationRule(.field("until"))
    clock.set(1_767_225_600_000_000)
    try scratch.shell(
      "a.db",
      """
      INSERT INTO coupons(key, body) VALUES
        ('a', '{"until":{"$date":"2026-01-01T00:00:10.000000000Z"}}'),
        ('b', '{ "until" : { "$date" : "2026-01-01T01:00:20+01:00" } }'),
        ('c', '{"until":"2026-01-01"}'), ('d', '{"n":1}');
      """)
    #expect(try coupons.find().count() == 4)
    clock.advance(by: .seconds(10))
    #expect(try coupons.find().fetch().compactMap(\.key).sorted() == ["b", "c", "d"])
    try scratch.shell(
      "a.db",
      #"UPDATE coupons SET body = '{"until":{"$date":"2026-01-01T00:00:15Z"}}' WHERE key = 'd'"#)
    clock.advance(by: .seconds(5))
    #expect(try coupons.find().fetch().compactMap(\.key).sorted() == ["b", "c"])
    // The first write adopts the rows.
    try coupons.insert(["n": 2], key: "e")
    #expect(try coupons.expiration(of: "b") == date(5))
    store.sweeper.drain()
    try scratch.shell("a.db", "UPDATE coupons SET id = 1000 WHERE key = 'b'")
    #expect(try coupons.expiration(of: "b") == date(5))
    clock.advance(by: .seconds(5))
    #expect(try coupons.find().fetch().compactMap(\.key).sorted() == ["c", "e"])
    store.sweeper.drain()
    try scratch.shell("a.db", "DELETE FROM coupons")
    #expect(try store.verify().isEmpty)
  }

  @Test("A row of another program expires a duration after it was written, by SQLite's clock")
  func foreignAfter() throws {
    let scratch = try Scratch()
    let store = try open(scratch.file("a.db"))
    let sessions = store["sessions"]
    try sessions.setExpirationRule(.after(.seconds(60)))
    let before = Date.now
    try scratch.shell("a.db", "INSERT INTO sessions(key, body) VALUES ('a', '{}')")

    clock.set(SystemClock().now())
    let time = try #require(try sessions.expiration(of: "a"))

    #expect(time >= before.addingTimeInterval(59) && time <= Date.now.addingTimeInterval(61))
  }

  @Test("What one store lets expire, another one on the same file hides and deletes")
  func twoStores() throws {
    let scratch = try Scratch()
    let (first, second) = (try open(scratch.file("a.db")), try open(scratch.file("a.db")))
    try first["c"].save(["n": 1], key: "a")
    #expect(try second["c"].get("a") != nil)

    try first["c"].setExpiration(date(10), of: "a")
    try first.close()
    clock.advance(by: .seconds(10))

    #expect(try second["c"].get("a") == nil)
    try second["c"].insert(["n": 2], key: "a")
    #expect(try second["c"].find().count() == 1)
    #expect(try second.sql("SELECT count(*) AS n FROM c").first?["n"] == 1)
  }

  @Test(
    "A live query of a tracked collection drops a document that another store lets expire",
    .timeLimit(.minutes(10)), arguments: [0.0, 10])
  func trackedLiveQuery(seconds: Double) async throws {
    let scratch = try Scratch()
    let (first, second) = (try open(scratch.file("a.db")), try open(scratch.file("a.db")))
    try await first["c"].save(["n": 1], key: "a")
    try await first["c"].save(["n": 0], key: "late")
    try await first["c"].setExpiration(date(1_000), of: "late")
    try await first["c"].setChangeTracking(.on)
    var updates = try first["c"].find("[n] > 0").updates().makeAsyncIterator()
    #expect(try await updates.next()?.count == 1)
    var changes = first["c"].changes().makeAsyncIterator()

    second.sweeper.stop()
    try await second["c"].save(["n": 0], key: "b")
    try await second["c"].setExpiration(date(seconds), of: "a")
    try second.close()
    let change = try #require(try await changes.next())
    #expect(change.rows?.isEmpty == false)
    clock.advance(by: .seconds(10))

    #expect(try await updates.next()?.isEmpty == true)
  }

  @Test("A store that begins to observe waits for the expirations that others have set before")
  func expirationBeforeObservation() async throws {
    let scratch = try Scratch()
    let (first, second) = (try open(scratch.file("a.db")), try open(scratch.file("a.db")))
    try await first["c"].save(["n": 1], key: "a")
    try await first["c"].setChangeTracking(.on)
    try await second["c"].setExpiration(date(10), of: "a")
    try second.close()
    var updates = try first["c"].find("[n] > 0").updates().makeAsyncIterator()
    #expect(try await updates.next()?.count == 1)
    first.sweeper.drain()

    clock.advance(by: .seconds(10))
    first.sweeper.drain()

    #expect(try await first.sql("SELECT count(*) AS n FROM c").first?["n"] == 0)
  }

  @Test(
    "Documents that a trigger keeps stay hidden, and all others are deleted",
    .timeLimit(.minutes(10)))
  func keptByTrigger() throws {
    let scratch = try Scratch()
    let store = try open(scratch.file("a.db"))
    let sessions = store["sessions"]
    try sessions.createIndex("user", unique: true)
    try store.execute(
      """
      CREATE TRIGGER hold BEFORE DELETE ON sessions WHEN OLD.body ->> '$.held'
      BEGIN SELECT RAISE(IGNORE); END
      """)
    let bag = try store.bag(named: "all")
    for number in 0..<250 {
      let isHeld = number < 120
      let fields: DocumentObject = ["user": .int(Int64(number)), "held": .int(isHeld ? 1 : 0)]
      let document = try sessions.save(fields, key: "k\(number)")
      _ = try bag.add([document])
      try sessions.setExpiration(date(isHeld ? 5 : 6), of: "k\(number)")
    }
    try bag.save()

    clock.advance(by: .seconds(10))
    store.sweeper.drain()

    #expect(try store.sql("SELECT count(*) AS n FROM sessions").first?["n"] == 120)
    #expect(try store.sql("SELECT count(*) AS n FROM nano_bag_members").first?["n"] == 120)
    #expect(try sessions.find().count() == 0)
    #expect(try store.deleteExpired() == 0)
    try sessions.insert(["user": 200], key: "k200")
    #expect(code { try sessions.save(["user": 300], key: "k5") } == .database)
    try sessions.setExpirationRule(.after(.seconds(60)))
    #expect(try sessions.find().keys() == ["k200"])
    #expect(try store.verify().isEmpty)
  }

  @Test("A document that a trigger skips is an error, which changes no expiration")
  func skippedByTrigger() throws {
    let scratch = try Scratch()
    let store = try open(scratch.file("a.db"))
    let sessions = store["sessions"]
    try sessions.setExpirationRule(.field("until"))
    try store.execute(
      """
      CREATE TRIGGER skip BEFORE INSERT ON sessions WHEN NEW.body ->> '$.skipped'
      BEGIN SELECT RAISE(IGNORE); END
      """)
    let skipped: DocumentObject = ["until": .date(date(5)), "skipped": true]

    try store.write {
      try sessions.insert(["until": .date(date(10))], key: "a")
      #expect(code { try sessions.insert(skipped, key: "b") } == .database)
      #expect(code { try sessions.save(skipped, key: "b") } == .database)
    }

    #expect(try sessions.find().keys() == ["a"])
    #expect(try sessions.expiration(of: "a") == date(10))
    #expect(try store.verify().isEmpty)
  }

  @Test("A store whose file was removed does not try again and again to delete what has expired")
  func removedFile() throws {
    let scratch = try Scratch()
    let store = try open(scratch.file("a.db"))
    try store["c"].save(["n": 1], key: "a")
    try store["c"].setExpiration(date(10), of: "a")
    store.sweeper.drain()
    #expect(clock.waitingCount == 1)
    try FileManager.default.removeItem(atPath: scratch.file("a.db"))

    clock.advance(by: .seconds(10))
    store.sweeper.drain()

    #expect(clock.waitingCount == 0)
  }

  @Test("A backup and a recovered file keep the expirations")
  func backupAndRecovery() throws {
    let scratch = try Scratch()
    let store = try open(scratch.file("a.db"))
    try store["c"].save(["n": 1], key: "a")
    try store["c"].save(["n": 2], key: "b")
    try store["c"].setExpiration(date(10), of: "a")
    try store["rules"].setExpirationRule(.field("at"))
    try store["rules"].save(["at": .date(date(7))], key: "r")
    try store.backup(to: scratch.file("b.db"))
    try store.close()

    _ = try Store.recover(from: scratch.file("a.db"), to: scratch.file("r.db"))

    for name in ["b.db", "r.db"] {
      let copy = try open(scratch.file(name))
      #expect(try copy["c"].expiration(of: "a") == date(10))
      #expect(try copy["c"].expiration(of: "b") == nil)
      #expect(try copy["rules"].expiration(of: "r") == date(7))
      #expect(try copy["rules"].expirationRule() == .field("at"))
      #expect(try copy.verify().isEmpty)
    }
  }

  @Test("A document that has expired before a recovery leaves its bags when the store is opened")
  func recoveryOfExpired() throws {
    let scratch = try Scratch()
    let store = try open(scratch.file("a.db"))
    try store["c"].createIndex("n", unique: true)
    let bag = try store.bag(named: "all")
    for key in ["a", "b"] { try bag.add(store["c"].save(["n": .string(key)], key: key)) }
    try bag.save()
    // A recovery uses the clock of the system, of which that of the store is behind.
    try store["c"].setExpiration(date(10), of: "a")
    #expect(date(10) < Date())
    try store.close()

    _ = try Store.recover(from: scratch.file("a.db"), to: scratch.file("r.db"))
    clock.advance(by: .seconds(10))

    let recovered = try open(scratch.file("r.db"))
    recovered.sweeper.drain()
    try recovered["c"].save(["n": "new"], key: "a")
    #expect(try recovered.bag(named: "all").documents().map(\.key) == ["b"])
    #expect(try recovered.verify().isEmpty)
  }

  @Test("A document whose expiration was removed has none in a recovered file")
  func recoveryWithoutExpiration() throws {
    let scratch = try Scratch()
    let store = try open(scratch.file("a.db"))
    for name in ["some", "none"] {
      try store[name].setExpirationRule(.after(.seconds(100)))
      try store[name].save(["n": 1], key: "a")
      try store[name].save(["n": 2], key: "b")
      try store[name].setExpiration(nil, of: "a")
    }
    try store["none"].setExpiration(nil, of: "b")
    try store.close()

    _ = try Store.recover(from: scratch.file("a.db"), to: scratch.file("r.db"))

    let recovered = try open(scratch.file("r.db"))
    #expect(try recovered["some"].expiration(of: "a") == nil)
    #expect(try recovered["some"].expiration(of: "b") == date(100))
    #expect(try recovered["none"].expiration(of: "a") == nil)
    #expect(try recovered["none"].expiration(of: "b") == nil)
    #expect(try recovered["none"].expirationRule() == .after(.seconds(100)))
    #expect(try recovered.verify().isEmpty)
  }

  @Test("A copy has the expirations of its source, and a comparison reports others")
  func copying() throws {
    let scratch = try Scratch()
    let (source, target) = (try open(scratch.file("a.db")), try open(scratch.file("b.db")))
    try source["c"].setExpirationRule(.after(.seconds(100)))
    for number in 0..<5 {
      try source["c"].save(["n": .int(Int64(number))], key: "k\(number)")
      clock.advance(by: .seconds(1))
    }
    try source["c"].setExpiration(nil, of: "k4")

    let report = try source.copy(to: target)

    #expect(report.differences.isEmpty)
    #expect(
      try (0..<5).map { try target["c"].expiration(of: "k\($0)") }
        == (0..<4).map { date(Double(95 + $0)) } + [nil])
    #expect(try target["c"].expirationRule() == .after(.seconds(100)))
    try target["c"].setExpiration(date(1), of: "k0")
    #expect(try source.compare(with: target).differences.count == 1)
  }

  @Test("An older version refuses a file only once documents may expire")
  func format() throws {
    let scratch = try Scratch()
    let store = try open(scratch.file("a.db"))
    try store["c"].save(["n": 1], key: "a")
    #expect(try store.statistics().settings["user_version"] == "1")
    try store["c"].setExpiration(date(1), of: "a")
    try store["d"].setChangeTracking(.on)
    #expect(try store.statistics().settings["user_version"] == "3")
  }
}
