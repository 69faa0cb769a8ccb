// SPDX-License-Identifier: MIT

import NanoDocument
import Testing

@Suite("Field paths")
struct FieldPathTests {
  @Test("Dots separate names, quotes protect them, and the text comes back")
  func splitting() {
    #expect(FieldPath("a.b.c").components == ["a", "b", "c"])
    #expect(FieldPath(#""v1.0".notes"#).components == ["v1.0", "notes"])
    #expect(FieldPath(#""say ""hi""""#).components == [#"say "hi""#])
    #expect(FieldPath("address line 2").components == ["address line 2"])
    for text in ["a", "a.b", #""v1.0".notes"#, "friends.0.name"] {
      #expect(FieldPath(text).description == text)
    }
  }

  @Test(
    "An empty component is an error that says which one",
    arguments: ["", ".", "a.", ".a", "a..b", #""open"#, #""a"b"#])
  func emptyComponents(text: String) {
    #expect(throws: StoreError.self) { try FieldPath(text).validate() }
    #expect(!FieldPath(text).isValid)
  }

  @Test("A number addresses an element of an array or a field of that name")
  func numbers() {
    let value: DocumentValue = ["list": [1, ["x": 2]], "map": ["0": "zero"]]
    #expect(value["list.0"] == 1)
    #expect(value["list.1.x"] == 2)
    #expect(value["map.0"] == "zero")
    #expect(value["list.2"] == nil)
    #expect(value["nowhere.x"] == nil)
  }
}
