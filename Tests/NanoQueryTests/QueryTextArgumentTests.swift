// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery
import Testing

@Suite("Query text: arguments and aliases")
struct QueryTextArgumentTests {
  @Test("Positional parameters are numbered as in SQLite")
  func positions() throws {
    let query = try QueryText("[a] = ? AND [b] = ?3 AND [c] = ? AND [a] = ?1")
    #expect(query.positionCount == 4)
    #expect(
      try query.query([1, 2, 3, 4]).condition
        == .all([equal(a, int(1)), equal(b, int(3)), equal(c, int(4)), equal(a, int(1))]))
  }

  @Test("Named parameters have three prefixes and do not count as positions")
  func names() throws {
    let query = try QueryText("[a] = :x AND [b] = @x AND [c] = ?")
    #expect(query.names == ["x"])
    #expect(
      try query.query([1], named: ["x": "y"]).condition
        == .all([equal(a, text("y")), equal(b, text("y")), equal(c, int(1))]))
  }

  @Test("An argument can be used in every position")
  func everywhere() throws {
    let query = try QueryText(
      """
      ELEMENT([l], [x] = ?) AND CASE ? WHEN ? THEN -? ELSE CAST(? AS TEXT) END AND NOT abs(?) < ?
      AND ? LIKE ? AND ? BETWEEN ? AND ? AND ? IS NULL AND ? IS ? AND [a] IN (?, ?) OR ?
      ORDER BY [a] + ? LIMIT ? OFFSET ?
      """)
    #expect(query.positionCount == 21)
    let arguments = (0..<20).map { DocumentValue.int($0) }
    let filled = try query.query(arguments + [20])
    try filled.validate()
    #expect(filled.limit == 19)
    #expect(filled.offset == 20)
    #expect(filled.orderings == [Ordering(.arithmetic(a, .add, int(18)))])
  }

  @Test("An array argument fills a whole list, and nothing else")
  func arrays() throws {
    #expect(
      try QueryText("[a] IN ?").query([[1, "x"]]).condition
        == .membership(a, [int(1), text("x")]))
    #expect(
      try QueryText("[a] NOT IN (:l)").query(named: ["l": []]).condition
        == .not(.membership(a, [])))
    #expect(try QueryText("[a] IN ?").query([1]).condition == .membership(a, [int(1)]))
    for text in ["[a] = ?", "[a] IN (?, 1)", "length(?)", "LIMIT ?"] {
      let error = try #require(throws: StoreError.self) { try QueryText(text).query([[1]]) }
      #expect(error.code == .invalidArgument)
      #expect(error[.expected]?.contains("?1") == true)
    }
    #expect(throws: StoreError.self) { try QueryText("[a] IN ?").query([[[1]]]) }
    #expect(throws: StoreError.self) { try QueryText("[a] IN ?").query([["x": 1]]) }
  }

  @Test(
    "Arguments and parameters must match",
    arguments: [
      ("[a] = ?", [], [:], "?1"), ("[a] = ?2", [1], [:], "?2"), ("[a] = ?", [1, 2], [:], "1"),
      ("[a] = 1", [1], [:], "0"), ("[a] = :x", [], [:], ":x"), ("[a] = :x", [], ["y": 1], "x"),
      ("[a] = ?", [1], ["y": 1], ""), ("LIMIT ?", ["1"], [:], "an integer for ?1"),
      ("LIMIT :n", [], ["n": .null], "an integer for :n"), ("LIMIT 1 OFFSET ?", [], [:], "?1"),
    ] as [(String, [DocumentValue], [String: DocumentValue], String)])
  func mismatches(
    text: String, positional: [DocumentValue], named: [String: DocumentValue], expected: String
  ) throws {
    let error = try #require(throws: StoreError.self) {
      try QueryText(text).query(positional, named: named)
    }
    #expect(error.code == .invalidArgument)
    #expect(error[.expected] == expected)
  }

  @Test("Null is a valid argument")
  func null() throws {
    #expect(try QueryText("[a] IS ?").query([.null]).condition == .same(a, .value(.null)))
  }

  @Test(
    "Aliases replace whole words outside brackets, quotes and comments",
    arguments: [
      (
        "test replace one not ones 123.45 not [one] not 'a one in here'",
        "test replace [one] not ones 123.45 not [one] not 'a one in here'"
      ),
      ("test multiple one two three", "test multiple [one] [two] [three]"),
      ("'quote edge cases'", "'quote edge cases'"), ("one 42", "[one] 42"), ("42 one", "42 [one]"),
      ("a", "[b]"), ("A", "A"), ("a.b", "[b].[c]"), ("a1", "a1"), ("_a", "_a"),
      ("x_1=a", "[q]=[b]"), ("'it''s a' a", "'it''s a' [b]"), ("5a", "5[b]"), ("[a", "[a"),
      ("", ""), ("'a", "'a"), ("a'", "[b]'"), (#"["a]a" a"#, #"["a]a" a"#),
      (#"[x."a]a"] a"#, #"[x."a]a"] [b]"#), ("a = :a AND b = @b", "[b] = :a AND [c] = @b"),
      ("ä ä_ äa", "[ae] ä_ äa"), ("a\u{0}a", "[b]\u{0}[b]"),
      ("one /* it's */ = 'a'", "[one] /* it's */ = 'a'"),
      ("-- don't\none = 'a'", "-- don't\n[one] = 'a'"), ("/* [ */ one", "/* [ */ [one]"),
      ("a /*/ a */ a", "[b] /*/ a */ [b]"), ("a -- a", "[b] -- a"), ("a /* a", "[b] /* a"),
      ("a - a / a", "[b] - [b] / [b]"),
    ])
  func aliases(text: String, expected: String) {
    let aliases = [
      "one": "[one]", "two": "[two]", "three": "[three]", "a": "[b]", "b": "[c]", "x_1": "[q]",
      "ä": "[ae]",
    ]
    #expect(QueryText.replacingAliases(aliases, in: text) == expected)
  }
}
