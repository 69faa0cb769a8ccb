// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery
import Testing

@Suite("Query text: round trips")
struct QueryTextRoundTripTests {
  @Test("A quote before a combining mark is doubled in the text of a search")
  func searchQuotes() {
    let text = Condition.search(.phrase("o'\u{301}clock")).queryText
    #expect(text.utf8.elementsEqual("SEARCH('o''\u{301}clock')".utf8), "\(text)")
  }

  @Test("A condition written as text parses to the same condition")
  func trees() throws {
    let seed = UInt64.random(in: .min ... .max)
    var trees = RandomTrees(random: SplitMix(state: seed))
    for _ in 0..<4000 {
      let condition = trees.condition(Int.random(in: 0...5, using: &trees.random))
      let text = condition.queryText
      let parsed = try QueryText(text)
      try #require(parsed.condition == condition, "seed \(seed): \(text)")
      try #require(parsed.condition.queryText == text, "seed \(seed)")
      let whole = try QueryText(
        "\(text) ORDER BY \(Ordering(.truth(condition)).queryText) DESC LIMIT 3")
      try #require(try QueryText(whole.description) == whole, "seed \(seed): \(whole)")
    }
  }

  @Test(
    "The written form has no unnecessary parentheses",
    arguments: [
      "[age] > 30 AND [name] = 'O''Hara'", "[a] = 1 OR [b] = 2 AND NOT [c] = 3",
      "[a] IS NOT NULL", "[a] NOT IN (1, 2)", "[a] NOT BETWEEN 1 AND 2", "[a] NOT LIKE 'x'",
      "[a] - [b] - [c]", "[a] - ([b] - [c])", "([a] + [b]) * [c]", "-[a] * 2", "-(-[a])", "-(1)",
      "([a] = 1) = 2", "NOT ([a] OR [b])", "NOT contains([a], 'x')", "[a] IS NOT [b]",
      "ELEMENT([a.b], [x] > 1 AND [@] IS NULL)", "EXISTS([a])", #"["a.b".c]"#, #"["__key__"]"#,
      "[a] = DATE '2026-11-20T21:17:00.5Z'", "[a] = x'CAFE'", "[a] = URL 'https://a.b/'",
      "[a] = -9223372036854775808", "[a] = 9e999", "[a] = json_object('x', json_array(1, NULL))",
      "CASE WHEN [a] THEN 1 ELSE 'x' END", "CAST([a] AS REAL) > ?1 AND [b] = :name",
      "ORDER BY [a] DESC, length([b]) LIMIT ?1 OFFSET 2",
      "[a] IN (SELECT [__key__] FROM people WHERE [b] = 'UK' AND [c] > 1)",
      "[a] NOT IN (SELECT [b] FROM [my films])", "NOT ([a] IN (SELECT [b] FROM c) OR [d])",
      "(SELECT COUNT(*) FROM reviews WHERE [f] = PARENT[__key__] AND [s] > 4) >= 3",
      "(SELECT COUNT(*) FROM [from] WHERE [f] = PARENT(lower([a]))) = ?1",
      "[a] IN (SELECT [b] FROM c WHERE [d] IN (SELECT [e] FROM f))",
    ])
  func form(text: String) throws {
    #expect(try QueryText(text).description == text)
  }

  @Test("NaN has a literal, although it equals nothing")
  func nan() throws {
    let condition = Condition.truth(.value(.double(.nan)))
    #expect(condition.queryText == "REAL 'nan'")
    #expect(try QueryText("REAL 'nan'").condition.queryText == "REAL 'nan'")
  }

