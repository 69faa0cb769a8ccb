// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

/// Updates of so many documents that the engine uses a faster statement and switches triggers off.
@Suite("Large updates", .sqlite)
struct LargeUpdateTests {
  private let store: Store
  private let people: DocumentCollection
  private static let count = 700

  init() throws {
    store = try Store(.memory)
    people = store["people"]
    try people.insert((0..<Self.count).map { ["n": .int(Int64($0))] })
  }

  /// Updates all documents.
  private func raise() throws { try people.find().update(.increment("n", by: 1_000)) }

  private func value(_ sql: String) throws -> DocumentValue? {
    try store.sql(sql + " AS value FROM people LIMIT 1").first?["value"]
  }

  @Test(
    "They fire the triggers of other programs, with the conflict clauses of these",
    arguments: ["", "TEMP "])
  func triggers(kind: String) throws {
    try createTrigger(kind)
    try raise()

    #expect(try value("SELECT (SELECT count(*) FROM own)") == 10)
    #expect(try people.find(Field("n") >= 1000).count() == Self.count)
  }

  @Test(
    "They fire a trigger that is created between them in the same transaction",
    arguments: ["", "TEMP "])
  func laterTrigger(kind: String) throws {
    try store.write {
      try raise()
      try createTrigger(kind)
      try raise()
    }

    #expect(try value("SELECT (SELECT count(*) FROM own)") == 10)
    #expect(try people.find(Field("n") >= 2000).count() == Self.count)
  }

  private func createTrigger(_ kind: String) throws {
    try store.execute("CREATE TABLE own(digit INTEGER UNIQUE)")
    try store.execute(
      "CREATE \(kind)TRIGGER own_update AFTER UPDATE ON people "
        + "BEGIN INSERT OR IGNORE INTO own VALUES (NEW.id % 10); END")
  }

  @Test("They update rows that another program wrote in between")
  func foreignRows() throws {
    try store.write {
      try raise()
      try store.execute("UPDATE people SET body = '{\"n\":  7}' WHERE id = 20")
      try raise()
    }

    #expect(try people.get(rowID: 20)?["n"] == 1007)
    #expect(try people.find(Field("n") >= 2000).count() == Self.count - 1)
    #expect(try value("SELECT count(*) FILTER (WHERE revision IS NULL)") == 0)
    #expect(try store.verify().isEmpty)
  }

  @Test("They observe a unique index that is created between them in the same transaction")
  func laterIndex() throws {
    let thrown = code {
      try store.write {
        try raise()
        try people.createIndex("n", unique: true)
        #expect(code { try people.find().update(.set("n", 1)) } == .uniqueViolation)
        #expect(try people.find(Field("n") >= 1000).count() == Self.count)
        try raise()
      }
    }

    #expect(thrown == nil)
    #expect(try people.find(Field("n") >= 2000).count() == Self.count)
    #expect(try store.verify().isEmpty)
  }

  @Test("A change with SQL afterwards is noticed")
  func foreignWriteLater() throws {
    try raise()
    try store.execute("UPDATE people SET body = '{\"n\":5}' WHERE id = 3")

    #expect(try value("SELECT count(*) FILTER (WHERE revision IS NULL)") == 1)
    try people.save(["n": 1], key: "next")
    #expect(try value("SELECT count(*) FILTER (WHERE revision IS NULL)") == 0)
  }

  private func createIndexes() throws {
    try people.createIndex("n", unique: true)
    try people.createIndex("name", "n")
    try people.createIndex("address.city")
  }

  private static func isFound(_ n: ClosedRange<Int64>, in people: DocumentCollection) throws -> Bool
  {
    try people.find(Field("n") >= n.lowerBound && Field("n") <= n.upperBound).count() == n.count
  }

  @Test("A row ID deleted after them in the same transaction is not assigned again")
  func deletion() throws {
    try createIndexes()
    let last = Int64(Self.count)
    try store.write {
      try raise()
      #expect(try people.delete(rowID: last))
      try raise()
    }

    let inserted = try people.insert(["n": 1])
    #expect(inserted.rowID == last + 1)
    #expect(try store.verify().isEmpty)
  }

