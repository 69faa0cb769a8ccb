// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import NanoTesting
import Testing

@testable import NanoStoreCore

@Suite("Expiration")
struct ExpirationTests {
  private let clock = ManualClock()

  private func store() throws -> Store { try anyStore(clock: clock) }

  private func date(_ seconds: Double) -> Date {
    Date(microsecondsSince1970: clock.now()).addingTimeInterval(seconds)
  }

  /// Moves the clock, and waits until the store has deleted what has expired.
  private func advance(_ seconds: Double, _ store: Store) {
    clock.advance(by: .milliseconds(seconds * 1_000))
    store.sweeper.drain()
  }

  @Test("A document disappears at its expiration, and an update keeps it")
  func single() throws {
    let store = try store()
    let sessions = store["sessions"]
    try sessions.save(["user": "ada"], key: "a")
    try sessions.save(["user": "bob"], key: "b")

    #expect(try sessions.setExpiration(date(10), of: "a"))
    #expect(try !sessions.setExpiration(date(10), of: "missing"))
    #expect(try sessions.expiration(of: "a") == date(10))
    #expect(try sessions.expiration(of: "b") == nil)
    try sessions.update("a", set: ["user": "Ada"])
    try sessions.save(["user": "ADA"], key: "a")
    #expect(try sessions.expiration(of: "a") == date(10))

    clock.advance(by: .milliseconds(9_999))
    #expect(try sessions.get("a") != nil)
    clock.advance(by: .milliseconds(1))
    #expect(try sessions.get("a") == nil)
    #expect(try sessions.find().count() == 1)
    #expect(throws: StoreError.self) { try sessions.update("a", set: ["user": "x"]) }
    #expect(try !sessions.delete("a"))
    #expect(try sessions.expiration(of: "a") == nil)
    #expect(try !sessions.setExpiration(nil, of: "a"))
    try sessions.insert(["user": "new"], key: "a")
    #expect(try sessions.expiration(of: "a") == nil)
  }

  @Test("The same calls exist with row IDs and with await")
  func forms() async throws {
    let sessions = try store()["sessions"]
    let rowID = try #require(try await sessions.save(["n": 1], key: "a").rowID)
    #expect(try await sessions.setExpiration(date(5), rowID: rowID))
    #expect(try await sessions.expiration(rowID: rowID) == date(5))
    #expect(try await sessions.setExpiration(nil, of: "a"))
    #expect(try await sessions.expiration(of: "a") == nil)
    try await sessions.setExpirationRule(.after(.seconds(3)))
    #expect(try await sessions.expirationRule() == .after(.seconds(3)))
    #expect(try await sessions.expiration(rowID: rowID) == date(3))
    clock.advance(by: .seconds(3))
    _ = try await sessions.store.deleteExpired()
    #expect(try await sessions.find().count() == 0)
  }

  @Test("A date that no document can contain is rejected")
  func farAway() throws {
    let sessions = try store()["sessions"]
    try sessions.save(["n": 1], key: "a")
    for date in [
      Date.distantFuture.addingTimeInterval(1e12), Date(timeIntervalSince1970: .infinity),
    ] {
      #expect(code { _ = try sessions.setExpiration(date, of: "a") } == .invalidArgument)
    }
    #expect(try sessions.expiration(of: "a") == nil)
  }

  @Test("A rule whose duration rounds to zero is rejected, and the collection stays usable")
  func roundedDuration() throws {
    let sessions = try store()["sessions"]
    try sessions.save(["n": 1], key: "a")
    for duration in [Duration.nanoseconds(500), .zero, .seconds(-1)] {
      #expect(code { try sessions.setExpirationRule(.after(duration)) } == .invalidArgument)
    }
    #expect(try sessions.expirationRule() == nil)
    try sessions.setExpirationRule(.after(.microseconds(1)))
    #expect(try sessions.expirationRule() == .after(.microseconds(1)))
    #expect(try sessions.get("a") != nil)
  }

  @Test("A duration after the last write restarts with every kind of write")
  func afterLastWrite() throws {
    let sessions = try store()["sessions"]
    try sessions.insert(["n": 0], key: "old")
    try sessions.setExpirationRule(.after(.seconds(10)))
    #expect(try sessions.expiration(of: "old") == date(10))
    for (number, write) in [
      { try sessions.insert(["n": 1], key: "a") }, { try sessions.save(["n": 2], key: "a") },
      { try sessions.update("a", set: ["n": 3]) }, { try sessions.update("a", .increment("n")) },
      { _ = try sessions.find("[n] = 4").update(.increment("n")) },
      { try sessions.save([Document(["n": 6], key: "a")]) },
    ].enumerated() as EnumeratedSequence<[() throws -> Void]> {
      clock.advance(by: .seconds(1))
      try write()
      #expect(try sessions.expiration(of: "a") == date(10), "write \(number)")
    }
    clock.advance(by: .seconds(10))
    #expect(try sessions.find().count() == 0)
  }

  @Test("Only a date in the field of a rule lets a document expire")
  func field() throws {
    let coupons = try store()["coupons"]
    try coupons.setExpirationRule(.field("valid.until"))
    try coupons.save(["valid": ["until": .date(date(5))]], key: "a")
    try coupons.save(["valid": ["until": "tomorrow"]], key: "b")
    try coupons.save(["valid": [["until": .date(date(5))]]], key: "c")
    #expect(try ["a", "b", "c"].map { try coupons.expiration(of: $0) } == [date(5), nil, nil])
    try coupons.update("a", set: ["valid.until": .date(date(7))])
    #expect(try coupons.expiration(of: "a") == date(7))
    try coupons.setExpiration(date(1), of: "a")
    #expect(try coupons.expiration(of: "a") == date(1))
    try coupons.update("a", set: ["x": 1])
    #expect(try coupons.expiration(of: "a") == date(7))
  }