  @Test("A date written as text parses to the same date, bit for bit")
  func dates() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(state: seed)
    for _ in 0..<3000 {
      let scale = pow(10, Double.random(in: -6...10, using: &random))
      let sign: Double = Bool.random(using: &random) ? 1 : -1
      let date = Date(timeIntervalSinceReferenceDate: max(1, scale) * sign + scale)
      let text = DocumentValueText.text(.date(date))
      try #require(try expression(text) == .value(.date(date)), "seed \(seed): \(text)")
    }
    #expect(
      DocumentValueText.text(.date(Date(timeIntervalSinceReferenceDate: 1e-7)))
        == "DATE '2001-01-01T00:00:00.0000001Z'")
    for extreme in [Double.nan, .infinity, -.infinity, 1e300, -1e12] {
      let text = DocumentValueText.text(.date(Date(timeIntervalSinceReferenceDate: extreme)))
      #expect(throws: StoreError.self) { try QueryText(text) }
    }
  }

  @Test("Trees that only Swift can build are written as text with the same meaning")
  func foreignTrees() throws {
    #expect(Condition.all([]).queryText == "TRUE")
    #expect(Condition.any([]).queryText == "FALSE")
    #expect(Condition.all([.truth(a)]).queryText == "[a]")
    #expect(Condition.not(.any([])).queryText == "NOT FALSE")
    #expect(QueryExpression.truth(.constant(true)).queryText == "(TRUE)")
    for inner in [Condition.truth(a), .all([.truth(a)]), .any([.all([.truth(a)])])] {
      let tree = Condition.comparison(.truth(inner), .equal, .value(true))
      let parsed = try QueryText(tree.queryText).condition
      for object: DocumentObject in [["a": 5], ["a": true], ["a": 0], [:]] {
        let evaluator = Evaluator(DocumentSubject(object))
        #expect(try evaluator.holds(parsed) == evaluator.holds(tree), "\(tree.queryText)")
      }
    }
    let nested = Condition.not(.all([.any([.truth(a)]), .all([])]))
    #expect(try QueryText(nested.queryText).condition == .not(.all([.truth(a), .constant(true)])))
  }

  @Test("No input crashes the parser, and every accepted query can be written")
  func garbage() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(state: seed)
    var accepted = 0
    for _ in 0..<20_000 {
      let text = Self.garbage(&random)
      _ = QueryText.replacingAliases(["a": "b"], in: text)
      guard let query = try? QueryText(text) else { continue }
      accepted += 1
      if text.lowercased().contains("nan") { continue }
      try #require(try QueryText(query.description) == query, "seed \(seed): \(text)")
      _ = try? query.query([1, 2], named: ["n": 1])
    }
    #expect(accepted > 500)
  }

  private static let pieces = [
    "[a]", "[a.b]", "(", ")", ",", "'x'", "'", "\"", "[", "]", "AND", "OR", "NOT", "=", "<", "+",
    "-",
    "--", "/*", "*/", "~", "||", "1", "-1", "9223372036854775808", "1.5e3", "0x1F", "x'AB'", "NULL",
    "TRUE", "IS", "IN", "BETWEEN", "LIKE", "ISNULL", "CASE", "WHEN", "THEN", "ELSE", "END", "CAST(",
    "AS TEXT", "length(", "EXISTS(", "ELEMENT(", "[@]", "[__key__]", "?", "?2", ":n",
    "DATE '2026-01-01'",
    "ORDER BY", "DESC", "LIMIT", "OFFSET", "\u{0}", "é", "🙂", "\n", ";", "SELECT", "NULLS",
    "json_array(",
  ]

  /// Returns random bytes, random words, or valid text with some bytes changed.
  private static func garbage(_ random: inout SplitMix) -> String {
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      let bytes = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      return String(decoding: bytes, as: UTF8.self)
    case 1:
      return (0..<Int.random(in: 0..<15, using: &random)).map { _ in
        pieces.randomElement(using: &random)!
      }.joined(separator: " ")
    default:
      var trees = RandomTrees(random: random)
      var bytes = Array(trees.condition(3).queryText.utf8)
      random = trees.random
      for _ in 0..<Int.random(in: 0...2, using: &random) {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        bytes[index] = UInt8.random(in: 0...127, using: &random)
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
}

enum DocumentValueText {
  static func text(_ value: DocumentValue) -> String { QueryExpression.value(value).queryText }
}

struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
