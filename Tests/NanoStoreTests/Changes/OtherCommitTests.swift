// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import NanoTesting
import Synchronization
import Testing

/// What observers learn of commits by other connections and programs, in collections whose changes are tracked.
@Suite("Commits of others in tracked collections", .sqlite, .timeLimit(.minutes(10)))
struct OtherCommitTests {
  private let scratch: Scratch
  private let store: Store
  private let other: Store
  private var films: DocumentCollection { store["films"] }
  private var others: DocumentCollection { other["films"] }

  init() throws {
    scratch = try Scratch()
    store = try Store.file(scratch.file("a.db")) { $0.changeInterval = .milliseconds(10) }
    other = try Store.file(scratch.file("a.db"))
    for number in 0..<5 as Range<Int64> {
      try store["films"].save(["n": .int(number)], key: "\(number)")
    }
    try store["films"].setChangeTracking(.on)
  }

  /// Returns the rows of changes until they include one.
  private func rows(
    _ changes: inout CollectionChangeFeed.Iterator, until row: Int64
  ) async throws -> [Int64: Change.Kind]? {
    var all: [Int64: Change.Kind] = [:]
    while let change = try await changes.next() {
      guard let rows = change.rows else { return nil }
      all.merge(rows) { _, new in new }
      if all[row] != nil { return all }
    }
    return nil
  }

  @Test("Inserted, updated and deleted documents are reported with their row IDs")
  func kinds() async throws {
    var changes = films.changes().makeAsyncIterator()
    try await other.write {
      try others.update("1", set: ["n": 10])
      try others.delete("2")
    }
    let inserted = try await others.insert(["n": 6])
    let new = try #require(inserted.rowID)
    #expect(try await rows(&changes, until: new) == [2: .updated, 3: .deleted, new: .inserted])
  }

  @Test("What the shell of SQLite does to documents without keys, and every deletion, is reported")
  func shell() async throws {
    var changes = films.changes().makeAsyncIterator()
    try scratch.shell(
      "a.db", "DELETE FROM films WHERE id = 1; INSERT INTO films(id, body) VALUES (90, '{}')")
    #expect(try await rows(&changes, until: 90) == [1: .deleted, 90: .updated])
    // It is reported with each commit of others until it has a number.
    try scratch.shell("a.db", "UPDATE films SET body = '{\"n\":8}' WHERE id = 90")
    #expect(try await rows(&changes, until: 90) == [90: .updated])
    try scratch.shell("a.db", "DELETE FROM films WHERE id IN (2, 90)")
    #expect(try await rows(&changes, until: 90) == [2: .deleted, 90: .deleted])
  }

  @Test(
    "A document that another program replaces by one with the same row ID is reported each time")
  func replacedWithoutNumber() async throws {
    var changes = films.changes().makeAsyncIterator()
    try scratch.shell("a.db", "INSERT INTO films(id, body) VALUES (90, '{}')")
    #expect(try await rows(&changes, until: 90) == [90: .updated])
    for number in 1...3 {
      try scratch.shell(
        "a.db",
        "BEGIN; DELETE FROM films WHERE id = 90; INSERT INTO films(id, body) VALUES (90, '{\"n\":\(number)}'); COMMIT"
      )
      #expect(try await rows(&changes, until: 90)?[90] != nil)
      try scratch.shell(
        "a.db", "INSERT OR REPLACE INTO films(id, body) VALUES (90, '{\"m\":\(number)}')")
      #expect(try await rows(&changes, until: 90)?[90] != nil)
    }
  }

  @Test(
    "A collection that is not tracked may have changed in any document, one that is tracked and unchanged has not"
  )
  func untracked() async throws {
    try await store["people"].save(["n": 1], key: "a")
    var iterator = store.changes.makeAsyncIterator()
    try await other["people"].save(["n": 2], key: "b")
    let commit = try #require(try await iterator.next())
    #expect(commit.isEverything)
    let people = try #require(commit.change(in: "people"))
    #expect(people.rows == nil)
    #expect(commit.change(in: "films") == nil)
    #expect(commit.change(in: "new") != nil)
  }

