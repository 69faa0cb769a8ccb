// SPDX-License-Identifier: MIT

import Testing

@Suite("What is written into a model")
struct ExpansionTests {
  @Test("A struct gets its functions, and keeps the initializer of the compiler")
  func structure() {
    expectExpansion(
      """
      @Model(collection: "people", version: 2)
      public struct Person {
        @Key var id: String?
        @Field("Name", renamedFrom: "n") var name: String
        @Indexed var age: Int?
        var kind: Kind = .good
      }
      """, "STRUCT")
  }

  @Test("A class gets its initializers too")
  func object() {
    expectExpansion(
      """
      @available(macOS 26, *)
      @Model final class Person {
        var name = "nobody"
      }
      """, "CLASS")
  }

  @Test("What is written is found without repeating names of the source's own")
  func names() {
    let expanded = Diagnosis(
      "@Model struct P { var a: Int = start; init() {} }"
    ).expanded
    #expect(expanded.contains(": (start)"))
    #expect(!expanded.contains("let start"))
  }
}
