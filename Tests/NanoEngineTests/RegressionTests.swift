// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQLite
import NanoTesting
import Testing

/// Differences found by the random comparison.
@Suite("Regressions found by random comparison")
struct RegressionTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let script: Script

    init(
      _ name: String, indexes: [IndexDefinition] = [], _ documents: [DocumentObject],
      _ queries: Query...
    ) {
      testDescription = name
      script = Script(
        [
          .write(
            indexes.map { .createIndex($0) } + documents.map { .insert(GeneratedDocument($0)) })
        ] + queries.map { .query(.find($0)) })
    }
  }

  private static func index(_ path: FieldPath, _ kind: IndexDefinition.Kind = .fields)
    -> IndexDefinition
  {
    IndexDefinition(columns: [.init(path)], kind: kind)
  }

  private static func compared(
    _ path: FieldPath, _ comparison: Comparison, _ value: DocumentValue
  ) -> Query {
    Query(.comparison(.field(path), comparison, .value(value)))
  }

  private static func date(_ interval: Double) -> DocumentValue {
    .date(Date(timeIntervalSinceReferenceDate: interval))
  }

  static let cases = [
    Case(
      "Texts that differ behind a NUL", indexes: [index("a")],
      [["a": "x\u{0}b"], ["a": "x\u{0}"], ["a": "x"]], Query(orderings: [Ordering("a")]),
      compared("a", .equal, "x"), compared("a", .greater, "x"), compared("a", .equal, "x\u{0}")),
    Case(
      "Dates between two nanoseconds as bounds", indexes: [index("a")],
      [["a": date(1e-9)], ["a": date(2e-9)]], compared("a", .less, date(1.3e-9)),
      compared("a", .greater, date(1.3e-9)),
      Query(
        orderings: [Ordering("a")], after: PagePosition(values: [date(1.3e-9)], rowID: 0))),
    Case(
      "Dates of negative zero", indexes: [index("a")], [["a": date(-0.0)], ["a": date(0)]],
      compared("a", .equal, date(0)), compared("a", .equal, date(-0.0)),
      Query(.membership(.field("a"), [.value(date(0))]))),
    Case(
      "A page position of a type that the field never had", [["a": 1], ["a": 2]],
      Query(
        orderings: [Ordering("a", descending: true)],
        after: PagePosition(values: [["x": 1]], rowID: 5)),
      Query(orderings: [Ordering("a")], after: PagePosition(values: [true], rowID: 5)),
      Query(orderings: [Ordering("a")], after: PagePosition(values: [.double(.nan)], rowID: 5))),
    Case(
      "Objects among the elements of an index", indexes: [index("a", .elements)],
      [["a": [["x": 1]]], ["a": [1]], ["b": 1]], compared("a", .equal, 1)),
    Case(
      "Paths through arrays and objects", indexes: [index("a.b", .elements)],
      [["a": [["x": ["b": 1]], ["b": [1, 2]]]], ["a": ["b": 2]], [:]], compared("a.b", .equal, 1),
      compared("a.b", .equal, 2)),
    Case(
      "Differently composed names", indexes: [index("é")], [["é": 1], ["e\u{301}": 2]],
      Query(
        .all([
          .comparison(.field("é"), .equal, .value(1)), .isNull(.field("e\u{301}")),
        ])), Query(.membership(.field("e\u{301}"), [.field("é"), .field("e\u{301}")]))),
    Case(
      "Names that begin with a combining mark",
      indexes: [IndexDefinition(columns: [.init(FieldPath(components: ["a", "\u{301}b"]))])],
      [["a": ["\u{301}b": 1]], ["a": ["\u{301}b": [1, 2]]]],
      Query(
        .comparison(.field(FieldPath(components: ["a", "\u{301}b"])), .equal, .value(1)))),
  ]

  @Test("The engine returns the same result as the reference semantics", arguments: cases)
  func matchesReference(found: Case) throws {
    #expect(try found.script.play(on: SQLiteEngine(.memory, SQLiteConfiguration())) == nil)
    var configuration = SQLiteConfiguration()
    configuration.encoding = .utf16
    #expect(try found.script.play(on: SQLiteEngine(.memory, configuration)) == nil)
    let folder = try TemporaryFolder()
    let file = try SQLiteEngine(.file(folder.file()), SQLiteConfiguration())
    #expect(try found.script.play(on: file) == nil)
  }

  @Test("An array is found even if there are more names than the engine tracks")
  func manyNames() throws {
    let folder = try TemporaryFolder()
    let engine = try SQLiteEngine(.file(folder.file()), SQLiteConfiguration())
    let last = GeneratedDocument(["last": [1, 2]])
    try engine.write(nil) { writer in
      try writer.createIndex(Self.index("last"), in: "c")
      for number in 0..<1_100 {
        let document = GeneratedDocument(DocumentObject([("n\(number)", .int(1))]))
        _ = try document.new { try writer.insert($0, into: "c") }
      }
      _ = try last.new { try writer.insert($0, into: "c") }
    }
    let count = try engine.read(.call, nil) {
      try $0.count(Self.compared("last", .equal, 1), in: "c")
    }
    #expect(count == 1)
  }

  @Test("An array is found although its path is missing from a path catalog that is full")
  func fullPathCatalog() throws {
    let folder = try TemporaryFolder()
    let engine = try SQLiteEngine(.file(folder.file()), SQLiteConfiguration())
    let year = DocumentObject(
      (0..<1_000).map { ("k\($0)", DocumentValue.object(["items": []])) })
    try engine.write(nil) { writer in
      try writer.createIndex(Self.index("tags"), in: "c")
      for number in 0..<7 {
        let document = GeneratedDocument(DocumentObject([("y\(number)", .object(year))]))
        _ = try document.new { try writer.insert($0, into: "c") }
      }
      _ = try GeneratedDocument(["tags": ["a"]]).new { try writer.insert($0, into: "c") }
    }
    try engine.close()
    // The elements of empty arrays counted toward the limit, and are not in the file.
    let reopened = try SQLiteEngine(.file(folder.file()), SQLiteConfiguration())
    let count = try reopened.read(.call, nil) {
      try $0.count(Self.compared("tags", .equal, "a"), in: "c")
    }
    #expect(count == 1)
  }

  @Test(
    "A call ends as interrupted if SQLite reports the interruption as another error",
    arguments: [StoreError.Code.database, .corruptFile, .locked])
  func concealedInterruption(_ code: StoreError.Code) throws {
    let engine = try SQLiteEngine(.memory, SQLiteConfiguration())
    defer { try? engine.close() }
    for isTriggered in [true, false] {
      let interruption = Interruption()
      let error = #expect(throws: StoreError.self) {
        try engine.write(interruption) { _ in
          if isTriggered { interruption.trigger() }
          throw StoreError(code, "reported by SQLite")
        }
      }
      #expect(error?.code == (isTriggered ? .interrupted : code))
    }
  }

  @Test("An interruption between two statements stops the next one", .timeLimit(.minutes(10)))
  func interruptionBetweenStatements() throws {
    let engine = try SQLiteEngine(.memory, SQLiteConfiguration())
    defer { try? engine.close() }
    let interruption = Interruption()

    let error = #expect(throws: StoreError.self) {
      try engine.read(.call, interruption) { reader in
        interruption.trigger()
        let reader = try #require(reader as? any SQLReader)
        _ = try reader.sql(
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
          SQLArguments([])
        ) { _ in true }
      }
    }

    #expect(error?.code == .interrupted)
    #expect(try engine.read(.call, nil) { try $0.count(Query(), in: "a") } == 0)
  }
}
