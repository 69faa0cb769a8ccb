// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQLite
import NanoTesting
import Testing

@Suite("Searches by text on SQLite find what the definition finds")
struct TextComparisonTests {
  @Test("After any writes, in a transaction and after it, with the same ranks", arguments: 1...30)
  func writes(seed: UInt64) throws {
    var made = TextGenerator(seed)
    let engines: [any Engine] = [
      ReferenceEngine(), try SQLiteEngine(.memory, SQLiteConfiguration()),
    ]
    try made.makeIndexes(engines)

    for round in 0..<8 {
      let steps = (0..<made.random.number(1...12)).map { _ in made.step() }
      let queries = (0..<20).map { _ in made.query() }
      var answers: [[TextAnswers]] = []
      for engine in engines {
        var found: [TextAnswers] = []
        try? engine.write(nil) { writer in
          for (number, step) in steps.enumerated() {
            try step.run(writer)
            if number == steps.count / 2 { found.append(try TextAnswers(queries, writer)) }
          }
          found.append(try TextAnswers(queries, writer))
          if round % 3 == 2 { throw StoreError(.invalidArgument, "undone") }
        }
        found.append(try engine.read(.snapshot, nil) { try TextAnswers(queries, $0) })
        answers.append(found)
      }
      for (expected, actual) in zip(answers[0], answers[1]) {
        if let difference = expected.difference(from: actual, queries) {
          Issue.record("seed \(seed), round \(round): \(difference)")
          return
        }
      }
    }

    #expect(try engines[1].verify() == [], "seed \(seed)")
  }

  @Test("After writes of another program, whatever it does", arguments: 1...20)
  func foreignWrites(seed: UInt64) throws {
    var made = TextGenerator(seed)
    let folder = try TemporaryFolder()
    let engine = try SQLiteEngine(.file(folder.file()), SQLiteConfiguration())
    try made.makeIndexes([engine])
    let foreign = try PlainSQLite(folder.file())
    try foreign.run("PRAGMA recursive_triggers = \(made.random.oneIn(2) ? "ON" : "OFF")")

    for round in 0..<10 {
      let step = made.step()
      try engine.write(nil) { try step.run($0) }
      for _ in 0..<made.random.number(1...4) { try write(foreign, &made) }
      let queries = (0..<10).map { _ in made.query() }
      let actual = try engine.read(.snapshot, nil) { try TextAnswers(queries, $0) }
      let reference = ReferenceEngine()
      try made.makeIndexes([reference])
      let ids = try copy(foreign, to: reference)
      let expected = try reference.read(.snapshot, nil) { try TextAnswers(queries, $0) }
        .with(rowIDs: ids)
      if let difference = expected.difference(from: actual, queries) {
        Issue.record("seed \(seed), round \(round): \(difference)")
        return
      }
    }

    #expect(try engine.verify() == [], "seed \(seed)")
    #expect(try foreign.integrity() == "ok", "seed \(seed)")
  }

  private func write(_ foreign: PlainSQLite, _ made: inout TextGenerator) throws {
    let body = made.document().jsonString()
    let id = "\(made.random.number(1...12))"
    switch made.random.number(0...6) {
    case 0, 1: try foreign.run("INSERT INTO c(body) VALUES (?)", body)
    case 2: try foreign.run("UPDATE c SET body = ? WHERE id = ?", body, id)
    case 3: try foreign.run("INSERT OR REPLACE INTO c(id, body) VALUES (?, ?)", id, body)
    case 4: try foreign.run("INSERT OR IGNORE INTO c(id, body) VALUES (?, ?)", id, body)
    case 5:
      let policy = made.random.pick(["IGNORE", "REPLACE"])
      try foreign.run("UPDATE OR \(policy) c SET id = id + 3 WHERE id = ?", id)
    default: try foreign.run("DELETE FROM c WHERE id = ?", id)
    }
  }

