// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery
import Testing

@Suite("Evaluation budget")
struct EvaluationBudgetTests {
  /// Returns the common result of the evaluator and the compiled matcher.
  private func outcome(_ text: String, _ object: DocumentObject) throws -> Result<Bool, StoreError>
  {
    let condition = try QueryText(text).query().condition
    let expected = result { () throws(StoreError) in
      try Evaluator(DocumentSubject(object)).holds(condition)
    }
    var writer = JSONWriter()
    writer.object(object)
    let program = try ConditionMatcher(condition)
    let bytes = Array(writer.bytes)
    let actual = bytes.withUnsafeBytes { bytes in
      result { () throws(StoreError) in try program.holds(for: bytes) { _ in .int(7) } }
    }
    switch (expected, actual) {
    case (.success(let a), .success(let b)): #expect(a == b, "\(text)")
    case (.failure(let a), .failure(let b)):
      #expect(a.code == b.code && a.message == b.message, "\(text)")
      #expect(b[.rowID] == "7")
    default: Issue.record("\(text): \(expected) but \(actual)")
    }
    return actual
  }

  private func result<Value>(
    _ work: () throws(StoreError) -> Value
  ) -> Result<Value, StoreError> {
    do { return .success(try work()) } catch { return .failure(error) }
  }

  private static func list(_ count: Int) -> DocumentValue {
    .array((0..<count).map { .int(Int64($0)) })
  }

  @Test(
    "Too many combinations are an error instead of exhausting memory",
    arguments: [
      "[l]+[l]+[l]+[l]+[l] = -1", "[l]+[l]+[l]+[l] = -1", "max([l],[l],[l],[l]) = -1",
      "substr([t], [l], [l]) || [l] || [l] = 'x'", "ELEMENT([l], 1 = 2) OR [l]*[l]*[l]*[l] = -1",
      "length(replace(replace([t],'a',[t]),'a',[t])) > 1", "[long] = [other]",
      "[long] BETWEEN [other] AND [other]", "[long] IN ([other], 0.5)", "[long] IS [other]",
      "[texts] LIKE [patterns]", "CASE WHEN TRUE THEN [l]||[l]||[l]||[l] ELSE 0 END = ''",
      "hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex([t])))))))))))) = ''",
      "substr([t], [long]) = 'x'", "upper(iif([long], [t], '')) = 'x'",
      // The first operand leaves 108,864 bytes for the second one.
      "replace([t], 'a', '\(String(repeating: "b", count: 3_350))') = char([l], [l], 128512, 128512, 128512)",
    ])
  func exceeded(text: String) throws {
    let object: DocumentObject = [
      "l": Self.list(100), "t": .string(String(repeating: "a", count: 20_000)),
      "long": Self.list(4_000),
      "other": .array((0..<4_000).map { .int(Int64(-1 - $0)) }),
      "texts": .array(
        (0..<2_000).map { .string("text \($0)" + String(repeating: "x", count: 300)) }),
      "patterns": .array((0..<2_000).map { .string("pattern \($0)") }),
    ]
    let outcome = try outcome(text, object)
    guard case .failure(let error) = outcome else {
      Issue.record("\(text): \(outcome)")
      return
    }
    #expect(error.code == .tooComplex)
    #expect(error[.limit] != nil && error[.hint] != nil)
  }

  @Test(
    "An evaluation that is linear in the size of the document always completes",
    arguments: [
      ("[l] + 1 = 1200000", true), ("[l] + [n] = 1200001", true), ("[l] = [n]", true),
      ("[l] IN (5, 6)", true), ("length([t] || [t]) = 2000000", true),
      ("replace([t], 'a', '') = ''", true), ("instr([t], 'b') = 0", true),
      ("ELEMENT([l], [@] * 2 = 2400000)", false),
    ])
  func linear(text: String, holds: Bool) throws {
    let object: DocumentObject = [
      "l": Self.list(1_200_000), "n": 2, "t": .string(String(repeating: "a", count: 1_000_000)),
    ]
    #expect(try outcome(text, object).get() == holds)
  }

