// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery
import Testing

@Suite("Query text: errors")
struct QueryTextErrorTests {
  static let operand = "a condition or a value"
  static let after = "an operator, ORDER BY, LIMIT or the end"

  /// Text, column of the error, the expected token, and the found token (nil at the end).
  static let table: [(String, Int, String, String?)] = [
    // Unclosed tokens
    ("[a", 1, "]", "[a"), ("[a] = [", 7, "]", "["), ("[a] = 'x", 7, "'", "'x"),
    ("[a] = 'x''", 7, "'", "'x''"), ("'", 1, "'", "'"), ("[a] /* x", 5, "*/", "/*"),
    ("/*/", 1, "*/", "/*"), ("([a]", 5, ")", nil), ("[a] IN (1", 10, ", or )", nil),
    (#"["a]"#, 2, "\"", #""a]"#), ("length([a]", 11, ", or )", nil), ("x'CA", 1, "'", "x'CA"),
    // Missing tokens
    ("[a] =", 6, operand, nil), ("[a] AND", 8, operand, nil), ("NOT", 4, operand, nil),
    ("()", 2, operand, ")"), ("[a] = = 1", 7, operand, "="), ("WHERE", 6, operand, nil),
    ("[a] IN", 7, "a list in parentheses or a parameter", nil),
    ("[a] IN [b]", 8, "a list in parentheses or a parameter", "[b]"),
    ("[a] IN (1,)", 11, operand, ")"), ("[a] BETWEEN 1", 14, "AND", nil),
    ("[a] BETWEEN 1 OR 2", 15, "AND", "OR"), ("[a] IS DISTINCT 1", 17, "FROM", "1"),
    ("[a] NOT 1", 9, "NULL, LIKE, GLOB, REGEXP, IN or BETWEEN", "1"),
    ("CASE END", 6, operand, "END"), ("CASE [a] END", 10, "WHEN", "END"),
    ("CASE WHEN 1 END", 13, "THEN", "END"), ("CASE WHEN 1 THEN 2", 19, "WHEN, ELSE or END", nil),
    ("CAST([a])", 9, "AS", ")"),
    ("CAST([a] AS )", 13, "INTEGER, REAL, DECIMAL, TEXT or BOOLEAN", ")"),
    ("CAST([a] AS DATE)", 13, "INTEGER, REAL, DECIMAL, TEXT or BOOLEAN", "DATE"),
    ("CAST([a] AS BLOB)", 13, "INTEGER, REAL, DECIMAL, TEXT or BOOLEAN", "BLOB"),
    ("CAST([a] AS INT(x))", 17, "an integer", "x"), ("EXISTS [a]", 8, "(", "[a]"),
    ("EXISTS(1)", 8, "a field in square brackets", "1"),
    ("EXISTS([__key__])", 8, "a field", "[__key__]"),
    ("ELEMENT([a])", 12, ",", ")"), ("ORDER [a]", 7, "BY", "[a]"), ("ORDER BY", 9, operand, nil),
    ("ORDER BY [a],", 14, operand, nil), ("ORDER BY [a] NULLS", 19, "FIRST or LAST", nil),
    ("ORDER BY [a] NULLS LAST", 20, "FIRST", "LAST"),
    ("ORDER BY [a] DESC NULLS FIRST", 25, "LAST", "FIRST"),
    ("ORDER BY [a] [b]", 14, "a comma, LIMIT or the end", "[b]"),
    ("LIMIT", 6, operand, nil), ("LIMIT 1.5", 7, "an integer or a parameter", "1.5"),
    ("LIMIT 'a'", 7, "an integer or a parameter", "'a'"), ("LIMIT 1 [a]", 9, "the end", "[a]"),
    ("OFFSET 1", 1, operand, "OFFSET"), ("LIMIT 1 OFFSET", 15, operand, nil),
    // Unexpected tokens
    ("[a] [b]", 5, after, "[b]"), ("[a] = 1)", 8, after, ")"), ("[a] = 1 2", 9, after, "2"),
    ("[a] = 1;", 8, after, ";"), ("[a]; DROP TABLE x", 4, after, ";"), ("1..2", 3, after, ".2"),
    ("[a] GROUP BY [b]", 5, after, "GROUP"), ("[a] OVER ()", 5, after, "OVER"),
    // Words
    ("name = 1", 1, "a field in square brackets", "name"),
    ("[a] = Doe", 7, "a field in square brackets", "Doe"),
    ("größe > 1", 1, "a field in square brackets", "größe"),
    ("[ä] = ö", 7, "a field in square brackets", "ö"),
    ("\"name\" = 1", 1, "a field in square brackets", "\"name\""),
    ("`name` = 1", 1, "a field in square brackets", "`name`"), ("end = 1", 1, operand, "end"),
    ("🙂", 1, "a field in square brackets", "🙂"), ("li\u{212A}e('a', 'b')", 1, "-", "li\u{212A}e"),
    // Characters
    ("[a] = 1 ! 2", 9, "a field, a literal, an operator or a parameter", "!"),
    ("[a] # 1", 5, "a field, a literal, an operator or a parameter", "#"),
    ("\u{0}", 1, "a field, a literal, an operator or a parameter", "\u{0}"),
    ("[a] =\u{0} 1", 6, "a field, a literal, an operator or a parameter", "\u{0}"),
    ("[a] && [b]", 6, operand, "&"),
    ("]", 1, "a field, a literal, an operator or a parameter", "]"),
    // Numbers and literals
    ("5a", 1, "a number such as 42, 1.5 or 1e-3", "5a"),
    ("1e", 1, "a number such as 42, 1.5 or 1e-3", "1e"),
    ("1_", 1, "a number such as 42, 1.5 or 1e-3", "1_"),
    ("0x", 1, "1 to 16 hexadecimal digits", "0x"),
    ("0x12345678901234567", 1, "1 to 16 hexadecimal digits", "0x12345678901234567"),
    ("0xfg", 1, "a number such as 42, 1.5 or 1e-3", "0xfg"),
    ("x'CAF'", 1, "pairs of hexadecimal digits, x'CAFE'", "x'CAF'"),
    ("x'GG'", 1, "pairs of hexadecimal digits, x'CAFE'", "x'GG'"),
    ("URL ''", 5, "a URL such as 'https://example.org/'", "''"), ("REAL '1'", 6, "'nan'", "'1'"),
    // Parameters
    ("?0", 1, "1 to 32766", "?0"), ("?99999", 1, "1 to 32766", "?99999"),
    ("?99999999999999999999", 1, "1 to 32766", "?99999999999999999999"),
    (": a", 1, "a name such as :name", ":"), ("[a] = $", 7, "a name such as :name", "$"),
    // Unsupported syntax
    ("[a] COLLATE NOCASE = 1", 5, "an expression without a collation", "COLLATE"),
    ("[a] MATCH 'x'", 5, "LIKE, GLOB or REGEXP", "MATCH"),
    ("[a] NOT MATCH 'x'", 9, "LIKE, GLOB or REGEXP", "MATCH"),
    ("[a] LIKE 'x' ESCAPE '!'", 14, "a pattern without an escape character", "ESCAPE"),
    ("[a] -> 'b'", 5, "a path in square brackets", "->"),
    ("[a] ->> 'b'", 5, "a path in square brackets", "->>"), ("([a], [b]) IN (1)", 5, ")", ","),
    ("[a] IN (SELECT 1)", 17, "FROM", ")"), ("(SELECT 1)", 9, "COUNT(*)", "1"),
    ("EXISTS (SELECT 1)", 17, "FROM", ")"), ("EXISTS (SELECT [a])", 16, "*", "[a]"),
    ("[a] IN (SELECT *)", 16, "a field or an attribute", "*"),
    ("[a] IN (SELECT [b] FROM)", 24, "the name of a collection", ")"),
    ("[a] IN (SELECT [b] FROM [c.d])", 25, "the name of a collection", "[c.d]"),
    ("[a] IN (SELECT [b] FROM c ORDER BY [b])", 27, ")", "ORDER"),
    ("[a] IN (SELECT [b] FROM c", 26, ")", nil),
    ("ELEMENT([a], [b] IN (SELECT [@] FROM c))", 29, "a field of the document", "[@]"),
    ("(SELECT COUNT(*) FROM c) > 1", 24, "WHERE", ")"),
    ("(SELECT COUNT(*) FROM c WHERE [a] > 1) > 1", 38, "=", ")"),
    (
      "(SELECT COUNT(*) FROM c WHERE [a] = 1) > 1", 37, "PARENT[field] or PARENT(expression)", "1"
    ),
    ("(SELECT COUNT(*) FROM c WHERE [a] = PARENT[b] OR 1) > 1", 47, "AND or )", "OR"),
    ("(SELECT COUNT(*) FROM c WHERE [a] = PARENT[b])", 47, "a comparison such as > 2", nil),
    (
      "(SELECT COUNT(*) FROM c WHERE [a] = PARENT[b]) > [d]", 50, "a number or a parameter", "[d]"
    ),
    ("1 < (SELECT COUNT(*) FROM c WHERE [a] = PARENT[b])", 51, "a comparison such as > 2", nil),
    ("SELECT * FROM x", 1, "an expression over one collection", "SELECT"),
    ("[@] = 1", 1, "a field of the document", "[@]"),
    ("ELEMENT([a], 1) AND [@.b]", 21, "a field of the document", "[@.b]"),
    ("count([a]) > 1", 1, "a function of one document", "count"),
    // Functions
    ("length()", 1, "1", "length"), ("length(1, 2)", 1, "1", "length"),
    ("substr(1)", 1, "2 to 3", "substr"), ("contains([a])", 1, "2", "contains"),
    ("like('a')", 1, "2", "like"), ("json_array([a])", 1, "literals only", "json_array"),
    ("json_object(1, 2)", 1, "alternating names and values", "json_object"),
    ("json_object('a')", 1, "alternating names and values", "json_object"),
    // Positions
    ("[a] = 1\n  AND [b] ~ 2", 11, after, "~"), ("[ä🙂e\u{301}] = = 1", 9, operand, "="),
    ("-- c\n\n[a] =\r\n# 1", 1, "a field, a literal, an operator or a parameter", "#"),
  ]

  @Test("An error reports its position, the expected token and the found token", arguments: table)
  func errors(text: String, column: Int, expected: String, found: String?) throws {
    let error = try #require(throws: StoreError.self) { try QueryText(text) }
    #expect(error.code == .invalidQuery || error.code == .invalidPath)
    #expect(error[.position] == "\(column)")
    if expected == "-" {
      #expect(error[.expected]?.hasPrefix("one of ") == true)
    } else {
      #expect(error[.expected] == expected)
    }
    #expect(error[.text] == found)
    if found == nil { #expect(error[.actual] == "the end of the text") }
  }

  @Test("The line is reported if there are several")
  func lines() throws {
    let error = try #require(throws: StoreError.self) { try QueryText("[a]\n= 'x\ny' z") }
    #expect(error[.line] == "3")
    #expect(error[.position] == "4")
    let single = try #require(throws: StoreError.self) { try QueryText("[a] z") }
    #expect(single[.line] == nil)
  }

  @Test(
    "An invalid path has its own error code",
    arguments: [
      ("[]", 2), ("[a.]", 4), ("[.a]", 2), ("[a..b]", 4), (#"[""]"#, 2), (#"[a.""]"#, 4),
      (#"["a"b]"#, 5), ("[a\u{0}b]", 1), ("[\"\u{0}\"]", 1), ("[a] = [b..c]", 10),
    ])
  func paths(text: String, column: Int) throws {
    let error = try #require(throws: StoreError.self) { try QueryText(text) }
    #expect(error.code == .invalidPath)
    #expect(error[.position] == "\(column)")
  }

  @Test(
    "An invalid date is rejected",
    arguments: [
      "", "2026", "2026-13-01", "2026-00-01", "2026-02-29", "1900-02-29", "2026-04-31",
      "2026-1-1", "2026-01-01T", "2026-01-01T24:00", "2026-01-01T23:60", "2026-01-01T23:59:60",
      "2026-01-01T10", "2026-01-01T10:00:00.", "2026-01-01T10:00:00Zx", "2026-01-01T10:00+25:00",
      "0000-01-01T00:00+01:00", "9999-12-31T23:59:59-00:01", "-001-01-01", "now",
      "２０２６-01-01", "2026-01-01 10:00 ", "20260101",
    ])
  func dates(text: String) throws {
    let error = try #require(throws: StoreError.self) { try QueryText("DATE '\(text)'") }
    #expect(error[.position] == "6")
    #expect(error[.expected]?.hasPrefix("an ISO 8601 date") == true)
  }

  @Test("An unknown function is reported with similar names")
  func functions() throws {
    let error = try #require(throws: StoreError.self) { try QueryText("1 = lenght([a])") }
    #expect(error[.text] == "lenght")
    #expect(error[.position] == "5")
    #expect(error[.hint] == "did you mean length?")
    #expect(error[.expected]?.contains("coalesce") == true)
    let far = try #require(throws: StoreError.self) { try QueryText("frobnicate(1)") }
    #expect(far[.hint] == nil)
  }

  @Test("The first of two errors is reported")
  func firstError() throws {
    let error = try #require(throws: StoreError.self) { try QueryText("[a] = = 1 AND 'open") }
    #expect(error[.position] == "7")
  }

  @Test("User input is not in the part of an error that is logged")
  func privacy() throws {
    for text in [
      "[a] = secret", "[a] = 'secret", "secret([a])", "[a] 'secret'", "CAST(1 AS secret)",
    ] {
      let error = try #require(throws: StoreError.self) { try QueryText(text) }
      #expect(!error.description.contains("secret"))
      #expect(error.debugDescription.contains("secret"))
    }
  }

  @Test("An injection attempt is an ordinary string")
  func injection() throws {
    let evil = "x' OR 1=1; DROP TABLE people; --"
    let query = try QueryText("[name] = ?").query([.string(evil)])
    #expect(query.condition == equal(.field("name"), text(evil)))
    #expect(try QueryText(query.condition.queryText).condition == query.condition)
    #expect(throws: StoreError.self) { try QueryText("[name] = '\(evil)'") }
    let field = FieldPath(components: [#"a"] = 1 OR [b"#, "c]; --"])
    let condition = equal(.field(field), int(1))
    #expect(try QueryText(condition.queryText).condition == condition)
  }

  @Test("Nested CASE operands do not cause exponential growth")
  func nestedCase() {
    var text = "[a]"
    for _ in 0..<20 { text = "CASE \(text) WHEN 1 THEN 1 WHEN 2 THEN 2 WHEN 3 THEN 3 END" }
    #expect(throws: StoreError.self) { try QueryText(text) }
  }
}