  @Test("Other collections are indexed, and their changes recorded, in the same transaction")
  func otherCollections() throws {
    try createIndexes()
    let others = store["others"]
    try others.insert(["tags": ["old"], "text": "earlier"], key: "k")
    try others.createIndex("tags", elements: true)
    try others.createFullTextIndex("text")
    try others.setChangeTracking(.on)

    try store.write {
      try raise()
      try others.save(["tags": ["new", "a"], "text": "later"], key: "k")
      try raise()
      try others.insert(["tags": ["new"], "text": "later still"], key: "l")
      try raise()
      try others.save(["tags": ["a"], "text": "last"], key: "l")
      try raise()
      #expect(try others.delete("k"))
    }

    #expect(try Self.isFound(4000...4699, in: people))
    #expect(try others.find(Field("tags").contains("a")).keys() == ["l"])
    #expect(try others.find(Field("tags").contains("new")).count() == 0)
    #expect(try others.search("later").count() == 0)
    #expect(try others.search("last").keys() == ["l"])
    let page = try others.changes(since: nil)
    guard case .entries(let entries, _, _) = page else { return #expect(Bool(false), "\(page)") }
    #expect(entries.map { "\($0.key ?? "") \($0.isDeleted)" } == ["l false", "k true"])
    #expect(try store.verify().isEmpty)
  }

  @Test("A rejected one leaves its document and the indexes as they were, and the block goes on")
  func rejected() throws {
    try createIndexes()
    try store.write {
      try raise()
      for n in 1000..<1010 {
        #expect(
          code { try people.update(rowID: 150, set: ["n": .int(Int64(n))]) } == .uniqueViolation)
        #expect(code { try people.save(["n": .int(Int64(n))], key: "new") } == .uniqueViolation)
      }
      try people.update(rowID: 150, set: ["n": 7, "name": "seven"])
    }

    #expect(try people.count() == Self.count)
    #expect(try people.find(Field("name") == "seven").count() == 1)
    #expect(try Self.isFound(1000...1148, in: people))
    #expect(try store.verify().isEmpty)
  }

  @Test(
    "An undone block leaves none of them, and a trigger fires for the next",
    arguments: [true, false])
  func undone(isNested: Bool) throws {
    struct Stop: Error {}
    try createIndexes()
    let block = {
      try store.write {
        try raise()
        throw Stop()
      }
    }
    if isNested {
      try store.write {
        try raise()
        #expect(throws: Stop.self) { try block() }
        try store.execute("UPDATE people SET body = '{\"n\":1}' WHERE id = 3")
      }
    } else {
      #expect(throws: Stop.self) { try block() }
      try store.execute("UPDATE people SET body = '{\"n\":1000}' WHERE id = 3")
    }

    #expect(try value("SELECT count(*) FILTER (WHERE revision IS NULL)") == 1)
    #expect(try people.find(Field("n") < 1000).count() == (isNested ? 1 : Self.count - 1))
    #expect(try store.verify().isEmpty)
  }

  @Test("An index on elements that is created between them has the elements of the later ones")
  func laterElements() throws {
    try createIndexes()
    try store.write {
      try raise()
      try people.createIndex("tags", elements: true)
      try people.find().update(.set("tags", ["a", "b"]))
      try raise()
      try people.find(Field("n") < 2100).update(.set("tags", ["c"]))
    }

    #expect(try people.find(Field("tags").contains("c")).count() == 100)
    #expect(try people.find(Field("tags").contains("b")).count() == Self.count - 100)
    #expect(try store.verify().isEmpty)
  }

  @Test("Saving as many documents updates the indexes")
  func saves() throws {
    try createIndexes()
    let keys = (0..<Self.count).map { "k\($0)" }
    try store.write {
      for (n, key) in keys.enumerated() { try people.save(["n": .int(Int64(1000 + n))], key: key) }
      for (n, key) in keys.enumerated() { try people.save(["n": .int(Int64(2000 + n))], key: key) }
      for (n, key) in keys.enumerated().prefix(10) {
        #expect(try people.delete(key))
        try people.save(["n": .int(Int64(3000 + n))], key: key)
      }
    }

    #expect(try people.find(Field("n") >= 1000 && Field("n") < 2000).count() == 0)
    #expect(try Self.isFound(2010...2699, in: people))
    #expect(try Self.isFound(3000...3009, in: people))
    #expect(try store.verify().isEmpty)
  }

  @Test("A query with a subquery that runs meanwhile goes on", arguments: [true, false])
  func runningQuery(writesBefore: Bool) throws {
    try createIndexes()
    let orders = store["orders"]
    let items = store["items"]
    try items.insert((0..<700).map { ["n": .int(Int64($0)), "isSold": true] })
    try items.createIndex("n")
    try orders.insert((0..<900).map { ["person": .int(Int64($0 % 700)), "kind": "new"] })
    try orders.createIndex("kind")
    let isSold = Field("person").related(in: items, by: "n")["isSold"] == true
    struct Order: Codable { var person: Int }
    var seen = 0
    try store.write {
      if writesBefore { try raise() }
      // Unlike `each`, it does not read all results first.
      try orders.find(Field("kind") == "new" && isSold).visitStored { stored in
        let order = try DocumentDecoder().decode(Order.self, from: stored.body)
        seen += 1
        try people.update(rowID: Int64(order.person + 1), set: ["name": "a\(seen)"])
        if seen % 90 == 0 { try store["others"].insert(["n": 1]) }
        if seen == 450 {
          let statement = "INSERT INTO others VALUES (90, NULL, NULL, NULL, NULL, 1, '{}')"
          #expect(code { try store.execute(statement) } == .notPermitted)
        }
        return true
      }
    }

    #expect(seen == 900)
    #expect(try people.find(Field("name") == "a900").count() == 1)
    #expect(try store["others"].count() == 10)
    #expect(try store.verify().isEmpty)
  }
}
