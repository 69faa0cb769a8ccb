// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery
import Testing

@Suite("Conditions written in Swift")
struct FieldTests {
  @Test("Equality with nil or null matches missing values")
  func nullEquality() {
    let missing: String? = nil
    #expect((Field("a") == missing) == Condition.isNull(.field("a")))
    #expect((Field("a") == .null) == Condition.isNull(.field("a")))
    #expect((Field("a") != .null) == Condition.not(.isNull(.field("a"))))
  }

  @Test("A condition lists the paths that it reads, relative to the document")
  func fields() {
    let condition = Field("a.b") == 1 && Field("list").element { $0("x") > 2 || $0.value.exists }
    #expect(condition.fields.prefix(3) == ["a.b", "list", "list.x"])
  }

  @Test("An unbound parameter and an empty path component are rejected")
  func validation() {
    #expect(throws: StoreError.self) { try (Field("a..b") == 1).validate() }
    #expect(throws: StoreError.self) {
      try Condition.comparison(.field("a"), .equal, .parameter(.position(1))).validate()
    }
  }

  @Test(
    "The bound of a condition on related documents is not in the part of an error that is logged")
  func relatedBound() {
    let related = RelatedCondition(
      local: a, collection: "c", remote: b, bound: .cast(.value("secret"), .integer))
    let error = #expect(throws: StoreError.self) { try Condition.related(related).validate() }
    #expect(error?.code == .invalidArgument)
    #expect(error?.description.contains("secret") == false)
  }

  @Test("A function call with a wrong number of operands is rejected")
  func operands() throws {
    let calls: [QueryExpression] = [
      .function(.substr, [.field("title")]), .function(.abs, []), .function(.abs, [a, b]),
      Field("n").part(.mod), .negated(.function(.arrayIntersection, [a])),
    ]
    for call in calls {
      let error = #expect(throws: StoreError.self) { try Condition.truth(call).validate() }
      #expect(error?.code == .invalidArgument)
      let pull = FieldChange.pull("list", where: .truth(call))
      let failure = #expect(throws: StoreError.self) { try DocumentUpdate([pull]) }
      #expect(failure?.code == .invalidArgument)
    }
    // Only query text limits the operands of a function that takes any number of them.
    try Condition.truth(.function(.max, [a])).validate()
    let bounds = (0...200).map { DocumentValue.int(Int64($0)) }
    try Condition.truth(Field("n").bucket(bounds)).validate()
  }
}
