// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery
import Testing

let a = QueryExpression.field("a")
let b = QueryExpression.field("b")
let c = QueryExpression.field("c")

func int(_ number: Int64) -> QueryExpression { .value(.int(number)) }
func text(_ text: String) -> QueryExpression { .value(.string(text)) }
func equal(_ left: QueryExpression, _ right: QueryExpression) -> Condition {
  .comparison(left, .equal, right)
}

/// Parses the text as an expression.
func expression(_ text: String) throws -> QueryExpression {
  switch try QueryText(text).condition {
  case .truth(let expression): expression
  case let condition: .truth(condition)
  }
}

@Suite("Query text: syntax")
struct QueryTextTests {
  static let precedenceTable: [(String, String)] = [
    ("[a] = 1 OR [b] = 2 AND [c] = 3", "[a] = 1 OR ([b] = 2 AND [c] = 3)"),
    ("NOT [a] = 1 AND [b] = 2", "(NOT ([a] = 1)) AND [b] = 2"),
    ("NOT [a] OR [b]", "(NOT [a]) OR [b]"),
    ("[a] = NOT [b] = 1", "[a] = (NOT ([b] = 1))"),
    ("[a] = NOT [b] AND [c]", "([a] = (NOT [b])) AND [c]"),
    ("[a] = [b] < [c]", "[a] = ([b] < [c])"),
    ("[a] = 1 = 2", "([a] = 1) = 2"),
    ("[a] < 1 < 2", "([a] < 1) < 2"),
    ("[a] < 1 = [b] > 2", "([a] < 1) = ([b] > 2)"),
    ("[a] IS NULL = 1", "([a] IS NULL) = 1"),
    ("[a] = 1 IS NULL", "([a] = 1) IS NULL"),
    ("[a] = [b] LIKE 'x'", "([a] = [b]) LIKE 'x'"),
    ("[a] & 1 = 1", "([a] & 1) = 1"),
    ("[a] & 1 < 1", "([a] & 1) < 1"),
    ("[a] | 1 & 2 << 3", "(([a] | 1) & 2) << 3"),
    ("1 + 2 & 3", "(1 + 2) & 3"),
    ("1 << 2 + 3", "1 << (2 + 3)"),
    ("1 + 2 * 3 - 4 / 5 % 6", "(1 + (2 * 3)) - ((4 / 5) % 6)"),
    ("10 - 4 - 3", "(10 - 4) - 3"),
    ("2 * [a] || 'x'", "2 * ([a] || 'x')"),
    ("-[a] || 'x'", "(-[a]) || 'x'"),
    ("-[a] * 2", "(-[a]) * 2"),
    ("~[a] + 1", "(~[a]) + 1"),
    ("[a] BETWEEN 1 AND 2 AND [b] = 1", "([a] BETWEEN 1 AND 2) AND [b] = 1"),
    ("[a] BETWEEN 1 AND 2 = 1", "([a] BETWEEN 1 AND 2) = 1"),
    ("[a] BETWEEN 1 = 1 AND 2", "[a] BETWEEN (1 = 1) AND 2"),
    ("[a] NOT BETWEEN 1 + 1 AND 2 * 2", "[a] NOT BETWEEN (1 + 1) AND (2 * 2)"),
    ("[a] = 1 AND [b] IN (1, 2) OR [c]", "(([a] = 1) AND ([b] IN (1, 2))) OR [c]"),
    ("[a] IS NOT [b] + 1", "[a] IS NOT ([b] + 1)"),
    ("2 * NOT 0 + 1", "2 * (NOT (0 + 1))"),
    ("[a] LIKE 'x' || '%'", "[a] LIKE ('x' || '%')"),
    ("NOT EXISTS([a]) = 1", "NOT (EXISTS([a]) = 1)"),
  ]

  @Test(
    "Operator precedence is the same as in SQLite",
    arguments: precedenceTable)
  func precedence(plain: String, explicit: String) throws {
    #expect(try QueryText(plain).condition == QueryText(explicit).condition)
  }