  @Test(
    "Statements of other programs that can delete documents without a trace are reported without rows",
    arguments: [
      "INSERT INTO films(key, body) VALUES ('x', '{}')",
      "UPDATE films SET body = '{\"n\":7}' WHERE key = '3'",
      "INSERT OR REPLACE INTO films(key, body) VALUES ('1', '{}')",
      "UPDATE OR REPLACE films SET key = '1' WHERE key = '2'",
      """
      INSERT OR REPLACE INTO films(key, body) VALUES ('1', '{}');
      DELETE FROM films WHERE key = '1'
      """,
      "INSERT OR REPLACE INTO films(body) VALUES ('{\"n\":1}')",
    ])
  func replaced(sql: String) async throws {
    try await films.createIndex("n", unique: true)
    var changes = films.changes().makeAsyncIterator()
    try await others.save(["n": 33], key: "3")
    #expect(try await changes.next()?.rows == [4: .updated])
    try scratch.shell("a.db", sql)
    #expect(try await changes.next()?.rows == nil)
  }

  @Test("New defaults, which change results but no document, are reported without rows")
  func defaults() async throws {
    var changes = films.changes().makeAsyncIterator()
    try await others.save(["n": 33], key: "3")
    #expect(try await changes.next()?.rows == [4: .updated])
    try await others.setDefaults(["x": 1])
    #expect(try await changes.next()?.rows == nil)
  }

  @Test(
    "More than a thousand documents, a new timeline and a dropped collection are reported without rows"
  )
  func unknown() async throws {
    var changes = films.changes().makeAsyncIterator()
    try await others.insert((0..<1_200).map { try Document(["n": .int($0)]) })
    #expect(try await changes.next()?.rows == nil)
    try await others.setChangeTracking(.off)
    #expect(try await changes.next()?.rows == nil)
    try await others.setChangeTracking(.on)
    #expect(try await changes.next()?.rows == nil)
    try await others.drop()
    #expect(try await changes.next()?.rows == nil)
  }

  @Test("A row that is replaced without its trigger does not hide later changes")
  func replacedLast() async throws {
    for number in 0..<10 as Range<Int64> { try await films.save(["n": .int(number)], key: "0") }
    var changes = films.changes().makeAsyncIterator()
    try scratch.shell(
      "a.db",
      """
      INSERT OR REPLACE INTO films(id, key, body) VALUES (1, '0', '{"n":55}');
      UPDATE films SET body = '{"n":77}' WHERE id = 5;
      """)
    var isReported = false
    while !isReported, let change = try await changes.next() {
      isReported = change.rows == nil || change.rows?[5] != nil
    }
    #expect(isReported)
  }

  @Test(
    "An observer that reads only reported documents knows all of them, whoever writes",
    arguments: 0..<4 as Range<UInt64>)
  func random(seed: UInt64) async throws {
    let known = Mutex<[Int64: Int64]>([:])
    for document in try await films.find().fetch() {
      known.withLock { $0[document.rowID!] = try? Follower.value(of: document) }
    }
    let isOpen = Atomic(false)
    let observed = Task { [films] in
      var iterator = films.changes().makeAsyncIterator()
      isOpen.store(true, ordering: .relaxed)
      while let change = try await iterator.next() {
        guard let rows = change.rows?.keys.sorted() else {
          let all = Self.values(try await films.find().fetch())
          known.withLock { $0 = all }
          continue
        }
        let documents = Self.values(try await films.find(.rowID(in: rows)).fetch())
        known.withLock { known in
          for row in rows { known[row] = nil }
          known.merge(documents) { _, new in new }
        }
      }
    }
    while !isOpen.load(ordering: .relaxed) { await Task.yield() }
    var random = SplitMix(seed: seed)
    for number in 0..<150 {
      let key = "\(random.number(0...9))"
      let collection = random.oneIn(3) ? films : others
      switch random.number(0...3) {
      case 0: try await collection.delete(key)
      case 1: try await collection.insert(["n": .int(Int64(number))])
      case 2 where random.oneIn(4):
        try scratch.shell(
          "a.db", "INSERT OR REPLACE INTO films(key, body) VALUES ('\(key)', '{\"n\":\(number)}')")
      default: try await collection.save(["n": .int(Int64(number))], key: key)
      }
      if random.oneIn(6) { try await Task.sleep(for: .milliseconds(15)) }
    }
    let stored = Self.values(try await films.find().fetch())
    for _ in 0..<40_000 where known.withLock(\.self) != stored {
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(known.withLock(\.self) == stored, "seed \(seed)")
    observed.cancel()
  }

  private static func values(_ documents: [Document]) -> [Int64: Int64] {
    var values: [Int64: Int64] = [:]
    for document in documents { values[document.rowID!] = try? Follower.value(of: document) }
    return values
  }
}
