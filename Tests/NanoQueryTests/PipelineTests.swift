// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery
import Testing

@Suite("Pipelines")
struct PipelineTests {
  /// Sorts in memory, and counts what was spilled.
  private final class Spill: ExternalSorter {
    private var entries: [(key: [UInt8], content: [UInt8])] = []
    var count: Int { entries.count }

    func add(_ key: [UInt8], _ content: UnsafeRawBufferPointer) throws(StoreError) {
      entries.append((key, Array(content)))
    }

    func each(
      _ visit: (_ key: UnsafeRawBufferPointer, _ content: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
      let sorted = entries.enumerated().sorted {
        $0.element.key == $1.element.key
          ? $0.offset < $1.offset : $0.element.key.lexicographicallyPrecedes($1.element.key)
      }
      for (_, entry) in sorted {
        let goesOn = try entry.key.withUnsafeBytes { key in
          try entry.content.withUnsafeBytes { try visit(key, $0) }
        }
        if !goesOn { return }
      }
    }
  }

  private struct NoDocuments: PipelineDocuments {
    func each(_ query: Query, in collection: String, _ visit: Visitor) throws {}
    func defaults(of collection: String) throws -> FieldDefaults? { nil }
  }

  /// Cancels a pipeline at the 1,000th check.
  private final class Cancellation: PipelineDocuments {
    private var count = 0
    func each(_ query: Query, in collection: String, _ visit: Visitor) throws {}
    func defaults(of collection: String) throws -> FieldDefaults? { nil }
    func check() throws {
      count += 1
      if count == 1_000 { throw StoreError(.interrupted, "The operation was canceled") }
    }
  }

  private static func rows(
    _ text: String, _ documents: some Sequence<DocumentObject>,
    defaults: FieldDefaults? = nil, reading others: any PipelineDocuments = NoDocuments(),
    makeSpill: SpillMaker? = nil
  ) throws -> [DocumentObject] {
    var rows: [DocumentObject] = []
    let pipeline = try PipelineText(text).pipeline()
    try pipeline.validate()
    let runner = PipelineRunner(
      pipeline, defaults: defaults, documents: others, makeSpill: makeSpill
    ) { row in
      rows.append(row)
      return true
    }
    var id: Int64 = 0
    for document in documents {
      id += 1
      var writer = JSONWriter()
      writer.object(document)
      guard try runner.add(writer.bytes, { $0 == .rowID ? .int(id) : .null }) else { break }
    }
    try runner.finish()
    return rows
  }

  private static func numbers(_ count: Int64) -> [DocumentObject] {
    (0..<count).map { ["n": .int($0), "g": .int($0 % 7)] }
  }

  /// A few thousand groups with long keys exceed the memory limit.
  private static let large: [DocumentObject] = {
    let padding = String(repeating: "long ", count: 2_000)
    let documents: [DocumentObject] = (0..<2_500).map { number in
      [
        "g": .string("\(number * 7_919 % 2_500) \(padding)"), "n": .int(Int64(number)),
        "x": number % 3 == 0 ? .null : .double(Double(number) / 3),
      ]
    }
    return documents + documents.reversed()
  }()

  @Test(
    "Stages that spill have the rows of stages in memory",
    arguments: [
      "AGGREGATE count(*) AS c, push([n]) AS p, stddev_pop([x]) AS d, count([x]) FILTER (WHERE [n] > 9) AS f GROUP BY [g]",
      "ORDER BY [x] DESC",
      "AGGREGATE count(*) AS c, last([g]) AS l GROUP BY buckets([n], 10) AS b",
    ])
  func spilling(text: String) throws {
    let spill = Spill()
    let kept = try Self.rows(text, Self.large)
    let spilled = try Self.rows(text, Self.large) { () throws(StoreError) in spill }
    #expect(kept.count > 5)
    #expect(spilled == kept)
    #expect(spill.count > 0)
  }