  @Test("Each document has its own budget")
  func perDocument() throws {
    let condition = try QueryText("[l]*[l] = -1").query().condition
    let program = try ConditionMatcher(condition)
    var writer = JSONWriter()
    writer.object(["l": Self.list(700)])
    for _ in 0..<5 { #expect(try !program.holds(for: writer.bytes) { _ in .null }) }
  }

  @Test("An ordering by too many combinations is an error")
  func ordering() throws {
    let query = try QueryText("TRUE ORDER BY [l]*[l]*[l]*[l]").query()
    var writer = JSONWriter()
    writer.object(["l": Self.list(100)])
    let program = CompiledOrdering(query.orderings[0])
    let error = #expect(throws: StoreError.self) {
      try program.value(writer.bytes) { _ in .int(3) }
    }
    #expect(error?.code == .tooComplex && error?[.rowID] == "3")
  }

  @Test("A document in too many groups is an error")
  func groups() throws {
    let field = FieldPath("l")
    let program = CompiledAggregation(
      AggregateQuery(groups: [field, field, field, field], aggregates: [.count]))
    var writer = JSONWriter()
    writer.object(["l": Self.list(100)])
    let error = #expect(throws: StoreError.self) { try program.add(writer.bytes) }
    #expect(error?.code == .tooComplex)
  }

  private func damage(_ work: () throws -> Void) -> StoreError.Code? {
    do { try work() } catch { return (error as? StoreError)?.code }
    return nil
  }

  @Test(
    "Arrays that another program has nested too deeply are an error, also on a thread with a small stack"
  )
  func deepArrays() {
    let (open, close) = (
      String(repeating: "[", count: 20_000), String(repeating: "]", count: 20_000)
    )
    let body = Array("{\"a\":\(open)\(close)}".utf8)
    let texts = ["[a] = 1", "[a.b] = 1", "[a] IS NULL", "EXISTS([a.b])", "[a] + 1 = 2"]
    #if DEBUG
      let stackSize = 8 * smallStack  // frames are several times as large without optimization
    #else
      let stackSize = smallStack
    #endif
    let codes = onThread(stackSize: stackSize) {
      texts.map { text in
        damage {
          let matcher = try ConditionMatcher(try QueryText(text).condition)
          _ = try body.withUnsafeBytes { try matcher.holds(for: $0) { _ in .null } }
        }
      } + [
        damage {
          let values = DistinctValues("a")
          try body.withUnsafeBytes { try values.add($0) }
        }
      ]
    }
    #expect(codes == Array(repeating: .corruptDocument, count: texts.count + 1))
  }

  @Test("Searching and replacing in repetitive strings takes linear time")
  func repetitive() throws {
    var numbers = SystemRandomNumberGenerator()
    for _ in 0..<300 {
      let text = String(
        (0..<Int.random(in: 0...40, using: &numbers)).map { _ in "aaab".randomElement()! })
      let part = String(
        (0..<Int.random(in: 1...4, using: &numbers)).map { _ in "aab".randomElement()! })
      let object: DocumentObject = ["t": .string(text), "p": .string(part)]
      let place = text.ranges(of: part).first.map {
        text.distance(from: text.startIndex, to: $0.lowerBound) + 1
      }
      #expect(try outcome("instr([t], [p]) = \(place ?? 0)", object).get())
      let replaced = text.replacing(part, with: "é")
      #expect(try outcome("replace([t], [p], 'é') = '\(replaced)'", object).get())
      #expect(try outcome("contains([t], '\(part)')", object).get() == (place != nil))
    }
    // Every position matches the second string except for its last character.
    let text = String(repeating: "a", count: 200_000)
    let part = String(repeating: "a", count: 100_000) + "b"
    let object: DocumentObject = ["t": .string(text + "b"), "u": .string(text), "p": .string(part)]
    #expect(try outcome("instr([t], [p]) = 100001 AND instr([u], [p]) = 0", object).get())
    #expect(try outcome("[t] LIKE '%b' AND NOT [u] LIKE '%a%a%a%a%a%a%a%b'", object).get())
  }
}
