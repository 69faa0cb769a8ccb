// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQLite
import NanoTesting
import Testing

@Suite("Index candidates of queries")
struct IndexCandidateTests {
  /// `city`, `name`: strings; `age`, `zip.code`: numbers; `tags`, `friends.name`: arrays; `mixed`: both.
  private static let types: [String: PathSummary] = [
    "city": PathSummary(types: [.string], entersArray: false),
    "name": PathSummary(types: [.string, .null], entersArray: false),
    "age": PathSummary(types: [.int], entersArray: false),
    "zip.code": PathSummary(types: [.int, .double], entersArray: false),
    "tags": PathSummary(types: [.array, .string], entersArray: true),
    "friends.name": PathSummary(types: [.string], entersArray: true),
    "mixed": PathSummary(types: [.string, .url, .int], entersArray: false),
  ]

  private func candidates(_ text: String, limit: Int? = 10) throws -> IndexCandidates {
    var query = try QueryText(text).query([])
    query.limit = limit
    return IndexCandidates(query) { Self.types[$0.description] }
  }

  @Test(
    "Equality columns come first, followed by one range",
    arguments: [
      ("[city] = 'x'", "city"), ("[city] = 'x' AND [age] > 3", "city,age"),
      ("[age] > 3 AND [city] = 'x' AND [name] = 'y'", "city,name,age"),
      ("[age] BETWEEN 1 AND 2", "age"), ("[age] IN (1, 2)", "age"), ("[name] IS NULL", "name"),
      ("[zip.code] = 1 AND [zip.code] < 5", "zip.code"), ("[mixed] = 5", "mixed"),
      ("[tags] = 'x'", "tags*"), ("[tags] = 'x' AND [age] = 3", "age"),
      ("[tags] = 'x' AND [age] > 3", "tags*"), ("[friends.name] > 'x'", "friends.name*"),
      ("[city] = 'x' OR [age] = 3", "city|age"),
      ("([city] = 'x' AND [age] > 1) OR [tags] = 'y'", "city,age|tags*"),
      ("[city] = 'x' AND ([age] = 3 OR [name] = 'y')", "city"),
    ])
  func condition(text: String, expected: String) throws {
    let found = try candidates(text)
    let names = found.condition.map { candidate in
      candidate.definition().columns.map(\.path.description).joined(separator: ",")
        + (candidate.kind == .elements ? "*" : "")
    }
    #expect(names.joined(separator: "|") == expected)
    #expect(found.order == nil)
  }

  @Test(
    "A condition that no index can evaluate has no candidates",
    arguments: [
      "CONTAINS([city], 'x')", "NOT [city] = 'x'", "[city] != 'x'", "[city] REGEXP 'x'",
      "[age] + 1 = 3", "[mixed] = 'x'", "[mixed] > 'a'", "[unknown] = 1",
      "[city] = 'x' OR [city] REGEXP 'y'", "[tags.0] = 'x'", "[tags] IS NULL",
      "[age] = [zip.code]",
    ])
  func nothing(text: String) throws {
    guard let found = try? candidates(text) else { return }
    #expect(found.isEmpty, "\(found)")
  }

  @Test(
    "An ordering follows the columns compared for equality, or starts with the range",
    arguments: [
      ("ORDER BY [age]", "age"), ("ORDER BY [age] DESC, [city]", "age-,city"),
      ("[city] = 'x' ORDER BY [age] DESC", "city,age-"),
      ("[age] > 3 ORDER BY [age], [city]", "age,city"), ("[age] > 3 ORDER BY [city]", nil),
      ("[city] IN ('x', 'y') ORDER BY [age]", nil), ("ORDER BY [mixed]", nil),
      ("ORDER BY [tags]", nil), ("[city] = 'x' ORDER BY [city]", nil),
      ("[tags] = 'x' ORDER BY [age]", nil),
    ] as [(String, String?)])
  func order(text: String, expected: String?) throws {
    let order = try candidates(text.hasPrefix("ORDER") ? "1 = 1 \(text)" : text).order
    let columns = order?.definition().columns.map { "\($0.path)\($0.descending ? "-" : "")" }
    #expect(columns?.joined(separator: ",") == expected)
  }

