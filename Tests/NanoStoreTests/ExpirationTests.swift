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

  @Test(
    "Expired documents that are not deleted yet hide no others, whatever the collection is called",
    arguments: ["e", "E", "d", "t", "id", "nanoe"])
  func collectionName(_ name: String) throws {
    let store = try store()
    let documents = store[name]
    try documents.createFullTextIndex("n")
    for number in 0..<3 as Range<Int64> {
      try documents.save(["i": .int(number), "n": "word"], key: "k\(number)")
    }
    try documents.setExpiration(date(10), of: "k2")
    clock.advance(by: .milliseconds(10_000))
    #expect(try (0..<3).map { try documents.get("k\($0)") != nil } == [true, true, false])
    #expect(try documents.get(keys: ["k0", "k1", "k2"]).count == 2)
    #expect(try documents.search("word").fetch().count == 2)
    try documents.update("k0", set: ["i": 7])
    try documents.setExpirationRule(.field("until"))
    #expect(try documents.count() == 2)
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
