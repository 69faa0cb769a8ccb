// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Many collections created at once", .sqlite)
struct ManyCollectionsTests {
  private let names = (0..<300).map { "tenant \($0)" }

  @Test(
    "The file is sound, and another store on it uses the collections before and after reopening")
  func file() throws {
    let scratch = try Scratch()
    let store = try Store.file(scratch.file("a.db"))
    let other = try Store.file(scratch.file("a.db"))
    try store["people"].createIndex("name", unique: true)
    try store["people"].insert(["name": "Ada"])
    #expect(try other.collections().count == 1)

    let created = try store.createCollections(names)
    #expect(created.map(\.name) == names)
    try other["tenant 299"].insert(["n": 1], key: "k")
    try store["tenant 0"].insert(["n": 2], key: "k")

    #expect(throws: StoreError.self) { try store["people"].insert(["name": "Ada"]) }
    #expect(try store["tenant 299"].get("k")?["n"] == 1)
    #expect(try store.verify().isEmpty)
    #expect(try store.sql("PRAGMA integrity_check").first?.values.first == "ok")
    try store.close()
    try store.reopen()
    #expect(try store.collections().count == 301)
    #expect(try store["people"].find(Field("name") == "Ada").count() == 1)
    #expect(try other["tenant 0"].get("k")?["n"] == 2)
  }

  @Test("Definitions that SQLite would refuse are refused, and nothing is created")
  func conflict() throws {
    let scratch = try Scratch()
    let store = try Store.file(scratch.file("a.db"))
    try store["people"].insert(["n": 1])
    try scratch.shell("a.db", "CREATE INDEX \"nano_key_tenant 7\" ON people(id)")

    #expect(throws: StoreError.self) { try store.createCollections(names) }

    #expect(try store.collections().map(\.name) == ["people"])
    try scratch.shell("a.db", "DROP INDEX \"nano_key_tenant 7\"")
    try store.createCollections(names)
    #expect(try store.collections().count == 301)
  }

  @Test("Full-text indexes keep their entries, also those of the same transaction")
  func fullTextIndexes() throws {
    let store = try Store(.memory)
    try store["films"].createFullTextIndex("title")
    try store.write {
      try store["films"].insert(["title": "Gin and tonic"])
      try store.createCollections(names)
      try store["films"].insert(["title": "Tonic water"])
    }

    #expect(try store["films"].search("tonic").count() == 2)
    #expect(try store.verify().isEmpty)
    #expect(try store.collections().count == 301)
  }

  @Test("A transaction that creates collections while it reads documents sees both")
  func whileReading() throws {
    let store = try Store(.memory)
    try store["people"].insert((0..<3).map { ["n": .int($0)] })
    var seen = 0
    try store.write {
      try store["people"].find().each { _ in
        seen += 1
        if seen == 1 { try store.createCollections(names) }
      }
      try store["tenant 7"].insert(["n": 1])
    }

    #expect(seen == 3)
    #expect(try store["tenant 7"].count() == 1)
  }

  @Test("Nothing is created if the transaction is rolled back, and the names stay usable")
  func rollback() throws {
    let store = try Store(.memory)
    struct Undo: Error {}
    #expect(throws: Undo.self) {
      try store.write {
        try store.createCollections(names)
        try store["tenant 5"].insert(["n": 1])
        throw Undo()
      }
    }

    #expect(try store.collections().isEmpty)
    try store["tenant 5"].insert(["n": 2])
    #expect(try store["tenant 5"].find().fetch().map { $0["n"] } == [2])
  }
}
