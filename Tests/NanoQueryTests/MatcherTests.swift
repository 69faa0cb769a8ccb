// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery
import Testing

@Suite("Compiled matchers")
struct MatcherTests {
  /// Returns the result of the matcher, and that of the evaluator.
  private func results(_ condition: Condition, _ body: String) throws -> [Bool] {
    let matcher = try ConditionMatcher(condition)
    return try Array(body.utf8).withUnsafeBytes { bytes -> [Bool] in
      var reader = JSONReader(bytes)
      let object = try reader.object()
      let found = try matcher.holds(for: bytes) { _ in .null }
      return [found, try Evaluator(DocumentSubject(object)).holds(condition)]
    }
  }

  @Test(
    "The second of two equal names is not a leaf, however another program has written them",
    arguments: [
      #"{"a":1,"\u0061":2}"#, #"{"\u0061":1,"a":2}"#, #"{"x":{"$$a":1,"$a":2}}"#,
      #"{"x":{"$$a":1,"\u0024a":2}}"#, #"{"a":1,"a":2}"#,
    ])
  func repeatedNames(body: String) throws {
    #expect(try results(.leaf(Field(FieldPath.element) == 2), body) == [false, false])
    #expect(try results(.leaf(Field(FieldPath.element) == 1), body) == [true, true])
  }

  @Test("Names that only look alike are different leaves")
  func similarNames() throws {
    for body in [#"{"x":{"$$a":1,"$$$a":2}}"#, #"{"a":1,"\u0062":2}"#, #"{"a":1,"aa":2}"#] {
      #expect(try results(.leaf(Field(FieldPath.element) == 2), body) == [true, true])
    }
  }

  @Test("The path of an array element that is a scalar is empty inside ELEMENT")
  func elementPath() throws {
    let leaf = Condition.leaf(.comparison(.attribute(.leafPath), .equal, .value("")))
    #expect(try results(.element("tags", leaf), #"{"tags":["x"]}"#) == [true, true])
  }
}
