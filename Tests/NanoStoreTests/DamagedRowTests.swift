// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Damaged internal tables", .sqlite)
struct DamagedRowTests {
  let scratch: Scratch
  init() throws { scratch = try Scratch() }

  private func damagedStore(_ statements: String...) throws -> Store {
    let path = scratch.file("a.db")
    try Store.file(path) { $0.allowsInternalWrites = true }.using { store in
      for name in ["a", "b"] {
        try store[name].createIndex("n", unique: true)
        try store[name].save(["n": 1, "tags": ["x"]], key: "k")
        try store[name].createIndex("tags")
      }
      try store.setMetadata(1, "m")
      for statement in statements { try store.execute(statement) }
    }
    return try Store.file(path)
  }

  static let rows: [(table: String, column: String, value: String)] = [
    ("nano_collections", "identity", "'keys'"), ("nano_collections", "identity", "7"),
    ("nano_collections", "generation", "'x'"), ("nano_collections", "generation", "-1"),
    ("nano_collections", "generation", "9223372036854775807"),
    ("nano_collections", "indexing", "'all'"), ("nano_collections", "parts", "99"),
    ("nano_collections", "settings", "'{'"), ("nano_collections", "settings", "'[]'"),
    ("nano_indexes", "kind", "'trees'"), ("nano_indexes", "is_unique", "5"),
    ("nano_indexes", "columns", "'[]'"), ("nano_indexes", "columns", "'[[]]'"),
    ("nano_indexes", "columns", "'[[\"a\",1]]'"), ("nano_indexes", "columns", "'garbage'"),
    ("nano_indexes", "sql_name", "'nano_index_b_n'"), ("nano_indexes", "sql_name", "'a'"),
    ("nano_indexes", "origin", "''"), ("nano_indexes", "filled", "'x'"),
    ("nano_paths", "types", "-1"), ("nano_paths", "types", "'x'"),
    ("nano_paths", "attribute", "2147483647"), ("nano_paths", "attribute", "2147483646"),
    ("nano_paths", "attribute", "-5"),
    ("nano_paths", "path", "printf('%.*c', 5000, '[')"),
  ]

  @Test(
    "A corrupt row throws an error that names it, and other collections stay usable",
    arguments: rows)
  func row(table: String, column: String, value: String) throws {
    let name = table == "nano_collections" ? "name" : "collection"
    let rowCondition =
      table == "nano_indexes"
      ? " AND name = 'n_unique'" : table == "nano_paths" ? " AND path = 'n'" : ""
    let store = try damagedStore(
      "UPDATE \(table) SET \(column) = \(value) WHERE \(name) = 'a'\(rowCondition)")
    for call in [
      { _ = try store["a"].find(Field("n") == 1).fetch() }, { try store["a"].save(["n": 2]) },
      { _ = try store["a"].indexes() },
    ] as [() throws -> Void] {
      let thrown = try #require(error { try call() })
      #expect(thrown.code == .corruptFile)
      #expect(thrown[.table] == table && thrown[.collection] == "a")
      #expect(thrown[.column] == column)
      #expect(thrown[.hint] != nil)
    }
    #expect(try store["b"].find(Field("n") == 1).fetch().count == 1)
    try store["b"].save(["n": 2, "tags": ["y"]])
    #expect(try store["b"].find(Field("tags") == "y").count() == 1)
    #expect(try store.collections().map(\.name) == ["a", "b"])
    #expect(try store.verify().contains { $0.subject == "a" && $0.message.contains(column) })
    let report = try Store.recover(from: scratch.file("a.db"), to: scratch.file("b.db"))
    #expect(report.collections.map(\.saved) == [1, 2])
  }

  @Test("A corrupt high-water mark throws before anything is written")
  func highWater() throws {
    let store = try damagedStore("UPDATE nano_collections SET high_water = 'x' WHERE name = 'a'")
    let thrown = try #require(error { try store["a"].save(["n": 2]) })
    #expect(thrown.code == .corruptFile && thrown[.column] == "high_water")
    #expect(try store["a"].count() == 1)
    try store["b"].save(["n": 2])
  }

