// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQLite
import NanoTesting
import Testing

@Suite("Indexing everything on SQLite")
struct EverythingTests {
  private let folder: TemporaryFolder
  private let engine: SQLiteEngine

  init() throws {
    folder = try TemporaryFolder()
    engine = try SQLiteEngine(.file(folder.file()), SQLiteConfiguration())
    try engine.write(nil) { writer in
      try writer.setIndexing(.everything, in: "c", nil)
      try Self.insert(["name": "Ada", "tags": ["x", "y"], "born": 1815], writer)
      try Self.insert(["name": "Bob", "home": ["city": "x", "zip": nil], "born": 1.5], writer)
    }
  }

  private static func insert(_ object: DocumentObject, _ writer: any EngineWriter) throws {
    _ = try GeneratedDocument(object).new { try writer.insert($0, into: "c") }
  }

  private func ids(_ condition: Condition, _ engine: (any Engine)? = nil) throws -> [Int64] {
    try (engine ?? self.engine).read(.snapshot, nil) { try Self.ids(condition, $0) }
  }
  private static func ids(_ condition: Condition, _ reader: any EngineReader) throws -> [Int64] {
    var ids: [Int64] = []
    try reader.find(Query(condition), in: "c") {
      ids.append($0.rowID)
      return true
    }
    return ids
  }
  private func indexes(_ condition: Condition) throws -> [String] {
    try engine.read(.call, nil) { try $0.explain(Query(condition), in: "c").indexes }
  }

  private static func anywhere(_ value: DocumentValue) -> Condition {
    .leaf(Field(.element) == value)
  }

  @Test(
    "A value in any field and a comparison of any one field use the index",
    arguments: [
      (anywhere("x"), [1, 2]), (.leaf(Field(.element) > 1000), [1]),
      (.leaf(.isNull(.field(.element))), [2]),
      (.leaf(Field(.element).hasPrefix("A")), [1]), (Field("tags") == "y", [1]),
      (Field("tags.1") == "y", [1]), (Field("home.city").isIn(["x", "z"]), [2]),
      (Field("born").isBetween(1, and: 2), [2]), (Field("name") >= "B", [2]),
      (anywhere("x") && Field("name") == "Bob", [2]),
      (anywhere("x") || Field("name") == "Bob", [1, 2]),
      (
        .leaf(
          .all([
            .text(.attribute(.leafPath), .endsWith, .value(".city")), Field(.element) == "x",
          ])), [2]
      ),
    ] as [(Condition, [Int64])])
  func lookUp(condition: Condition, expected: [Int64]) throws {
    #expect(try ids(condition) == expected)
    #expect(try indexes(condition) == ["everything"])
  }

  @Test(
    "A long condition on values in any field finds the documents, with the index if SQLite permits it"
  )
  func longConditions() throws {
    let any = Condition.leaf(.any((1_000..<1_600).map { Field(.element) > $0 }))
    #expect(try ids(any) == [1])
    #expect(try indexes(any) == [])
    let all = Condition.leaf(.all((0..<1_600).map { Field(.element) > $0 }))
    #expect(try ids(all) == [1])
    #expect(try indexes(all) == ["everything"])
  }

  @Test("A condition that the index cannot evaluate does not use it")
  func noLookUp() throws {
    for condition in [
      Field("name") != "Ada", !(Field("name") == "Ada"), Field("name").isNull,
      Field("name").contains("d"), .leaf(.constant(true)), Field("missing").exists,
    ] {
      #expect(try indexes(condition) == [])
    }
  }

  @Test("A declared index takes precedence")
  func declared() throws {
    try engine.write(nil) {
      try $0.createIndex(IndexDefinition(columns: [.init("name")]), in: "c")
    }
    #expect(try indexes(Field("name") == "Ada") == ["name"])
    #expect(try indexes(Field("name") == "Ada" && Field("born") > 3) == ["name"])
  }

