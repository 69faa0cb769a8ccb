// SPDX-License-Identifier: MIT

import NanoStore
import NanoTestSupport
import Testing

@Suite("Batches that fail in a transaction that continues")
struct FailedBatchTests {
  private let store: Store
  private let people: DocumentCollection

  init() throws {
    store = try anyStore()
    people = store["people"]
    try people.insert((1...10).map { Self.person($0) })
    try people.createIndex("n", unique: true)
    try people.createIndex("city")
    try people.createIndex("name", "-n")
  }

  private static func person(_ n: Int) -> DocumentObject {
    ["n": .int(Int64(n)), "city": .string("c\(n % 7)"), "name": .string("p\(n * 37 % 101)")]
  }

  /// Objects of which the last one has the number of a stored document.
  private func rejected(
    _ work: @escaping (Int) -> Void = { _ in }
  ) -> LazyMapSequence<ClosedRange<Int>, DocumentObject> {
    (11...160).lazy.map { n in
      work(n)
      return Self.person(n == 160 ? 5 : n)
    }
  }

  private func expectUnchanged() throws {
    #expect(try people.count() == 10)
    let stored = try (1...160).filter { try people.find(Field("n") == .int(Int64($0))).exists() }
    #expect(stored == Array(1...10))
    #expect(try people.find(Field("city") == "c3").count() == 2)
    #expect(try people.find(Field("name") == "p37").count() == 1)
    #expect(try store.verify().isEmpty)
  }

  @Test("A failed batch leaves documents and indexes unchanged")
  func unchanged() throws {
    try store.write {
      #expect(code { try people.insert(rejected()) } == .uniqueViolation)
      let count = try people.count()
      #expect(count == 10)
    }

    try expectUnchanged()
  }

  @Test("Later documents have the row IDs that follow", .sqlite)
  func rowIDs() throws {
    let ids = try store.write {
      #expect(code { try people.insert(rejected()) } == .uniqueViolation)
      return try people.insert((11...160).map { Self.person($0) })
    }

    #expect(ids == Array(11...160))
    #expect(try people.count() == 160)
    #expect(try people.find(Field("city") == "c3").count() == 23)
    #expect(try store.verify().isEmpty)
  }

  @Test("Writes made by the inserted sequence are undone")
  func otherWrites() throws {
    let first = try #require(try people.find(Field("n") == 1).fetch().first?.rowID)
    let (people, store) = (people, store)
    let objects = rejected { n in
      if n == 50 { _ = try? people.update(rowID: first, set: ["n": 1_000]) }
      if n == 60 { _ = try? store["others"].insert((1...90).map { ["m": .int($0)] }) }
      if n == 70 { _ = try? people.delete(rowID: first + 1) }
    }

    try store.write {
      try store["before"].insert(["n": 1])
      #expect(code { try people.insert(objects) } == .uniqueViolation)
    }

    try expectUnchanged()
    #expect(try store["others"].count() == 0)
    #expect(try store["before"].count() == 1)
  }

  @Test("Rows written by a trigger are undone", .sqlite)
  func trigger() throws {
    try store.execute("CREATE TABLE audit(id INTEGER)")
    try store.execute(
      "CREATE TRIGGER mine AFTER INSERT ON people BEGIN INSERT INTO audit VALUES (NEW.id); END")

    try store.write {
      #expect(code { try people.insert(rejected()) } == .uniqueViolation)
    }

    #expect(try store.sql("SELECT count(*) AS n FROM audit")[0]["n"] == 0)
    try expectUnchanged()
  }

  @Test("A change feed has no entries for a failed batch", .sqlite)
  func feed() throws {
    try people.setChangeTracking(.on)

    try store.write {
      #expect(code { try people.insert(rejected()) } == .uniqueViolation)
    }

    guard case .entries(let entries, _, _) = try people.changes(since: nil) else {
      Issue.record("no entries")
      return
    }
    #expect(entries.map(\.rowID) == Array(1...10))
    try expectUnchanged()
  }

  @Test("The documents are found when the file is opened again", .sqlite)
  func file() throws {
    let scratch = try Scratch()
    let url = scratch.file("a.db")
    do {
      let store = try Store(.file(url))
      try store["people"].insert(Self.person(5))
      try store["people"].createIndex("n", unique: true)
      try store.write {
        #expect(code { try store["people"].insert(rejected()) } == .uniqueViolation)
        try store["people"].insert((11...60).map { Self.person($0) })
      }
      try store.close()
    }

    let store = try Store(.file(url))

    #expect(try store["people"].count() == 51)
    #expect(try store["people"].find(Field("n") == 60).count() == 1)
    #expect(try store["people"].insert(["n": 0]).rowID == 52)
    #expect(try store.verify().isEmpty)
  }
}
