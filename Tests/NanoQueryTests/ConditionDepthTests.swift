// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery
import Testing

@Suite("Depth of conditions that are built in Swift")
struct ConditionDepthTests {
  private static let builders: [@Sendable (Condition) -> Condition] = [
    { .not($0) }, { .any([$0, Field("a") == 1]) }, { .element("a", $0) },
    { .truth(.truth($0)) },
    {
      .comparison(
        .choice([.init(when: $0, then: .value(1))], otherwise: .value(2)), .equal, .value(1))
    },
  ]

  @Test("A condition that is nested too deeply is an error, on a small stack too", arguments: 0..<5)
  func depth(builder: Int) {
    for count in [20, 31, 63, 130, 400] {
      let code = onThread(stackSize: smallStack) { () -> StoreError.Code? in
        var condition = Field("a") == 1
        for _ in 0..<count { condition = Self.builders[builder](condition) }
        do throws(StoreError) {
          try Query(condition).validate()
          _ = try Evaluator(DocumentSubject(["a": 1])).holds(condition)
          return nil
        } catch { return error.code }
      }
      if count >= 130 { #expect(code == .tooComplex) }
      if count <= 20 { #expect(code == nil) }
    }
  }

  @Test("Chains of conditions are one level, however they are put together")
  func chains() throws {
    var (left, right, both) = (Field("n") == 0, Field("n") == 0, Field("n") == 0)
    for number in 1..<3_000 {
      left = left || Field("n") == .int(Int64(number))
      right = Field("n") == .int(Int64(number)) || right
      both = both && right.isSimple
    }
    try Query(left).validate()
    try Query(right).validate()
    try Query(both).validate()
  }
}

extension Condition {
  fileprivate var isSimple: Condition { Field("m") == 1 }
}