  @Test("What a pipeline cannot spill is limited, and beyond the limit it throws")
  func memory() throws {
    let text = String(repeating: "x", count: 1 << 20)
    let documents = (0..<200).lazy.map { DocumentObject([("t", .string(text + "\($0)"))]) }
    for text in ["AGGREGATE push([t]) AS p", "ORDER BY [n]", "FACET all (WHERE TRUE)"] {
      let error = #expect(throws: StoreError.self, "\(text)") {
        try Self.rows(text, documents)
      }
      #expect(error?.code == .tooComplex)
    }
    #expect(try Self.rows("AGGREGATE max([t]) AS m", documents).count == 1)
    #expect(try Self.rows("ORDER BY [n] |> LIMIT 2", documents).count == 2)
  }

  @Test("The memory limit covers the rows of buckets, and those that a sort keeps for a limit")
  func keptRows() throws {
    let text = String(repeating: "x", count: 1 << 20)
    let documents = (0..<135).lazy.map {
      DocumentObject([("n", .int(Int64($0))), ("t", .string(text))])
    }
    func rows(_ text: String, _ spill: Spill) throws -> [DocumentObject] {
      try Self.rows(text, documents) { () throws(StoreError) in spill }
    }
    for keys in ["buckets([n], 80)", "width_buckets([n], 80)"] {
      let error = #expect(throws: StoreError.self, "\(keys)") {
        try rows("AGGREGATE push([t]) AS p GROUP BY \(keys) AS b", Spill())
      }
      #expect(error?.code == .tooComplex)
    }
    let sorted = "ORDER BY [n] DESC |> LIMIT 160 |> SELECT [n], length([t]) AS l"
    let spill = Spill()
    let kept = try rows(sorted, spill)
    #expect(kept.compactMap { $0["n"]?.int } == Array((0..<135).reversed()))
    #expect(kept.allSatisfy { $0["l"]?.int == 1 << 20 })
    #expect(spill.count == 135)
    let error = #expect(throws: StoreError.self) { try Self.rows(sorted, documents) }
    #expect(error?.code == .tooComplex)
  }

  @Test("The standard deviation does not lose digits to a large mean")
  func deviation() throws {
    let values = [4.0, 7, 13, 16].map { DocumentObject([("n", .double(1e9 + $0))]) }
    let row = try Self.rows("AGGREGATE var_samp([n]) AS v, stddev_pop([n]) AS d", values)[0]
    #expect(abs(try #require(row["v"]?.double) - 30) < 1e-6)
    #expect(abs(try #require(row["d"]?.double) - 22.5.squareRoot()) < 1e-6)
  }

  @Test("Rows after a limit are not read")
  func stopping() throws {
    var count = 0
    let documents = Self.numbers(100).lazy.map { document in
      count += 1
      return document
    }
    #expect(try Self.rows("WHERE [n] > 3 |> LIMIT 2", documents).count == 2)
    #expect(count == 6)
  }

  @Test("Equal-count buckets differ by at most one value and cover all values")
  func buckets() throws {
    for (count, buckets) in [(100, 7), (10, 3), (5, 9), (1, 1)] {
      let rows = try Self.rows(
        "AGGREGATE count(*) AS c GROUP BY buckets([n], \(buckets)) AS b",
        Self.numbers(Int64(count)))
      let sizes = rows.compactMap { $0["c"]?.int }
      #expect(sizes.reduce(0, +) == count)
      #expect(sizes.count == min(count, buckets))
      #expect((sizes.max() ?? 0) - (sizes.min() ?? 0) <= 1)
      for (row, next) in zip(rows, rows.dropFirst()) {
        #expect(row["b"]?["max"] == next["b"]?["min"])
      }
    }
  }

  @Test("Defaults apply to documents, but not to rows that a stage creates")
  func defaults() throws {
    let defaults = FieldDefaults(["a": ["x", "y"], "o": ["k": [1]]])
    func rows(_ text: String) throws -> [DocumentObject] {
      try Self.rows(
        text, [["n": 1], ["n": 2, "a": [], "o": ["l": 5]]] as [DocumentObject], defaults: defaults)
    }
    #expect(
      try rows("UNWIND [a] |> SELECT [n], [a]") == [["n": 1, "a": "x"], ["n": 1, "a": "y"]])
    #expect(
      try rows("UNWIND [o.k] |> SELECT [o]") == [
        ["o": ["k": 1]], ["o": ["l": 5, "k": 1]],
      ])
    #expect(try rows("SELECT [n] |> EXTEND [a]") == [["n": 1], ["n": 2]])
    // Nor to what a stage has left without a value.
    #expect(
      try rows("UNWIND [a] KEEP EMPTY |> SELECT [n], [a]") == [
        ["n": 1, "a": "x"], ["n": 1, "a": "y"], ["n": 2],
      ])
    #expect(try rows("EXTEND [nope] AS a |> SELECT [n], [a]") == [["n": 1], ["n": 2]])
    #expect(
      try Self.rows(
        "UNWIND [o.k] KEEP EMPTY |> SELECT [n], [o.k], [a]",
        [["n": 3, "o": ["k": []]]] as [DocumentObject], defaults: defaults)
        == [["n": 3, "a": ["x", "y"]]])
  }

  @Test("An error in an expression names the document")
  func failingRow() throws {
    let long = DocumentObject([("a", .array((0..<2_000).map { .int($0) }))])
    let error = #expect(throws: StoreError.self) {
      try Self.rows("EXTEND [a] + [a] AS b", [["a": 1], long] as [DocumentObject])
    }
    #expect(error?.code == .tooComplex)
    #expect(error?[.rowID] == "2")
  }

  @Test(
    "A stage that is not valid is an error with the code",
    arguments: [
      ("SELECT [a], [b] AS a", StoreError.Code.invalidArgument),
      ("AGGREGATE count(*) AS a GROUP BY [a]", .invalidArgument),
      ("AGGREGATE count(*) GROUP BY buckets([a], 0)", .invalidArgument),
      ("SELECT [a] * 2", .invalidQuery),
      ("SELECT year([a], 'Mars/Base') AS y", .invalidQuery),
      ("SELECT date_trunc('fortnight', [a]) AS y", .invalidQuery),
      ("SELECT date_format([a], '%Q') AS y", .invalidQuery),
      ("SELECT element_at([a]) AS y", .invalidQuery),
      ("AGGREGATE [a] AS a", .invalidQuery),
      ("AGGREGATE sum(*)", .invalidQuery),
      ("AGGREGATE count(DISTINCT *)", .invalidQuery),
      ("UNWIND [a] |> ", .invalidQuery),
      ("FROM films", .invalidQuery),
      ("LIMIT -1", .invalidQuery),
      ("WHERE [@] = 1", .invalidQuery),
      ("WHERE [n] = ?", .invalidArgument),
    ])
  func invalid(text: String, code: StoreError.Code) throws {
    let error = #expect(throws: StoreError.self, "\(text)") {
      try Self.rows(text, [DocumentObject]())
    }
    #expect(error?.code == code)
  }

  @Test("A pipeline has a limited number of stages, which fit into the stack of any thread")
  func length() async throws {
    @Sendable func text(_ count: Int) -> String {
      [String](repeating: "UNWIND [n]", count: count).joined(separator: " |> ")
    }
    let documents: [DocumentObject] = [["n": 1]]
    // Threads that are not the main one have 512 KiB on Apple platforms.
    let longest = await withCheckedContinuation { continuation in
      let thread = Thread {
        continuation.resume(returning: Result { try Self.rows(text(100), documents) })
      }
      thread.stackSize = 512 << 10
      thread.start()
    }
    #expect(try longest.get() == documents)
    for tooLong in [text(101), "FACET f (\(text(100)))", "UNION ALL o (\(text(100)))"] {
      let error = #expect(throws: StoreError.self) { try Self.rows(tooLong, documents) }
      #expect(error?.code == .tooComplex)
    }
  }

  @Test(
    "A pipeline as text parses to an equal pipeline",
    arguments: [
      "WHERE [a] > 1 |> UNWIND [a.b] AS e AT i KEEP EMPTY |> UNWIND [c]",
      "EXTEND [a] * 2 AS [\"x.y\"], year([d], 'Europe/Berlin') |> SELECT [\"__key__\"] AS k",
      "AGGREGATE count(*), set([a]) AS s, sum(DISTINCT [b]) FILTER (WHERE [c] = 1) AS t GROUP BY [a], lower([b]) AS l HAVING [s] IS NOT NULL",
      "AGGREGATE first([a]), last([b]) GROUP BY width_buckets([p], 4) AS price |> GROUP BY [first_a]",
      "ORDER BY [a] DESC, [b] |> LIMIT 3 OFFSET 1 PER [a], [b]",
      "UNION ALL 'my series' (WHERE [n] = 1 |> EXTEND 'x' AS o) |> UNION ALL others",
      "FACET one (WHERE TRUE |> LIMIT 1), [the other] (FACET inner (GROUP BY [a]))",
      "SELECT array_map(array_filter([a], [n] > 1 AND [m] = 2), [n] * 2) AS x, array_filter([b], [@] = 1) AS y",
    ])
  func roundTrip(text: String) throws {
    let pipeline = try PipelineText(text).pipeline()
    let again = try PipelineText(pipeline.queryText).pipeline()
    #expect(again == pipeline)
    #expect(!pipeline.stages.isEmpty)
  }

  @Test("Parameters are bound in every stage")
  func parameters() throws {
    let text = try PipelineText(
      "WHERE [n] > :low |> AGGREGATE count(*) FILTER (WHERE [n] IN :list) AS c GROUP BY [g] + ? AS g |> FACET f (LIMIT 9 PER [g] - ?)"
    )
    let pipeline = try text.pipeline([1, 2], named: ["low": 0, "list": [1, 2]])
    #expect(
      pipeline.queryText
        == "WHERE [n] > 0 |> AGGREGATE count(*) FILTER (WHERE [n] IN (1, 2)) AS [c] GROUP BY [g] + 1 AS [g] |> FACET [f] (LIMIT 9 PER [g] - 2)"
    )
    #expect(throws: StoreError.self) { try text.pipeline([1, 2], named: ["low": 0]) }
    #expect(throws: StoreError.self) {
      try text.pipeline([1, 2, 3], named: ["low": 0, "list": 1])
    }
  }

  @Test(
    "A pipeline is canceled between the rows that a stage multiplies or replays",
    arguments: [
      "UNWIND [a] |> UNWIND [b] |> AGGREGATE count(*) AS c",
      "ORDER BY [n] |> AGGREGATE count(*) AS c",
      "AGGREGATE count(*) AS c GROUP BY [n] |> AGGREGATE count(*) AS d",
      "AGGREGATE count(*) AS c GROUP BY width_buckets([n], 3) AS b",
    ])
  func canceling(text: String) throws {
    let list = DocumentValue.array((0..<40).map { .int($0) })
    let documents = [DocumentObject([("a", list), ("b", list)])] + Self.numbers(2_000)
    let error = #expect(throws: StoreError.self) {
      try Self.rows(text, documents, reading: Cancellation())
    }
    #expect(error?.code == .interrupted)
    #expect(try Self.rows(text, documents).isEmpty == false)
  }

  /// An expression, the first value of its field, and a number of stages that the outer arrays alone would permit.
  static let repeating: [(String, DocumentValue, Int)] = [
    ("array([a], [a])", 1, 20),
    ("array([a], [a])", .string(String(repeating: "x", count: 1_000)), 18),
    ("array_concat([a], [a])", .array([.array((0..<1_000).map { DocumentValue.int($0) })]), 12),
    ("array_slice([a], [l])", .array([1]), 7),
    ("iif([l], 0, array_reverse([a]))", .array([1]), 7),
  ]

  @Test("Arrays that repeat values in each stage cannot grow exponentially", arguments: repeating)
  func repeatedArrays(expression: String, value: DocumentValue, count: Int) throws {
    let stages = Array(repeating: "EXTEND \(expression) AS a", count: count)
    let zeros = DocumentValue.array(Array(repeating: .int(0), count: 10))
    let error = #expect(throws: StoreError.self) {
      try Self.rows(
        stages.joined(separator: " |> "), [DocumentObject([("a", value), ("l", zeros)])])
    }
    #expect(error?.code == .tooComplex)
    #expect(error?[.rowID] == "1")
  }

  @Test("Functions cannot build arrays beyond the budget")
  func arrayBudget() throws {
    let wide = DocumentObject([("a", .array((0..<1_000).map { .int($0) }))])
    var expression = "[a]"
    for _ in 0..<12 { expression = "array_concat(\(expression), \(expression))" }
    let error = #expect(throws: StoreError.self) {
      try Self.rows("SELECT \(expression) AS x", [wide] as [DocumentObject])
    }
    #expect(error?.code == .tooComplex)
  }
}

