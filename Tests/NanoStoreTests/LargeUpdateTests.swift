// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

/// Updates of so many documents that the engine looks for a faster statement.
@Suite("Large updates")
struct LargeUpdateTests {
  private let store: Store
  private let people: DocumentCollection
  private static let count = 60

  init() throws {
    store = try Store(.memory)
    people = store["people"]
    try people.insert((0..<Self.count).map { ["n": .int(Int64($0))] })
  }

  /// Updates all documents.
  private func raise() throws { try people.find().update(.increment("n", by: 100)) }

  private func value(_ sql: String) throws -> DocumentValue? {
    try store.sql(sql + " AS value FROM people LIMIT 1").first?["value"]
  }

  @Test("They fire the triggers of other programs, with the conflict clauses of these")
  func triggers() throws {
    try createTrigger()
    try raise()

    #expect(try value("SELECT (SELECT count(*) FROM own)") == 10)
    #expect(try people.find(Field("n") >= 100).count() == Self.count)
  }

  @Test("They fire a trigger that is created between them in the same transaction")
  func laterTrigger() throws {
    try store.write {
      try raise()
      try createTrigger()
      try raise()
    }

    #expect(try value("SELECT (SELECT count(*) FROM own)") == 10)
    #expect(try people.find(Field("n") >= 200).count() == Self.count)
  }

  private func createTrigger() throws {
    try store.execute("CREATE TABLE own(digit INTEGER UNIQUE)")
    try store.execute(
      "CREATE TRIGGER own_update AFTER UPDATE ON people "
        + "BEGIN INSERT OR IGNORE INTO own VALUES (NEW.id % 10); END")
  }

  @Test("They update rows that another program wrote in between")
  func foreignRows() throws {
    try store.write {
      try raise()
      try store.execute("UPDATE people SET body = '{\"n\":  7}' WHERE id = 20")
      try raise()
    }

    #expect(try people.get(rowID: 20)?["n"] == 107)
    #expect(try people.find(Field("n") >= 200).count() == Self.count - 1)
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
        #expect(try people.find(Field("n") >= 100).count() == Self.count)
        try raise()
      }
    }

    #expect(thrown == nil)
    #expect(try people.find(Field("n") >= 200).count() == Self.count)
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
}
