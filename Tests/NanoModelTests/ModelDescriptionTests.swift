// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

@Model struct DescribedPoint: Equatable {
  @Key var id: String?
  @Field("X") var x: Int
  var label: String?
  @Transient var isSelected = false
}

@Model struct CustomMirrorPoint: CustomReflectable {
  var a = 1
  var customMirror: Mirror { Mirror(self, children: ["mine": 2]) }
}

enum Humor: String {
  case none, good
}

@Model struct Feeler {
  @Key var id: String
  var mood: Humor?
  var other: Humor? = .good
  var last: Humor = .none
}

@Suite("Descriptions of model values")
struct ModelDescriptionTests {
  private let point = DescribedPoint(id: "a", x: 1, label: nil)

  @Test("print and dump show only the declared properties")
  func printing() {
    var dumped = ""
    dump(point, to: &dumped)

    #expect(
      "\(point)" == #"DescribedPoint(id: Optional("a"), x: 1, label: nil, isSelected: false)"#)
    #expect(String(reflecting: point).hasSuffix("x: 1, label: nil, isSelected: false)"))
    #expect(!dumped.contains("unknown") && dumped.contains("- x: 1"))
    #expect(Mirror(reflecting: point).displayStyle == .struct)
  }

  @Test("Unknown fields are not shown, and are preserved when the value is saved")
  func unknownFields() throws {
    let points = try anyStore()[DescribedPoint.self]
    try points.documents.insert(["X": 1, "y": 2], key: "a")

    let found = try #require(try points.get("a"))
    #expect("\(found)" == "\(point)")
    try points.save(found)

    #expect(try points.documents.get("a")?["y"] == 2)
  }

  @Test("A custom mirror is kept")
  func ownMirror() {
    #expect(Mirror(reflecting: CustomMirrorPoint()).children.map(\.label) == ["mine"])
  }

  @Test("A case named none is a value, and an optional without a value is none")
  func noneCases() throws {
    let people = try anyStore()[Feeler.self]
    try people.insert(Feeler(id: "a", mood: Humor.none, other: nil, last: .good))
    try people.insert(Feeler(id: "b", mood: nil, other: Humor.none))
    try people.documents.insert(["z": 1, "mood": .null], key: "c")

    let found = try people.get(keys: ["a", "b", "c"])

    #expect(found.map(\.mood) == [.some(.none), nil, nil])
    #expect(found.map(\.other) == [nil, .some(.none), .some(.good)])
    #expect(found.map(\.last) == [.good, Humor.none, Humor.none])
    #expect(try people.documents.get("a")?["mood"] == "none")
  }
}