  @Test("An index serves only candidates that match its leading columns")
  func serving() throws {
    let index = IndexDefinition(
      columns: [.init("b"), .init("a"), .init("c", descending: true)])
    let serves: (IndexCandidate) -> Bool = { $0.isServed(by: index) }
    #expect(serves(IndexCandidate(equalities: ["b"])))
    #expect(serves(IndexCandidate(equalities: ["a", "b"])))
    #expect(serves(IndexCandidate(equalities: ["b"], tail: .range("a"))))
    #expect(serves(IndexCandidate(equalities: ["a", "b"], tail: .range("c"))))
    #expect(
      serves(IndexCandidate(equalities: ["a", "b"], tail: .order([.init("c", descending: true)]))))
    #expect(!serves(IndexCandidate(equalities: ["a", "b"], tail: .order([.init("c")]))))
    #expect(!serves(IndexCandidate(equalities: ["a"])))
    #expect(!serves(IndexCandidate(equalities: ["b", "c"])))
    #expect(!serves(IndexCandidate(kind: .elements, equalities: ["b"])))
  }

  @Test("A candidate parses from its own text")
  func text() throws {
    for candidate in [
      IndexCandidate(equalities: ["a.b", #""x.y".z"#], tail: .range("c")),
      IndexCandidate(kind: .elements, equalities: ["tags"]),
      IndexCandidate(equalities: [], tail: .order([.init("a"), .init("b", descending: true)])),
    ] {
      #expect(IndexCandidate(text: candidate.text) == candidate)
    }
    #expect(IndexCandidate(text: "{}") == nil && IndexCandidate(text: "x") == nil)
  }
}

extension IndexCandidateTests {
  /// Generates documents and queries with random conditions that an index may serve.
  private struct QueryGenerator {
    var random: SplitMix
    mutating func pick<T>(_ all: [T]) -> T { all[Int(random.next() % UInt64(all.count))] }
    mutating func number() -> DocumentValue { .int(Int64(random.next() % 12)) }
    mutating func word() -> DocumentValue { .string("w\(random.next() % 12)") }

    mutating func document() -> DocumentObject {
      var tags: [DocumentValue] = []
      for _ in 0..<(random.next() % 3) { tags.append(word()) }
      return [
        "city": word(), "name": random.next() % 5 == 0 ? .null : word(), "age": number(),
        "zip": ["code": pick([number(), 2.5])], "tags": .array(tags),
        "friends": [["name": word()]], "born": .date(Date(timeIntervalSince1970: 86_400)),
        "mixed": pick([number(), word()]),
      ]
    }

    mutating func leaf() -> Condition {
      let texts = ["city", "name", "tags", "friends.name", "mixed"]
      let numbers = ["age", "zip.code", "mixed"]
      switch random.next() % 8 {
      case 0, 1: return Field(pick(texts)) == word()
      case 2: return Field(pick(numbers)) == number()
      case 3: return Field(pick(numbers)) > number()
      case 4: return .between(.field(FieldPath(pick(numbers))), .value(2), .value(4))
      case 5:
        return .membership(.field(FieldPath(pick(texts))), [.value(word()), .value(word())])
      case 6: return .text(.field(FieldPath(pick(texts))), .beginsWith, .value("w1"))
      default: return .isNull(.field(FieldPath(pick(["name", "age"]))))
      }
    }

    mutating func query() -> Query {
      var parts = (0...(random.next() % 3)).map { _ in leaf() }
      if random.next() % 4 == 0 { parts = [.any([leaf(), leaf()])] }
      if random.next() % 4 == 0 { parts.append(.text(.field("city"), .contains, .value("1"))) }
      var query = Query(parts.count == 1 ? parts[0] : .all(parts))
      if random.next() % 2 == 0 {
        query.orderings = [
          Ordering(FieldPath(pick(["age", "city", "born"])), descending: random.next() % 2 == 0)
        ]
        query.limit = 5
      }
      return query
    }
  }

  @Test(
    "An index created for a query is used and does not change the result",
    arguments: 0..<4 as Range<UInt64>)
  func used(part: UInt64) throws {
    let seed = UInt64.random(in: .min ... .max)
    var generator = QueryGenerator(random: SplitMix(seed: seed &+ part))
    let engine = try SQLiteEngine(.memory, SQLiteConfiguration())
    try engine.write(nil) { writer in
      for _ in 0..<300 {
        var json = JSONWriter()
        json.value(.object(generator.document()))
        try json.bytes.withUnsafeBytes {
          _ = try writer.insert(NewDocument(key: nil, added: 0, body: $0), into: "c")
        }
      }
    }
    let facts = try engine.read(.call, nil) { try Self.facts($0.observedPaths(in: "c")) }
    var made = 0
    for _ in 0..<150 {
      let query = generator.query()
      let candidates = IndexCandidates(query, observed: facts)
      let wanted = [candidates.condition, candidates.order.map { [$0] } ?? []]
      for (kind, group) in wanted.enumerated() where !group.isEmpty {
        let indexes = group.map { $0.definition() }
        try engine.write(nil) { writer in
          let request = EngineRequest.find(query)
          let before = try request.execute(writer, "c")
          for index in indexes { try writer.createIndex(index, in: "c") }
          let plan = try writer.explain(query, in: "c")
          #expect(
            Set(plan.indexes) == Set(indexes.map(\.name)),
            "seed \(seed) part \(part): \(query) \(plan)")
          if kind == 1 {
            #expect(!plan.plan.contains { $0.hasSuffix("TEMP B-TREE FOR ORDER BY") }, "\(plan)")
          }
          #expect(try request.execute(writer, "c") == before)
          for index in indexes { _ = try writer.dropIndex(index.name, in: "c") }
          made += 1
        }
      }
    }
    #expect(made > 50)
  }

  /// Returns the summary of the observed paths for each field.
  private static func facts(_ paths: [ObservedPath]) -> (FieldPath) -> PathSummary? {
    { path in
      let found = paths.filter { $0.path.replacing("[]", with: "") == path.description }
      return PathSummary(
        types: found.reduce(into: []) { $0.formUnion($1.types) },
        entersArray: found.contains { $0.path.contains("[]") || $0.types.contains(.array) })
    }
  }
}