  @Test("A transaction finds its own writes, and a savepoint undoes them")
  func transaction() throws {
    struct Undo: Error {}
    try engine.write(nil) { writer in
      try Self.insert(["new": "z"], writer)
      #expect(try Self.ids(Self.anywhere("z"), writer) == [3])
      try? writer.savepoint {
        _ = try writer.delete(.rowID(3), from: "c")
        _ = try writer.delete(Query(Self.anywhere("x")), from: "c")
        try Self.insert(["other": "z"], writer)
        #expect(try Self.ids(Self.anywhere("z"), writer) == [4])
        #expect(try Self.ids(Self.anywhere("x"), writer) == [])
        throw Undo()
      }
      #expect(try Self.ids(Self.anywhere("z"), writer) == [3])
      #expect(try Self.ids(Self.anywhere("x"), writer) == [1, 2])
    }
    try? engine.write(nil) { writer in
      _ = try writer.delete(Query(), from: "c")
      throw Undo()
    }
    #expect(try ids(Self.anywhere("x")) == [1, 2])
    #expect(try engine.verify() == [])
  }

  @Test("Index entries are updated and deleted with their documents")
  func entries() throws {
    func count() throws -> Int {
      let plain = try PlainSQLite(folder.file())
      return Int(try plain.run("SELECT count(*) FROM nano_leaves_c")[0][0] ?? "") ?? -1
    }
    #expect(try count() == 8)
    try engine.write(nil) { writer in
      _ = try GeneratedDocument(["name": "Ada", "tags": ["y", "y"]]).new {
        try writer.replace(.rowID(1), with: $0, in: "c")
      }
    }
    #expect(try count() == 6)
    #expect(try ids(Self.anywhere("y")) == [1])
    try engine.write(nil) { _ = try $0.delete(.rowID(2), from: "c") }
    #expect(try count() == 2)
    try engine.write(nil) { _ = try $0.delete(Query(), from: "c") }
    #expect(try count() == 0)
  }

  @Test("Writes by another program are found, adopted and never cause a wrong result")
  func foreign() throws {
    let plain = try PlainSQLite(folder.file())
    try plain.run("INSERT INTO c(body) VALUES (?)", #"{"tags":["z"]}"#)
    try plain.run("UPDATE c SET body = ? WHERE id = 1", #"{"name":"z"}"#)
    #expect(try ids(Self.anywhere("z")) == [1, 3])
    #expect(try ids(Field("tags") == "z") == [3])
    #expect(try ids(Self.anywhere("x")) == [2])
    try plain.run("UPDATE c SET id = 20 WHERE id = 2")
    #expect(try ids(Self.anywhere("x")) == [20])
    try plain.run("DELETE FROM c WHERE id = 1")
    // The next write adopts them.
    try engine.write(nil) { try Self.insert([:], $0) }
    #expect(try ids(Self.anywhere("z")) == [3])
    #expect(try ids(Self.anywhere("x")) == [20])
    #expect(try ids(Field("tags") == "z") == [3])
    #expect(try plain.run("SELECT count(*) FROM c WHERE revision IS NULL") == [["0"]])
    #expect(try engine.verify() == [])

    try engine.write(nil) { try $0.rebuildIndexes(in: "c", nil) }
    #expect(try plain.run("SELECT count(DISTINCT id) FROM nano_leaves_c") == [["2"]])
    #expect(try plain.integrity() == "ok")
  }

  @Test("verify finds missing entries, and a rebuild restores them")
  func damage() throws {
    let plain = try PlainSQLite(folder.file())
    try plain.run("DELETE FROM nano_leaves_c WHERE value = 'x'")
    #expect(
      try engine.verify().map(\.message) == ["the wildcard index lacks 2 entries"])
    try engine.write(nil) { try $0.rebuildIndexes(in: "c", nil) }
    #expect(try engine.verify() == [])
    #expect(try ids(Self.anywhere("x")) == [1, 2])
    try plain.run("DROP TABLE nano_leaves_c")
    #expect(try engine.verify().map(\.message) == ["the wildcard index is missing"])
    try engine.write(nil) { try $0.rebuildIndexes(in: "c", nil) }
    #expect(try engine.verify() == [])
  }

  @Test("Two engines on one file agree on what is indexed")
  func twoEngines() throws {
    let other = try SQLiteEngine(.file(folder.file()), SQLiteConfiguration())
    #expect(try ids(Self.anywhere("x"), other) == [1, 2])
    try other.write(nil) { try Self.insert(["other": ["x"]], $0) }
    #expect(try ids(Self.anywhere("x")) == [1, 2, 3])
    try engine.write(nil) { try $0.setIndexing(.declared, in: "c", nil) }
    try other.write(nil) { try Self.insert(["third": "x"], $0) }
    #expect(try ids(Self.anywhere("x"), other) == [1, 2, 3, 4])
    try other.write(nil) { try $0.setIndexing(.everything, in: "c", nil) }
    try engine.write(nil) { try Self.insert(["fourth": "x"], $0) }
    #expect(try ids(Self.anywhere("x"), other) == [1, 2, 3, 4, 5])
    #expect(try indexes(Self.anywhere("x")) == ["everything"])
    #expect(try other.verify() == [])
  }

  @Test("A dropped collection leaves no tables, and a new one of the same name is not indexed")
  func drop() throws {
    let plain = try PlainSQLite(folder.file())
    try engine.write(nil) { writer in
      _ = try GeneratedDocument(["only here": 1]).new { try writer.insert($0, into: "d") }
      _ = try writer.dropCollection("c")
    }
    #expect(
      try plain.run("SELECT name FROM sqlite_schema WHERE name LIKE '%leaves%'").isEmpty)
    // Entries that the same transaction added for another collection must be kept.
    #expect(try engine.verify() == [])
    try engine.write(nil) { try Self.insert(["name": "x"], $0) }
    #expect(try engine.read(.call, nil) { try $0.indexing(in: "c") } == .declared)
    #expect(try ids(Self.anywhere("x")) == [1])
  }