  /// - Returns: The row ids in the file of the copies.
  private func copy(_ foreign: PlainSQLite, to engine: ReferenceEngine) throws -> [Int64] {
    let rows = try foreign.run("SELECT id, body FROM c ORDER BY id")
    try engine.write(nil) { writer in
      for row in rows {
        let object = try DocumentObject(json: row[1] ?? "")
        _ = try GeneratedDocument(object, key: nil).new { try writer.insert($0, into: "c") }
      }
    }
    return rows.compactMap { $0[0].flatMap { Int64($0) } }
  }
}

/// What an engine answers to some searches.
private struct TextAnswers {
  struct Answer: Equatable {
    var rows: [Int64]
    var ranks: [Double]
  }
  var answers: [Answer]

  init(_ queries: [Query], _ reader: any EngineReader) throws {
    answers = try queries.map { query in
      var answer = Answer(rows: [], ranks: [])
      try reader.findRanked(query, in: "c") {
        answer.rows.append($0.rowID)
        answer.ranks.append($1)
        return true
      }
      return answer
    }
  }

  func with(rowIDs: [Int64]) -> TextAnswers {
    var copy = self
    for index in answers.indices {
      copy.answers[index].rows = answers[index].rows.map { rowIDs[Int($0) - 1] }
    }
    return copy
  }

  /// Ranks are computed in another order of additions, so that they agree to a few digits less.
  func difference(from other: TextAnswers, _ queries: [Query]) -> String? {
    for (index, query) in queries.enumerated() {
      let (expected, actual) = (answers[index], other.answers[index])
      let isSame =
        expected.rows == actual.rows
        && (!query.isRanked
          || zip(expected.ranks, actual.ranks).allSatisfy { abs($0 - $1) < 1e-9 })
      // Where ranks are the same but for their last digits, the order may be another one.
      if isSame || (query.isRanked && query.limit == nil && isClose(expected, actual)) { continue }
      return "\(query.condition.queryText) \(query): expected \(expected), got \(actual)"
    }
    return nil
  }

  private func isClose(_ a: Answer, _ b: Answer) -> Bool {
    let (a, b) = (
      Dictionary(uniqueKeysWithValues: zip(a.rows, a.ranks)),
      Dictionary(uniqueKeysWithValues: zip(b.rows, b.ranks))
    )
    return a.count == b.count
      && a.allSatisfy { row, rank in b[row].map { abs($0 - rank) < 1e-9 } ?? false }
  }
}

/// Documents with texts, writes of them, and searches in them.
private struct TextGenerator {
  enum Step {
    case insert(DocumentObject)
    case save(DocumentObject, String)
    case remove(Int64)
    case removeFound(Condition)

    func run(_ writer: any EngineWriter) throws {
      switch self {
      case .insert(let object):
        _ = try GeneratedDocument(object, key: nil).new { try writer.insert($0, into: "c") }
      case .save(let object, let key):
        let key = try DocumentKey(key)
        _ = try GeneratedDocument(object, key: key).new { try writer.save($0, into: "c") }
      case .remove(let id): _ = try writer.remove(.rowID(id), from: "c")
      case .removeFound(let condition): _ = try writer.remove(Query(condition), from: "c")
      }
    }
  }

  var random: SplitMix

  init(_ seed: UInt64) { random = SplitMix(seed: seed) }

  static let indexes = [
    TextIndexDefinition(name: "w", fields: ["a", "b.c"]),
    TextIndexDefinition(name: "s", fields: ["b.c", "a"], tokens: .substrings),
  ]

  func makeIndexes(_ engines: [any Engine]) throws {
    for engine in engines {
      try engine.write(nil) { writer in
        for index in Self.indexes { try writer.createTextIndex(index, in: "c") }
      }
    }
  }

