// SPDX-License-Identifier: MIT

import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import Testing

@Suite("Single-statement writes on PostgreSQL", .postgres)
struct SingleWriteTests {
  @Test("An insert uses one row ID, whatever indexes the collection has")
  func rowIDs() throws {
    let store = try TestDatabase.store()
    defer { try? store.close() }
    let films = store["films"]
    try films.insert(["n": 1, "text": "gin", "tags": ["x"]])
    var expected: Int64 = 1
    func next(_ number: Int64) throws -> Int64? { try films.insert(["n": .int(number)]).rowID }

    for prepare in [
      { _ in }, { try $0.createIndex("n", unique: true) }, { try $0.createIndex("tags") },
      { try $0.createFullTextIndex("text") }, { try $0.setDefaults(["rating": 5]) },
    ] as [(DocumentCollection) throws -> Void] {
      try prepare(films)
      for _ in 0..<3 {
        expected += 1
        #expect(try next(expected) == expected)
      }
    }
    #expect(try films.count() == Int(expected))
  }

  @Test("Names in different Unicode normalization forms are two collections")
  func unicodeForms() throws {
    let store = try TestDatabase.store()
    defer { try? store.close() }
    try store["\u{E9}"].save(["n": 1], key: "a")
    try store["e\u{301}"].save(["n": 2], key: "a")
    try store["e\u{301}"].save(["n": 3], key: "b")

    #expect(try store["\u{E9}"].get("a")?["n"] == 1)
    #expect(try store["\u{E9}"].count() == 1)
    #expect(try store["e\u{301}"].get("a")?["n"] == 2)
    #expect(try store["e\u{301}"].count() == 2)
    try store["both"].insert(["\u{E9}": 1])
    try store["both"].insert(["e\u{301}": 10])
    #expect(try store["both"].find().distinct("\u{E9}") == [1])
    let sums = try store["both"].find().aggregate([.sum("\u{E9}"), .sum("e\u{301}")])
    #expect(sums == [1, 10])
    let seen = try store.write { try store["\u{E9}"].find("[n] > 0").count() }
    #expect(seen == 1)
  }
}