@Suite("Date arithmetic with time zones")
struct DateArithmeticTests {
  private static func evaluate(_ text: String, _ date: Date) throws -> DocumentValue {
    let expression = try QueryExpression(text: text)
    return try Evaluator(DocumentSubject(["d": .date(date)])).values(expression)[0]
  }

  /// Compares with Foundation's calendar, which computes the same in another way.
  @Test(
    "Starts of days, months and years, and components, are those of Foundation's calendar",
    arguments: [
      "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC",
    ])
  func calendar(zone: String) throws {
    var calendar = Calendar(identifier: .iso8601)
    calendar.timeZone = try #require(TimeZone(identifier: zone))
    var random = SystemRandomNumberGenerator()
    for _ in 0..<300 {
      let seconds = Int.random(in: 0..<2_000_000_000, using: &random)
      let date = Date(timeIntervalSince1970: Double(seconds))
      for (unit, component) in [
        ("day", Calendar.Component.day), ("month", .month), ("year", .year),
        ("week", .weekOfYear),
      ] {
        let start = try #require(calendar.dateInterval(of: component, for: date)?.start)
        #expect(
          try Self.evaluate("date_trunc('\(unit)', [d], '\(zone)')", date) == .date(start),
          "\(unit) \(seconds) \(zone)")
      }
      let parts = calendar.dateComponents(
        [.year, .month, .day, .hour, .minute, .weekOfYear, .yearForWeekOfYear], from: date)
      for (function, part) in [
        ("year", parts.year), ("month", parts.month), ("day", parts.day), ("hour", parts.hour),
        ("minute", parts.minute), ("week", parts.weekOfYear), ("iso_year", parts.yearForWeekOfYear),
      ] {
        #expect(
          try Self.evaluate("\(function)([d], '\(zone)')", date).int == part,
          "\(function) \(seconds) \(zone)")
      }
    }
  }

  @Test("A number of units later is that many starts of the unit away")
  func differences() throws {
    for unit in ["day", "week", "quarter", "year"] {
      for _ in 0..<200 {
        let date = Date(timeIntervalSince1970: Double(Int.random(in: 0..<2_000_000_000)))
        let count = Int.random(in: -1_000...1_000)
        let later = "date_add('\(unit)', \(count), [d], 'Europe/Berlin')"
        #expect(
          try Self.evaluate("date_diff('\(unit)', [d], \(later), 'Europe/Berlin')", date).int
            == count)
      }
    }
  }

  @Test("A skipped time is later by the skipped time, and a repeated one is the first")
  func transitions() throws {
    func text(_ expression: String, _ text: String) throws -> DocumentValue {
      try Self.evaluate(
        "date_format(\(expression), '%F %T %z', 'Europe/Berlin')",
        try Date(text, strategy: .iso8601))
    }
    #expect(
      try text("date_add('day', 1, [d], 'Europe/Berlin')", "2026-03-28T01:30:00Z")
        == "2026-03-29 03:30:00 +0200")
    #expect(
      try text("date_add('day', 1, [d], 'Europe/Berlin')", "2026-10-24T00:30:00Z")
        == "2026-10-25 02:30:00 +0200")
    // The second occurrence keeps its offset when it is truncated to the hour.
    #expect(
      try text("date_trunc('hour', [d], 'Europe/Berlin')", "2026-10-25T01:30:00Z")
        == "2026-10-25 02:00:00 +0100")
  }

  @Test("The last microsecond of 9999, which a double would round up, is a date")
  func last() throws {
    let date = Date(timeIntervalSinceReferenceDate: Double(252_423_993_600).nextDown)
    #expect(try Self.evaluate("to_date('9999-12-31T23:59:59.999999Z')", date) == .date(date))
  }

  @Test("Results outside the years that can be stored are null")
  func range() throws {
    let date = Date(timeIntervalSince1970: 0)
    for text in [
      "date_add('year', 9000, [d])", "date_add('year', -2000, [d])",
      "date_add('second', 9223372036854775807, [d])",
      "date_add('month', -9223372036854775807, [d])",
      "to_date(1e300)", "to_date('10000-01-01')",
    ] {
      #expect(try Self.evaluate(text, date) == .null, "\(text)")
    }
  }
}