  private static let words = [
    "gin", "Gin", "ginger", "tonic", "TONIC", "crème", "creme", "e\u{301}te", "été", "ΣΟΦΟΣ",
    "σοφός",
    "don't", "x-ray", "日本", "日本語", "🍸", "C++", "2", "20", "a", "ß", "STRASSE", "İstanbul", "\"",
    "*", "gin\0rum", "x\u{E000}y", #"\u0000"#,
  ]

  mutating func text() -> String {
    (0..<random.number(0...6)).map { _ in random.pick(Self.words) }
      .joined(separator: random.pick([" ", "  ", "\n", ", ", "-"]))
  }

  private mutating func value(_ depth: Int = 2) -> DocumentValue {
    switch random.number(0...9) {
    case 0: return .null
    case 1: return .int(2)
    case 2 where depth > 0:
      return .array((0..<random.number(0...3)).map { _ in value(depth - 1) })
    case 3 where depth > 0: return .object(["c": value(depth - 1), "d": .string(text())])
    default: return .string(text())
    }
  }

  mutating func document() -> DocumentObject {
    var object: DocumentObject = ["n": .int(Int64(random.number(0...3)))]
    if !random.oneIn(5) { object["a"] = value() }
    switch random.number(0...3) {
    case 0: object["b"] = value()
    case 1: object["b"] = .array((0..<random.number(0...2)).map { _ in .object(["c": value(1)]) })
    case 2: object["b"] = .object(["c": value()])
    default: break
    }
    return object
  }

  mutating func step() -> Step {
    switch random.number(0...7) {
    case 0...2: .insert(document())
    case 3...5: .save(document(), "k\(random.number(0...5))")
    case 6: .remove(Int64(random.number(1...12)))
    default: .removeFound(.search(.all([phrase(), phrase()]), in: random.pick(["w", "s"])))
    }
  }

  private mutating func phrase() -> TextQuery {
    let count = random.oneIn(3) ? 2 : 1
    let text = (0..<count).map { _ in random.pick(Self.words) }.joined(separator: " ")
    return random.oneIn(3) ? .prefix(String(text.dropLast())) : .phrase(text)
  }

  private mutating func search(_ depth: Int) -> TextQuery {
    switch random.number(0...8) {
    case 0 where depth > 0: .all([search(depth - 1), search(depth - 1)])
    case 1 where depth > 0: .any([search(depth - 1), search(depth - 1)])
    case 2 where depth > 0: .excluding(search(depth - 1), search(depth - 1))
    case 3 where depth > 0: .field(random.pick(["a", "b.c"]), search(depth - 1))
    case 4:
      .near(
        (0..<random.number(2...3)).map { _ in random.pick(Self.words) },
        distance: random.number(0...3))
    case 5: .part(random.pick(Self.words + ["in", "on"]), random.pick(TextPlace.allCases))
    default: phrase()
    }
  }

  private mutating func condition(_ search: TextSearch) -> Condition {
    let one: Condition = .comparison(.field("n"), .less, .value(.int(Int64(random.number(0...4)))))
    return switch random.number(0...6) {
    case 0: .all([.search(search), one])
    case 1: .any([.search(search), one])
    case 2: .not(.search(search))
    case 3: .all([one, .not(.any([.search(search), one]))])
    default: .search(search)
    }
  }

  mutating func query() -> Query {
    let isRanked = random.oneIn(3)
    // How often near and excluded phrases count is SQLite's own affair.
    let search = TextSearch(
      isRanked ? random.oneIn(2) ? phrase() : .any([phrase(), phrase()]) : search(3),
      index: random.pick(["w", "s"]))
    var query = Query(isRanked ? .search(search) : condition(search))
    if isRanked {
      query.ranking = TextRanking(weights: random.oneIn(2) ? [:] : ["a": 4, "b.c": 0.5])
    } else {
      if random.oneIn(3) { query.orderings = [Ordering("n", descending: true)] }
      if random.oneIn(3) { query.limit = random.number(0...3) }
      if random.oneIn(4) { query.offset = random.number(0...2) }
    }
    return query
  }
}
