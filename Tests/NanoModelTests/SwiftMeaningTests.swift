// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Testing

@Model private struct Part: Equatable {
  var weight: Double = 0
}

private enum Grade: String, Codable { case good, bad }

@Model private struct Sample {
  @Key var id: String
  var value: Double = 0
  var optional: Double?
  var list: [Double] = []
  var parts: [Part] = []
  var readings: [String: Double] = [:]
  var grades: [String: Grade] = [:]
  var tags: [String] = []
  var number = 0
}

@Model private struct Renamed {
  @Key @Field(renamedFrom: "uuid") var id: String
  var value = 1
}

@Model private struct IndexedKey {
  static let indexes = [ModelIndex<IndexedKey>(\.id, \.value)]
  @Key var id: String
  var value = 1
}

@Suite("Conditions mean what they mean in Swift")
struct SwiftMeaningTests {
  private let samples: ModelCollection<Sample>
  private let all: [Sample]

  init() throws {
    let store = try anyStore()
    samples = store[Sample.self]
    all = [
      Sample(
        id: "nan", value: .nan, optional: .nan, list: [.nan],
        parts: [Part(weight: .nan), Part(weight: 7)]),
      Sample(
        id: "one", value: 1, optional: 1, list: [1, .nan],
        parts: [Part(weight: .nan), Part(weight: 3)],
        readings: ["air": 1], grades: ["a": .good]),
      Sample(id: "nil", value: -0.0, readings: ["air": .nan]),
    ]
    try samples.insert(all)
  }

  private func keys(_ condition: ModelCondition<Sample>) throws -> [String] {
    try samples.find(condition).keys().map(\.description)
  }

  @Test("NaN is neither equal to, nor less or greater than any number")
  func nan() throws {
    #expect(try keys(\.value < 5) == ["one", "nil"])
    #expect(try keys(\.value <= 1) == ["one", "nil"])
    #expect(try keys(\.value > -5) == ["one", "nil"])
    #expect(try keys(\.value == .nan) == [])
    #expect(try keys(\.value != .nan) == ["nan", "one", "nil"])
    #expect(try keys(\.value < .nan) == [])
    #expect(try keys(\.optional < 5) == ["one"])
    #expect(try keys(\.optional >= .nan) == [])
    let properties = ModelProperties<Sample>()
    #expect(try keys(properties.value.isIn([.nan, 1])) == ["one"])
    #expect(try keys(properties.list.contains(.nan)) == [])
    #expect(try keys(properties.parts.weight < 5) == ["one"])
    #expect(try keys(properties.parts.element { $0.weight < 5 }) == ["one"])
    #expect(try keys(\.readings["air"] < 5) == ["one"])
    #expect(try keys((0...5).contains(properties.value)) == ["one", "nil"])
  }

  @Test("A change of elements spares NaN")
  func pull() throws {
    let changed = try samples.update("one", .pull(\.parts) { $0.weight < 5 })
    #expect(changed.parts.count == 1 && changed.parts[0].weight.isNaN)
  }

  @Test("Dictionary entries are compared with nil and with values that have raw values")
  func entries() throws {
    let properties = ModelProperties<Sample>()
    #expect(try keys(properties.readings["air"] == nil) == ["nan"])
    #expect(try keys(properties.readings["air"] != nil) == ["one", "nil"])
    #expect(try keys(\.grades["a"] == .good) == ["one"])
    #expect(try keys(\.grades["a"] != .good) == ["nan", "nil"])
  }

  @Test("No document has a key that is not possible")
  func impossibleKeys() throws {
    #expect(try keys(\.id == "") == [])
    #expect(try keys(\.id != "a\u{0}").count == 3)
    #expect(try keys(\.id > "").count == 3)
    #expect(try keys(ModelProperties<Sample>().id.isIn(["", "one"])) == ["one"])
  }

  @Test("A list that was stored as its only element is one of several lists")
  func onlyElement() throws {
    try samples.documents.save(["tags": "solo"], key: "old")
    let properties = ModelProperties<Sample>()
    #expect(try keys(properties.tags.isIn([["solo"]])) == ["old"])
    #expect(try keys(properties.tags.isIn([["other"], ["solo", "solo"]])) == [])
  }

  @Test("The remainder of the least integer and -1 traps, so it is not found")
  func remainder() throws {
    var least = Sample(id: "least")
    least.number = .min
    try samples.insert(least)
    #expect(
      try samples.find(#Predicate { $0.number % -1 == 0 }).keys().map(\.description)
        == ["nan", "one", "nil"])
    #expect(try samples.find(#Predicate { $0.number % 2 == 0 }).count() == 4)
  }

  @Test("A former name of the key does not make documents outdated")
  func renamedKey() throws {
    let renamed = samples.documents.store[Renamed.self]
    try renamed.documents.save(["uuid": "old", "value": 3], key: "k")
    #expect(try renamed.upgrade() == 0)
  }

  @Test("An index cannot contain the key")
  func indexedKey() throws {
    let error = #expect(throws: StoreError.self) {
      try samples.documents.store[IndexedKey.self].insert(IndexedKey(id: "a"))
    }
    #expect(error?.code == .unsupported)
  }
}