  @Test("Documents with too many names, long strings and deep arrays are found")
  func unusual() throws {
    let long = String(repeating: "é", count: 60)
    try engine.write(nil) { writer in
      var wide = DocumentObject()
      for number in 0..<2_500 { wide["n\(number)"] = .int(Int64(number)) }
      try Self.insert(wide, writer)
      try Self.insert(["map": .object(wide), "late": ["name": "x"]], writer)
      try Self.insert(["text": .string(long), "list": [[["deep"]]]], writer)
      try Self.insert(["text": .string(long + "!")], writer)
    }
    #expect(try ids(Field("n2400") == 2_400) == [3])
    #expect(try ids(Field("map.n2400") == 2_400) == [4])
    #expect(try ids(Self.anywhere(2_400)) == [3, 4])
    #expect(try ids(Field("late.name") == "x") == [4])
    #expect(try ids(Field("text") == DocumentValue.string(long)) == [5])
    #expect(try ids(Field("text").hasPrefix(long)) == [5, 6])
    #expect(try ids(Field("text") > DocumentValue.string(long)) == [6])
    #expect(try ids(Self.anywhere("deep")) == [5])
    #expect(try engine.verify() == [])

    // Another connection may index names that were over the limit. Old entries are removed nevertheless.
    let other = try SQLiteEngine(.file(folder.file()), SQLiteConfiguration())
    try other.write(nil) { writer in
      _ = try GeneratedDocument(["n2400": 2_400, "n1": 1]).new {
        try writer.replace(.rowID(3), with: $0, in: "c")
      }
    }
    #expect(try ids(Field("n2400") == 2_400) == [3])
    #expect(try ids(Field("n2399") == 2_399) == [])
    #expect(try other.verify() == [])
  }

  @Test("A load larger than one batch is indexed completely and passes verification")
  func large() throws {
    try engine.write(nil) { writer in
      for number in 0..<60_000 {
        try Self.insert(
          ["a": .int(Int64(number % 100)), "b": "text \(number)", "c": "x", "d": .double(0.1)],
          writer)
      }
    }
    #expect(try ids(Self.anywhere(42)).count == 600)
    #expect(try ids(Self.anywhere("text 59999")) == [60_002])
    #expect(try engine.write(nil) { try $0.delete(Query(Field("a") == 42), from: "c") } == 600)
    #expect(try ids(Self.anywhere(42)) == [])
    #expect(try engine.verify() == [])
  }
}