  @Test("The store deletes what has expired when its time comes, and no timer is left")
  func sweeping() throws {
    let store = try store()
    let sessions = store["sessions"]
    #expect(clock.waitingCount == 0)
    for number in 0..<250 {
      try sessions.save(["n": .int(Int64(number))], key: "k\(number)")
      try sessions.setExpiration(date(number < 240 ? 5 : 9), of: "k\(number)")
    }
    store.sweeper.drain()
    #expect(clock.waitingCount == 1)

    advance(5, store)
    #expect(try stored(store) == 10)
    #expect(clock.waitingCount == 1)
    advance(4, store)
    #expect(try stored(store) == 0)
    #expect(clock.waitingCount == 0)
  }

  /// The number of documents that expire and are not deleted.
  private func stored(_ store: Store) throws -> Int {
    try store.engine().read(.call, nil) { reader in
      try reader.expirations(ofRows: Array(1...1_000), in: "sessions").count
    }
  }

  @Test("A live query drops a document at the moment of its expiration")
  func live() async throws {
    let store = try store()
    let sessions = store["sessions"]
    try await sessions.save(["n": 1], key: "a")
    try await sessions.save(["n": 2], key: "b")
    try await sessions.setExpiration(date(10), of: "a")
    var updates = try sessions.find("[n] > 0").updates().makeAsyncIterator()
    #expect(try await updates.next()?.count == 2)

    clock.advance(by: .seconds(10))

    #expect(try await updates.next()?.compactMap(\.key) == ["b"])
  }

  @Test("An expiration is a deletion in the change feed")
  func feed() async throws {
    let store = try store()
    let sessions = store["sessions"]
    try await sessions.setChangeTracking(.on)
    try await sessions.save(["n": 1], key: "a")
    try await sessions.setExpiration(date(10), of: "a")
    // On a server, an entry is visible once all older transactions have ended, those of other tests included.
    var position: FeedPosition?
    func newEntries() throws -> [FeedEntry] {
      guard case .entries(let entries, let next, _) = try sessions.changes(since: position) else {
        Issue.record("no entries")
        return []
      }
      position = next
      return entries
    }
    try await eventually("the document") { try newEntries().map(\.isDeleted) == [false] }

    advance(10, store)

    try await eventually("its deletion") {
      let entries = try newEntries()
      return entries.map(\.key) == ["a"] && entries.map(\.isDeleted) == [true]
    }
  }

  @Test("Bags lose the documents that have expired")
  func bags() throws {
    let store = try store()
    let sessions = store["sessions"]
    let (a, b) = (try sessions.save(["n": 1], key: "a"), try sessions.save(["n": 2], key: "b"))
    let bag = try store.bag(named: "all")
    try bag.add([a, b])
    try bag.save()
    try sessions.setExpiration(date(10), of: "a")

    advance(10, store)

    #expect(try store.bag(named: "all").count() == 1)
  }

  @Test("Expired documents of a transaction's collections are deleted with their references")
  func withinWrites() throws {
    let store = try store()
    let sessions = store["sessions"]
    try sessions.createIndex("mail", unique: true)
    try sessions.save(["mail": "x"], key: "a")
    try sessions.setExpiration(date(10), of: "a")
    // The handler of the clock does nothing before the write.
    clock.advance(by: .seconds(10))

    try store.write {
      try sessions.insert(["mail": "x"], key: "a")
      try sessions.setExpiration(date(0), of: "a")
      #expect(try sessions.get("a") == nil)
      try sessions.insert(["mail": "x"], key: "b")
    }

    #expect(try sessions.find().fetch().compactMap(\.key) == ["b"])
  }

  @Test("The cache returns no expired document")
  func cache() throws {
    let sessions = try store()["sessions"]
    sessions.cacheSize = 10
    try sessions.save(["n": 1], key: "a")
    try sessions.setExpiration(date(10), of: "a")
    let document = try #require(try sessions.get("a"))
    #expect(try sessions.find().fetch().count == 1)
    #expect(sessions.store.isCurrent(document))

    clock.advance(by: .seconds(10))

    #expect(try sessions.get("a") == nil)
    #expect(try sessions.find().fetch().isEmpty)
    #expect(!sessions.store.isCurrent(document))
  }

  @Test("A setup sets the rule, and reads it back")
  func setup() throws {
    let sessions = try store()["sessions"]
    let setup = try CollectionSetup(["expiration": ["field": "at", "after": 60]])
    #expect(setup.expiration == .field("at", after: .seconds(60)))
    #expect(try CollectionSetup(setup.object) == setup)
    try sessions.apply(setup)
    #expect(try sessions.expirationRule() == .field("at", after: .seconds(60)))
    for object in [
      ["after": "soon"], ["after": -1], ["field": 1], [:], ["after": 1, "extra": 1],
    ] as [DocumentObject] {
      #expect(code { _ = try CollectionSetup(["expiration": .object(object)]) } == .invalidArgument)
    }
  }
}

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
