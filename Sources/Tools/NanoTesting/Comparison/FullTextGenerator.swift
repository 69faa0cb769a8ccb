// SPDX-License-Identifier: MIT

package import NanoDocument
package import NanoEngine
package import NanoQuery

/// Generates documents with text, writes, and full-text searches.
package struct FullTextGenerator {
  package enum Step {
    case insert(DocumentObject)
    case save(DocumentObject, String)
    case delete(Int64)
    case deleteMatching(Condition)

    package func run(_ writer: any EngineWriter) throws {
      switch self {
      case .insert(let object):
        _ = try GeneratedDocument(object, key: nil).new { try writer.insert($0, into: "c") }
      case .save(let object, let key):
        let key = try DocumentKey(key)
        _ = try GeneratedDocument(object, key: key).new { try writer.save($0, into: "c") }
      case .delete(let id): _ = try writer.delete(.rowID(id), from: "c")
      case .deleteMatching(let condition): _ = try writer.delete(Query(condition), from: "c")
      }
    }
  }

  package var random: SplitMix

  package init(_ seed: UInt64) { random = SplitMix(seed: seed) }

  package static let indexes = [
    FullTextIndexDefinition(name: "w", fields: ["a", "b.c"]),
    FullTextIndexDefinition(name: "s", fields: ["b.c", "a"], tokens: .substrings),
  ]

  package func makeIndexes(_ engines: [any Engine]) throws {
    for engine in engines {
      try engine.write(nil) { writer in
        for index in Self.indexes { try writer.createFullTextIndex(index, in: "c") }
      }
    }
  }

  private static let words = [
    "gin", "Gin", "ginger", "tonic", "TONIC", "crème", "creme", "e\u{301}te", "été", "ΣΟΦΟΣ",
    "σοφός",
    "don't", "x-ray", "日本", "日本語", "🍸", "C++", "2", "20", "a", "ß", "STRASSE", "İstanbul", "\"",
    "*", "gin\0rum", "x\u{E000}y", #"\u0000"#,
  ]

  package mutating func text() -> String {
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

  package mutating func document() -> DocumentObject {
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

  package mutating func step() -> Step {
    switch random.number(0...7) {
    case 0...2: .insert(document())
    case 3...5: .save(document(), "k\(random.number(0...5))")
    case 6: .delete(Int64(random.number(1...12)))
    default: .deleteMatching(.search(.all([phrase(), phrase()]), in: random.pick(["w", "s"])))
    }
  }

  private mutating func phrase() -> FullTextQuery {
    let count = random.oneIn(3) ? 2 : 1
    let text = (0..<count).map { _ in random.pick(Self.words) }.joined(separator: " ")
    return random.oneIn(3) ? .prefix(String(text.dropLast())) : .phrase(text)
  }

  private mutating func search(_ depth: Int) -> FullTextQuery {
    switch random.number(0...8) {
    case 0 where depth > 0: .all([search(depth - 1), search(depth - 1)])
    case 1 where depth > 0: .any([search(depth - 1), search(depth - 1)])
    case 2 where depth > 0: .excluding(search(depth - 1), search(depth - 1))
    case 3 where depth > 0: .field(random.pick(["a", "b.c"]), search(depth - 1))
    case 4:
      .near(
        (0..<random.number(2...3)).map { _ in random.pick(Self.words) },
        distance: random.number(0...3))
    case 5: .part(random.pick(Self.words + ["in", "on"]), random.pick(TextPosition.allCases))
    default: phrase()
    }
  }

  private mutating func condition(_ search: FullTextSearch) -> Condition {
    let one: Condition = .comparison(.field("n"), .less, .value(.int(Int64(random.number(0...4)))))
    return switch random.number(0...6) {
    case 0: .all([.search(search), one])
    case 1: .any([.search(search), one])
    case 2: .not(.search(search))
    case 3: .all([one, .not(.any([.search(search), one]))])
    default: .search(search)
    }
  }

  package mutating func query() -> Query {
    let isRanked = random.oneIn(3)
    // SQLite does not specify how NEAR and excluded phrases contribute to the rank.
    let search = FullTextSearch(
      isRanked ? random.oneIn(2) ? phrase() : .any([phrase(), phrase()]) : search(3),
      index: random.pick(["w", "s"]))
    var query = Query(isRanked ? .search(search) : condition(search))
    if isRanked {
      query.ranking = FullTextRanking(weights: random.oneIn(2) ? [:] : ["a": 4, "b.c": 0.5])
      if random.oneIn(4) { query.orderings = [Ordering("n", descending: true)] }
    } else {
      if random.oneIn(3) { query.orderings = [Ordering("n", descending: true)] }
    }
    if random.oneIn(3) { query.limit = random.number(0...3) }
    if random.oneIn(4) { query.offset = random.number(0...2) }
    return query
  }
}
