// SPDX-License-Identifier: MIT

import NanoDocument
import Testing

@Suite("Field paths")
struct FieldPathTests {
  @Test("Periods separate names, quotes escape them, and the text round-trips")
  func splitting() {
    #expect(FieldPath("a.b.c").components == ["a", "b", "c"])
    #expect(FieldPath(#""v1.0".notes"#).components == ["v1.0", "notes"])
    #expect(FieldPath(#""say ""hi""""#).components == [#"say "hi""#])
    #expect(FieldPath("address line 2").components == ["address line 2"])
    for text in ["a", "a.b", #""v1.0".notes"#, "friends.0.name", #"a."0".b"#, #""1"."2""#, "01.a"] {
      #expect(FieldPath(text).description == text)
    }
  }

  @Test(
    "An empty component is an error with its position",
    arguments: ["", ".", "a.", ".a", "a..b", #""open"#, #""a"b"#])
  func emptyComponents(text: String) {
    #expect(throws: StoreError.self) { try FieldPath(text).validate() }
    #expect(!FieldPath(text).isValid)
  }

  @Test("A number addresses an array element or a field of that name")
  func numbers() {
    let value: DocumentValue = ["list": [1, ["x": 2]], "map": ["0": "zero"]]
    #expect(value["list.0"] == 1)
    #expect(value["list.1.x"] == 2)
    #expect(value["map.0"] == "zero")
    #expect(value["list.2"] == nil)
    #expect(value["nowhere.x"] == nil)
    #expect(value["list.01"] == nil)
  }

  @Test("A path that no document can have is refused")
  func longPath() {
    var value: DocumentObject = ["a": 1]
    let path = FieldPath(components: Array(repeating: "a", count: 200_000))
    let error = #expect(throws: StoreError.self) { try value.set(1, at: path) }
    #expect(error?.code == .valueNotStorable)
    #expect(value == ["a": 1])
  }

  @Test("A quoted number is a field name and never an element")
  func quotedNumbers() throws {
    var value: DocumentObject = ["list": [1, ["x": 2]], "map": ["0": "zero"]]
    #expect(DocumentValue.object(value)[#"map."0""#] == "zero")
    #expect(DocumentValue.object(value)[#"list."0""#] == nil)
    #expect(FieldPath(#"a."0""#) != FieldPath("a.0"))
    #expect(FieldPath(#"a."b""#) == FieldPath("a.b"))
    #expect(FieldPath(#"a."01""#) == FieldPath("a.01"))
    #expect(Set([FieldPath(#"a."0""#), "a.0", FieldPath(#""a"."0""#)]).count == 2)
    #expect(FieldPath("a").appending(FieldPath(#""0".1"#)).description == #"a."0".1"#)

    #expect(throws: StoreError.self) { try value.set(5, at: FieldPath(#"list."0""#)) }
    try value.set(5, at: FieldPath(#"map."1"."2""#))
    #expect(value == ["list": [1, ["x": 2]], "map": ["0": "zero", "1": ["2": 5]]])
  }
}
