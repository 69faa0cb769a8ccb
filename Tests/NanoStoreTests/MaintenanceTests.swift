// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Verification, compaction, and statistics", .sqlite)
struct MaintenanceTests {
  let scratch: Scratch
  let store: Store
  init() throws {
    scratch = try Scratch()
    store = try Store.file(scratch.file("a.db"))
    try store["a"].insert(
      (0..<500).map { ["n": .int($0), "tags": [.int($0 % 5), "x"]] })
    try store["a"].createIndex("n")
    try store["a"].createIndex("tags")
  }

  @Test("An intact store has no problems, including rows of other programs")
  func intact() throws {
    #expect(try store.verify().isEmpty)
    try store.execute("INSERT INTO a(body) VALUES ('{\"n\":[\"new\",{\"deep\":1}]}')")
    try store.execute("UPDATE a SET body = '{\"m\":1}' WHERE id < 10")
    try store.execute("DELETE FROM a WHERE id > 400")
    #expect(try store.verify().isEmpty)
  }

  static let damages: [(String, String, String)] = [
    ("a document", "UPDATE a SET body = '{\"n\":' WHERE id = 7", "a"),
    ("an array as document", "UPDATE a SET body = '[1]' WHERE id = 7", "a"),
    ("the path catalog", "DELETE FROM nano_paths WHERE path = 'n' AND collection = 'a'", "a"),
    ("an index entry", "DELETE FROM nano_elements_a_tags_elements WHERE id = 7", "a"),
    (
      "an extra entry", "INSERT INTO nano_elements_a_tags_elements(value, id) VALUES (9, 7)",
      "a"
    ),
    ("a dropped index", "DROP INDEX nano_index_a_n", "a"),
    ("a dropped side table", "DROP TABLE nano_elements_a_tags_elements", "a"),
    ("a dropped collection", "DROP TABLE a", "a"),
  ]

  @Test("Damage is found and named, and the rest stays readable", arguments: damages.indices)
  func damage(index: Int) throws {
    let (what, statement, subject) = Self.damages[index]
    try store["b"].save(["n": 1], key: "k")
    if what.contains("document") { try store["a"].dropIndex("n") }
    if what.contains("document") { try store["a"].dropIndex("tags_elements") }
    var configuration = SQLiteConfiguration()
    configuration.allowsInternalWrites = true
    try Store(.file(scratch.file("a.db")), engine: configuration).execute(statement)
    let problems = try store.verify()
    #expect(!problems.isEmpty, "\(what)")
    #expect(problems.allSatisfy { $0.subject == subject }, "\(what): \(problems)")
    #expect(try store["b"].get("k")?["n"] == 1)
  }

  @Test("Changed bytes in the file are detected, and reading them does not crash")
  func damagedFile() throws {
    try store.close()
    var bytes = try scratch.bytes("a.db")
    for offset in stride(from: 4096 * 6, to: min(bytes.count, 4096 * 12), by: 7) {
      bytes[offset] = 0xAA
    }
    try bytes.write(to: URL(fileURLWithPath: scratch.file("a.db")))
    let result = code {
      try store.reopen()
      let problems = try store.verify()
      #expect(!problems.isEmpty)
      _ = code { for document in try store["a"].fetch() { _ = try document.object() } }
      _ = code { _ = try store["a"].find(Field("n") == 3).count() }
    }
    #expect([nil, .corruptFile].contains(result))
  }

  @Test("A document that does not decode throws .corruptDocument, and the others are readable")
  func corruptDocument() throws {
    try store["a"].dropIndex("n")
    try store["a"].dropIndex("tags_elements")
    let key = try #require(try store["a"].get(rowID: 7)?.key)
    try store.execute("UPDATE a SET body = '{\"n\":tru}' WHERE id = 7")
    #expect(code { _ = try store["a"].get(key)?.object() } == .corruptDocument)
    #expect(code { _ = try store["a"].find(Field("n") == 3).fetch() } == .corruptDocument)
    #expect(code { try store["a"].update(key, set: ["n": 1]) } == .corruptDocument)
    #expect(try store["a"].get(rowID: 8)?["n"] == 7)
    #expect(try store["a"].count() == 500)
    try store["a"].save(["n": 6], key: key)
    #expect(try store["a"].find(Field("n") == 6).count() == 1)
    #expect(try store.verify().isEmpty)
  }

  @Test("Compacting frees space and keeps row IDs, indexes, and documents")
  func compact() throws {
    let before = try store["a"].find(Field("n") > 400).rowIDs()
    try store["b"].insert(
      (0..<300).map { _ in ["t": .string(String(repeating: "x", count: 3_000))] })
    try store["b"].drop()
    let full = try store.statistics()
    #expect(full.unused > 500_000)
    try store.compact()
    let small = try store.statistics()
    #expect(small.unused == 0)
    #expect(small.size < full.size - 500_000)
    #expect(try store["a"].find(Field("n") > 400).rowIDs() == before)
    #expect(try store["a"].find(Field("tags") == 3).count() == 100)
    #expect(try store["a"].insert(["n": 1]).rowID == 501)
    #expect(try store.verify().isEmpty)
    #expect(code { try store.write { try store.compact() } } == .invalidArgument)
    #expect(code { try store.read { _ = try store.verify() } } == .invalidArgument)
    for location in [Store.Location.memory, .temporary] { try Store(location).compact() }
  }

  @Test("Statistics count documents and indexes, including pending saves")
  func statistics() throws {
    store.saveInterval = 10
    try store["b"].save(["n": 1], key: "k")
    let statistics = try store.statistics()
    #expect(statistics.collections.map(\.name) == ["a", "b"])
    #expect(statistics.collections.map(\.documents) == [500, 1])
    #expect(statistics.collections.map(\.indexes) == [2, 0])
    #expect(statistics.engine.hasPrefix("SQLite 3."))
    #expect(statistics.size > 0 && statistics.size % 4096 == 0)
  }
}
