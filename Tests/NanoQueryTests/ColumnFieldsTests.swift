// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery
import Testing

@Suite("Fields as columns")
struct ColumnFieldsTests {
  /// `expected` is whether SQL evaluates the condition to true, rather than to false or unknown.
  @Test(
    "A condition holds if SQL evaluates it to true",
    arguments: [
      (#"{"a":true}"#, "[a] = 1", true), (#"{"a":false}"#, "[a] = 1", false),
      (#"{"a":false}"#, "[a] < 1", true), (#"{"a":true}"#, "[a] IN (1, 2)", true),
      (#"{"a":true}"#, "[a] = ?1 OR [a] + 1 = 2", true), (#"{"a":true}"#, "[a] = TRUE", true),
      (#"{"a":1}"#, "[a] = TRUE", true), ("{}", "NOT [a] = 1", false),
      (#"{"a":null}"#, "NOT ([a] = 1 AND [b] = 1)", false),
      (#"{"b":2}"#, "NOT ([a] = 1 AND [b] = 1)", true), (#"{"a":"1"}"#, "[a] != 1", true),
      (#"{"a":"1"}"#, "[a] > 1", true), (#"{"a":"1"}"#, "[a] <= 1", false),
      (#"{"a":9}"#, "[a] < '1'", true), (#"{"a":9}"#, "'1' > [a]", true),
      (#"{"a":9,"b":"x"}"#, "[a] < [b]", true), (#"{"a":5}"#, "[a] NOT BETWEEN 1 AND 4", true),
      ("{}", "[a] NOT BETWEEN 1 AND 4", false), ("{}", "[a] NOT IN (1)", false),
      ("{}", "[a] NOT IN ()", true), (#"{"a":1}"#, "[a] NOT IN (2, NULL)", false),
      (#"{"a":[{"b":7}]}"#, "[a.b] IS NULL", true), (#"{"a":[{"b":7}]}"#, "[a.b] = 7", false),
      (#"{"a":[7]}"#, "[a] = 7", false), (#"{"a":{"b":7}}"#, "[a.b] = 7", true),
      (#"{"a":"x"}"#, "NOT [a] LIKE 'y%'", true), ("{}", "NOT [a] LIKE 'y%'", false),
      (#"{"a":true}"#, "NOT [a]", false), (#"{"a":false}"#, "NOT [a]", true),
      ("{}", "([a] = 1) IS NULL", true), (#"{"a":1}"#, "([a] = 1) = 1", true),
      (#"{"a":1}"#, "CASE WHEN NOT [b] = 1 THEN 1 ELSE 2 END = 2", true),
    ])
  func condition(document: String, text: String, expected: Bool) throws {
    let parsed = try QueryText(text)
    let query = try parsed.query(Array(repeating: true, count: parsed.positionCount))
    let subject = DocumentSubject(try DocumentObject(json: document))
    let holds = try Evaluator(subject).holds(query.withFieldsAsColumns.condition)
    #expect(holds == expected)
  }

  @Test(
    "Objects are null, Booleans are doubles, and numbers match patterns as text",
    arguments: [
      (#"{"a":{"b":1}}"#, "[a] IS NULL", true), (#"{"a":{}}"#, "[a] IS NULL", true),
      (#"{"a":{"b":1}}"#, "[a] != 5", false), (#"{"a":{"b":1}}"#, "NOT [a] = 5", false),
      (#"{"a":{"b":1}}"#, "[a.b] IS NULL", false), (#"{"a":{"b":{}}}"#, "[a.b] IS NULL", true),
      (#"{"a":1}"#, "[a] LIKE '1%'", true), (#"{"a":10}"#, "[a] GLOB '1*'", true),
      (#"{"a":2}"#, "[a] NOT LIKE '1%'", true), (#"{"a":1.5}"#, "[a] LIKE '%.5'", true),
      (#"{"a":[1]}"#, "[a] LIKE '1%'", false), (#"{"a":1}"#, "'1' LIKE [a]", true),
      (#"{"a":true}"#, "[a] LIKE '1.0'", true), (#"{"a":true}"#, "[a] / 2 = 0.5", true),
      (#"{"a":false}"#, "typeof([a]) = 'real'", true), (#"{"a":true}"#, "([a] & 1) = 1", true),
      (#"{"a":true,"s":"abc"}"#, "substr([s], [a]) = 'abc'", true),
      (#"{"a":true,"n":1.26}"#, "round([n], [a]) = 1.3", true),
    ])
  func columnValue(document: String, text: String, expected: Bool) throws {
    try condition(document: document, text: text, expected: expected)
  }

  @Test("Ordering treats booleans as numbers, and arrays and objects as nulls")
  func order() throws {
    let query = try QueryText("ORDER BY [a]").query().withFieldsAsColumns
    let documents = [#"{"a":true}"#, #"{"a":[5]}"#, #"{"a":{"b":5}}"#, "{}", #"{"a":"x"}"#]
    let values = try documents.map { document in
      try query.orderings[0].value(for: DocumentSubject(try DocumentObject(json: document)))
    }
    #expect(values == [1.0, .null, .null, .null, "x"])
  }
}