  static let conditionsTable: [(String, Condition)] = [
    ("[a] = 1", .comparison(a, .equal, int(1))),
    ("[a] == 1", .comparison(a, .equal, int(1))),
    ("[a] != 1", .comparison(a, .notEqual, int(1))),
    ("[a] <> 1", .comparison(a, .notEqual, int(1))),
    ("[a] < 1", .comparison(a, .less, int(1))),
    ("[a] <= 1", .comparison(a, .lessOrEqual, int(1))),
    ("[a] > 1", .comparison(a, .greater, int(1))),
    ("[a] >= 1", .comparison(a, .greaterOrEqual, int(1))),
    ("[a] = NULL", .comparison(a, .equal, .value(.null))),
    ("[a] IS NULL", .isNull(a)),
    ("[a] ISNULL", .isNull(a)),
    ("[a] IS NOT NULL", .not(.isNull(a))),
    ("[a] NOTNULL", .not(.isNull(a))),
    ("[a] NOT NULL", .not(.isNull(a))),
    ("[a] IS [b]", .same(a, b)),
    ("[a] IS NOT [b]", .not(.same(a, b))),
    ("[a] IS DISTINCT FROM [b]", .not(.same(a, b))),
    ("[a] IS NOT DISTINCT FROM [b]", .same(a, b)),
    ("[a] IS NOT DISTINCT FROM NULL", .isNull(a)),
    ("[a] IS TRUE", .same(a, .value(.bool(true)))),
    ("[a] IS NOT FALSE", .not(.same(a, .value(.bool(false))))),
    ("[a] IN (1, 'x')", .membership(a, [int(1), text("x")])),
    ("[a] NOT IN (1)", .not(.membership(a, [int(1)]))),
    ("[a] IN ()", .membership(a, [])),
    ("[a] IN ?", .membership(a, [.parameter(.position(1))])),
    ("[a] IN (?)", .membership(a, [.parameter(.position(1))])),
    ("[a] BETWEEN 1 AND 2", .between(a, int(1), int(2))),
    ("[a] NOT BETWEEN 1 AND 2", .not(.between(a, int(1), int(2)))),
    ("[a] LIKE 'x%'", .text(a, .like, text("x%"))),
    ("[a] NOT LIKE 'x%'", .not(.text(a, .like, text("x%")))),
    ("[a] GLOB 'x*'", .text(a, .glob, text("x*"))),
    ("[a] NOT REGEXP '^x'", .not(.text(a, .regexp, text("^x")))),
    ("like('x%', [a])", .text(a, .like, text("x%"))),
    ("glob('x*', [a])", .text(a, .glob, text("x*"))),
    ("begins_with([a], 'x')", .text(a, .beginsWith, text("x"))),
    ("contains([a], 'x')", .text(a, .contains, text("x"))),
    ("ends_with([a], 'x')", .text(a, .endsWith, text("x"))),
    ("iequals([a], 'x')", .text(a, .insensitiveEqualTo, text("x"))),
    ("IBEGINS_WITH([a], 'x')", .text(a, .insensitiveBeginsWith, text("x"))),
    ("icontains([a], 'x')", .text(a, .insensitiveContains, text("x"))),
    ("iends_with([a], 'x')", .text(a, .insensitiveEndsWith, text("x"))),
    ("EXISTS([a.b])", .exists("a.b")),
    ("exists ( [a] )", .exists("a")),
    (
      "ELEMENT([a], [x] > 1 AND [@] = 2)",
      .element(
        "a", .all([.comparison(.field("x"), .greater, int(1)), equal(.field(.element), int(2))]))
    ),
    ("ELEMENT([a], ELEMENT([@.b], [@]))", .element("a", .element("b", .truth(.field(.element))))),
    ("TRUE", .constant(true)),
    ("NOT FALSE", .not(.constant(false))),
    ("[a]", .truth(a)),
    ("([a] AND [b]) AND [c]", .all([.truth(a), .truth(b), .truth(c)])),
    ("[a] OR ([b] OR [c])", .any([.truth(a), .truth(b), .truth(c)])),
    ("[a] = ([b] = 1)", equal(a, .truth(equal(b, int(1))))),
    ("", .constant(true)),
    (" -- nothing\n /* at all */ ", .constant(true)),
    ("WHERE [a]", .truth(a)),
    ("[__rowid__] = 1", equal(.attribute(.rowID), int(1))),
    ("[__key__] = 'k'", equal(.attribute(.key), text("k"))),
    ("[__type__] IS NULL", .isNull(.attribute(.type))),
    ("[__version__] = 2", equal(.attribute(.version), int(2))),
    ("[__added__] > 1", .comparison(.attribute(.added), .greater, int(1))),
    (#"["__key__"] = 1"#, equal(.field("__key__"), int(1))),
    (#"["@"]"#, .truth(.field("@"))),
  ]

  @Test(
    "Every operator and form parses to its tree",
    arguments: conditionsTable)
  func conditions(text: String, expected: Condition) throws {
    #expect(try QueryText(text).condition == expected)
  }

  static let expressionsTable: [(String, QueryExpression)] = [
    ("[a] + [b]", .arithmetic(a, .add, b)), ("[a]-[b]", .arithmetic(a, .subtract, b)),
    ("[a] * [b]", .arithmetic(a, .multiply, b)), ("[a] / [b]", .arithmetic(a, .divide, b)),
    ("[a] % [b]", .arithmetic(a, .remainder, b)), ("[a] || [b]", .arithmetic(a, .concatenate, b)),
    ("[a] & [b]", .arithmetic(a, .bitAnd, b)), ("[a] | [b]", .arithmetic(a, .bitOr, b)),
    ("[a] << [b]", .arithmetic(a, .shiftLeft, b)),
    ("[a] >> [b]", .arithmetic(a, .shiftRight, b)),
    ("-[a]", .negated(a)), ("+[a]", a), ("- -[a]", .negated(.negated(a))),
    ("-(1)", .negated(int(1))),
    ("- -1", .negated(int(-1))), ("~[a]", .arithmetic(int(-1), .subtract, a)),
    ("length([a])", .function(.length, [a])),
    ("SUBSTRING([a], 1)", .function(.substr, [a, int(1)])),
    ("pi()", .function(.pi, [])), ("json_array_length([a])", .function(.arrayLength, [a])),
    ("replace([a], 'x', 'y')", .function(.replace, [a, text("x"), text("y")])),
    ("CAST([a] AS INTEGER)", .cast(a, .integer)),
    ("CAST([a] AS unsigned big int)", .cast(a, .integer)),
    ("CAST([a] AS DOUBLE)", .cast(a, .real)), ("CAST([a] AS DECIMAL(10, 2))", .cast(a, .decimal)),
    ("CAST([a] AS VARCHAR(20))", .cast(a, .text)), ("CAST([a] AS BOOLEAN)", .cast(a, .boolean)),
    (
      "CASE WHEN [a] THEN 1 END",
      .choice([.init(when: .truth(a), then: int(1))], otherwise: .value(.null))
    ),
    (
      "CASE [a] WHEN 1 THEN 'x' WHEN 2 THEN 'y' ELSE 'z' END",
      .choice(
        [
          .init(when: equal(a, int(1)), then: text("x")),
          .init(when: equal(a, int(2)), then: text("y")),
        ], otherwise: text("z"))
    ),
    ("coalesce([a] = 1, [b])", .function(.coalesce, [.truth(equal(a, int(1))), b])),
    ("?", .parameter(.position(1))), ("?7", .parameter(.position(7))),
    (":name", .parameter(.name("name"))), ("@name", .parameter(.name("name"))),
    ("$näme", .parameter(.name("näme"))),
    ("json_array(1, 'x')", .value([1, "x"])), ("json_object('x', NULL)", .value(["x": .null])),
  ]

  @Test(
    "Every expression parses to its tree",
    arguments: expressionsTable)
  func expressions(text: String, expected: QueryExpression) throws {
    #expect(try expression(text) == expected)
  }

  static let literalsTable: [(String, DocumentValue)] = [
    ("42", .int(42)), ("-42", .int(-42)), ("007", .int(7)), ("1_000_000", .int(1_000_000)),
    ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)),
    ("9223372036854775808", .double(0x1p63)),
    ("123456789012345678901234567890", .double(123_456_789_012_345_677_877_719_597_056)),
    ("0x1F", .int(31)), ("0XfF", .int(255)), ("0xFFFFFFFFFFFFFFFF", .int(-1)),
    ("1.5", .double(1.5)), (".5", .double(0.5)), ("5.", .double(5)), ("1e3", .double(1000)),
    ("1.5E-3", .double(0.0015)), ("-1.5", .double(-1.5)), ("9e999", .double(.infinity)),
    ("1e-999", .double(0)), ("'text'", .string("text")), ("'it''s'", .string("it's")),
    ("''''", .string("'")),
    ("''", .string("")), ("'[a] = ? -- no'", .string("[a] = ? -- no")),
    ("'\u{0}'", .string("\u{0}")),
    ("'é\u{301}🙂'", .string("é\u{301}🙂")), ("'a''\u{301}b'", .string("a'\u{301}b")),
    ("x'CAfe'", .data(Data([0xCA, 0xFE]))), ("X''", .data(Data())),
    ("NULL", .null), ("DATE '2001-01-01'", .date(Date(timeIntervalSinceReferenceDate: 0))),
    ("date '2026-11-20T21:17:00Z'", .date(Date(timeIntervalSince1970: 1_795_209_420))),
    ("DATE '1970-01-01T00:00:00.25Z'", .date(Date(timeIntervalSince1970: 0.25))),
    ("DATE '1970-01-01 01:30'", .date(Date(timeIntervalSince1970: 5400))),
    ("DATE '1970-01-01T01:00:00+01:00'", .date(Date(timeIntervalSince1970: 0))),
    ("DATE '1969-12-31T22:30:00-0130'", .date(Date(timeIntervalSince1970: 0))),
    ("DATE '2000-02-29'", .date(Date(timeIntervalSince1970: 951_782_400))),
    ("DATE '0000-01-01'", .date(Date(timeIntervalSince1970: -62_167_219_200))),
    ("DATE '9999-12-31T23:59:59Z'", .date(Date(timeIntervalSince1970: 253_402_300_799))),
    ("DATE '9999-12-31T23:59:59.999999Z'", .date(lastDate)),
    ("DATE '9999-12-31T22:59:59.9999999999999999-01:00'", .date(lastDate)),
    ("URL 'https://example.org/a?b=c'", .url(URL(string: "https://example.org/a?b=c")!)),
  ]