  @Test(
    "The index cost model accepts any numbers in its stored rows",
    arguments: [
      ("measured", #"{"documents":9223372036854775807,"scan":1e300,"fields":1e308}"#),
      ("measured", #"{"documents":-9223372036854775808,"scan":{"$numberDouble":"NaN"}}"#),
      ("index n", #"{"uses":9223372036854775807,"cost":1e-300,"debit":1e308,"serves":[]}"#),
      (
        "index \u{301}",
        #"{"uses":-1,"cost":-1e308,"debit":{"$numberDouble":"Infinity"},"serves":[]}"#
      ),
      (
        #"{"kind":"fields","equal":["n"]}"#,
        #"{"charge":1e300,"scans":9223372036854775807,"refusals":9223372036854775807,"drops":9223372036854775807,"attempts":9223372036854775807}"#
      ),
    ])
  func costRecords(subject: String, state: String) throws {
    let store = try damagedStore(
      "INSERT INTO nano_index_ledger VALUES ('a', 'measured', '{\"documents\":5000,\"scan\":1e9}')",
      "INSERT OR REPLACE INTO nano_index_ledger VALUES ('a', '\(subject)', '\(state)')")
    for advice in try store.indexAdvice() { #expect(!advice.reason.isEmpty) }
    _ = try store.indexUses(in: "a")
    _ = try store.applyIndexAdvice()
    try store.close()
  }

  @Test("A metadata value that does not decode throws an error that names its table")
  func metadata() throws {
    let store = try damagedStore("UPDATE nano_metadata SET value = '1 x'")
    let thrown = try #require(error { _ = try store.metadata("m") })
    #expect(thrown.code == .corruptFile && thrown[.table] == "nano_metadata")
    #expect(try store["a"].count() == 1)
    #expect(try store.verify().map(\.subject) == ["nano_metadata"])
  }

  @Test("A metadata table whose definition lacks a column is named, whether it is read or written")
  func metadataColumn() throws {
    let store = try damagedStore("ALTER TABLE nano_metadata RENAME COLUMN value TO vclue")
    for work in [
      { _ = try store.metadata("m") }, { try store.setMetadata(2, "m") },
    ] as [() throws -> Void] {
      let thrown = try #require(error { try work() })
      #expect(thrown.code == .database && thrown[.table] == "nano_metadata")
    }
    #expect(try store["a"].count() == 1)
  }

  @Test(
    "An internal table that a store gets with its first feed or attachment is not damaged before")
  func optionalTables() throws {
    let store = try Store(.memory)
    for table in ["nano_feeds", "nano_blobs", "nano_chunks"] {
      #expect(code { _ = try store.sql("SELECT count(*) FROM \(table)") } == .database)
    }
  }

  @Test("A missing internal table is named")
  func missing() throws {
    let store = try damagedStore("DROP TABLE nano_paths")
    let thrown = try #require(error { _ = try store["a"].fetch() })
    #expect(thrown.code == .corruptFile && thrown[.table] == "nano_paths")
    #expect(thrown[.path]?.hasSuffix("a.db") == true)
    #expect(try store.verify().contains { $0.message == "the table nano_paths is missing" })
  }

  static let definitions: [(statement: String, subject: String, message: String)] = [
    ("DROP TRIGGER nano_foreign_a", "a", "the trigger nano_foreign_a is missing"),
    ("DROP INDEX nano_key_a", "a", "the index nano_key_a is missing"),
    (
      "DROP TRIGGER nano_elements_a_tags_elements_insert", "a",
      "the trigger nano_elements_a_tags_elements_insert is missing"
    ),
    (
      "CREATE TRIGGER nano_mine AFTER INSERT ON a BEGIN SELECT 1; END", "file",
      "the trigger nano_mine is not part of the store's schema"
    ),
    (
      "DELETE FROM nano_collections WHERE name = 'a'", "a",
      "the table has no row in nano_collections"
    ),
    (
      "DELETE FROM nano_collections WHERE name = 'a'", "nano_indexes",
      "a row belongs to the collection a, which does not exist"
    ),
    (
      "UPDATE nano_collections SET parts = 0 WHERE name = 'a'", "a",
      "nano_collections does not record that documents have keys or classes"
    ),
    (
      "UPDATE a SET key = x'00ff'", "a", "document 1 has a key by which it cannot be found"
    ),
    ("UPDATE a SET added = 'x'", "a", "document 1 has a creation date that is not an integer"),
    (
      "UPDATE a SET body = '{\"n\":1,\"tags\":[\"x\"]} ', type = x'00'", "a",
      "document 1 has a class that is not text"
    ),
  ]

  @Test(
    "verify() finds definitions and rows that differ from the store's own",
    arguments: definitions)
  func definition(statement: String, subject: String, message: String) throws {
    let store = try damagedStore(statement)
    let problems = try store.verify()
    #expect(
      problems.contains { $0.subject == subject && $0.message == message }, "\(problems)")
  }

  @Test("verify() finds a trigger whose definition was replaced")
  func changedTrigger() throws {
    let store = try damagedStore(
      "DROP TRIGGER nano_foreign_a",
      "CREATE TRIGGER nano_foreign_a AFTER UPDATE ON a BEGIN SELECT 1; END")
    #expect(
      try store.verify().map(\.message)
        == ["the trigger nano_foreign_a differs from the store's definition"])
  }

  @Test("verify() lists a damaged page of a table, and the problems of other collections")
  func damagedPage() throws {
    let path = scratch.file("a.db")
    let (page, size) = try Store.file(path).using { store in
      try store["a"].insert((0..<500).map { ["n": .int($0)] as DocumentObject })
      try store["b"].save(["n": 1], key: "k")
      try store.execute("UPDATE b SET body = 'x'")
      return (
        try store.sql("SELECT rootpage AS n FROM sqlite_schema WHERE name = 'a'")[0]["n"]?.int ?? 0,
        try store.sql("PRAGMA page_size")[0]["page_size"]?.int ?? 0
      )
    }
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    bytes.replaceSubrange((page - 1) * size..<page * size, with: Data(count: size))
    try bytes.write(to: URL(fileURLWithPath: path))

    let problems = try Store.file(path).verify()

    #expect(problems.contains { $0.subject == "a" })
    #expect(problems.contains { $0.subject == "b" })
  }
}