  @Test(
    "Literals parse to values",
    arguments: literalsTable)
  func literals(text: String, expected: DocumentValue) throws {
    #expect(try expression(text) == .value(expected))
  }

  /// The last date before the year 10000.
  private static let lastDate = Date(
    timeIntervalSinceReferenceDate: Double(252_423_993_600).nextDown)

  static let fieldsTable: [(String, [String])] = [
    ("[a]", ["a"]), ("[a.b.c]", ["a", "b", "c"]), ("[friends.0.name]", ["friends", "0", "name"]),
    (#"[a."x.y"]"#, ["a", "x.y"]), (#"["a]b"]"#, ["a]b"]), (#"["a""b".c]"#, [#"a"b"#, "c"]),
    ("[ a b ]", [" a b "]), ("[select]", ["select"]), ("[größe]", ["größe"]),
    ("[a\"b]", ["a\"b"]),
    ("[a.\u{301}b]", ["a", "\u{301}b"]), ("[it's]", ["it's"]), ("[a[b]", ["a[b"]),
    ("[a--b]", ["a--b"]),
  ]

  @Test(
    "Brackets contain a path",
    arguments: fieldsTable)
  func fields(text: String, components: [String]) throws {
    #expect(try expression(text) == .field(FieldPath(components: components)))
  }

  @Test("A quoted number is a name, when text is parsed and when it is written")
  func quotedNumbers() throws {
    for text in [#"[a."1"]"#, "[a.1]", #"["0".1."2"]"#, #"ELEMENT([a], [@."1"] = 2)"#] {
      let condition = try QueryText("EXISTS(\(text))".replacing("EXISTS(ELEMENT", with: "(ELEMENT"))
        .condition
      #expect(condition.queryText.contains(text.replacing("@.", with: "").dropFirst().dropLast()))
      #expect(try QueryText(condition.queryText).condition == condition)
    }
    #expect(try expression(#"[a."1"]"#) != expression("[a.1]"))
  }

  @Test("Orderings and limits follow the condition")
  func clauses() throws {
    let query = try QueryText(
      "where [a] = 1 order by [b] desc nulls last, length([c]) asc nulls first, [a] limit 10 offset 5"
    ).query()
    #expect(
      query
        == Query(
          equal(a, int(1)),
          orderings: [
            .reverse("b"), Ordering(.function(.length, [c])), .forward("a"),
          ], limit: 10, offset: 5))
    #expect(try QueryText("LIMIT 5, 10").query() == Query(limit: 10, offset: 5))
    #expect(try QueryText("LIMIT -1 OFFSET -3").query() == Query())
    #expect(try QueryText("LIMIT 0").query() == Query(limit: 0))
    #expect(
      try QueryText("ORDER BY [__added__]").query().orderings == [Ordering(.attribute(.added))])
  }

  @Test("Orderings can also be parsed alone")
  func orderings() throws {
    #expect(try QueryText.orderings("[a] DESC, [b]") == [.reverse("a"), .forward("b")])
    #expect(try QueryText.orderings("ORDER BY [a]") == [.forward("a")])
    #expect(try QueryText.orderings(" ") == [])
    #expect(throws: StoreError.self) { try QueryText.orderings("[a] LIMIT 1") }
    #expect(throws: StoreError.self) { try QueryText.orderings("[a] = ?") }
    #expect(throws: StoreError.self) { try QueryText.orderings("ORDER BY") }
    #expect(throws: StoreError.self) { try QueryText.orderings("[a],") }
  }
}
