// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Live results of models")
@MainActor struct ModelLiveResultsTests {
  @Model struct Runner: Equatable {
    @Key var id: String
    var city: String
    var age: Int
    var laps: Int? = 1
    @Indexed var rank = 5
  }

  private func runners() throws -> ModelCollection<Runner> {
    let runners = try anyStore()[Runner.self]
    try runners.insert([
      Runner(id: "ada", city: "London", age: 36), Runner(id: "bo", city: "Rome", age: 20),
    ])
    return runners
  }

  @Test("Live results take a query over a model, and change to another one")
  func results() throws {
    let runners = try runners()
    let results = LiveResults(
      runners.find(\.age > 30).sorted(by: \.city), loading: .immediately)
    #expect(results.elements.map(\.id) == ["ada"])

    results.change(to: runners.find().sorted(by: \.age))
    #expect(results.elements.map(\.id) == ["ada"] && results.isLoading)
    try results.load()

    #expect(results.elements.map(\.id) == ["bo", "ada"])
    #expect(results.difference.inserted == [0] && results.difference.changed.isEmpty)
    #expect(results.sections(by: \.city).map(\.id) == ["Rome", "London"])
  }

  @Test("A property that is not stored is an error of the results")
  func failure() throws {
    let results = LiveResults(try runners().find(\.city.count > 3), loading: .immediately)
    #expect((results.error as? StoreError)?.code == .invalidArgument)
    #expect(results.elements.isEmpty)
  }

  @Test("Live values take the first value, aggregates and groups of models")
  func values() throws {
    let runners = try runners()
    let first = LiveValue(runners.find().sorted(by: \.age).firstUpdates(), loading: .immediately)
    let ages = LiveValue(
      runners.find().aggregateUpdates(.count, .max(\.age)), loading: .immediately)
    let cities = LiveValue(
      runners.find().groupedUpdates(by: \.city, .sum(\.age)), loading: .immediately)
    #expect(first.value?.id == "bo")
    #expect(ages.value?.0 == 2 && ages.value?.1 == 36)

    try runners.insert(Runner(id: "cy", city: "Rome", age: 10))
    try first.load()
    try ages.load()
    try cities.load()

    #expect(first.value?.id == "cy")
    #expect(ages.value?.0 == 3)
    #expect(cities.value?.map(\.group) == ["London", "Rome"])
    #expect(cities.value?.map(\.values) == [36, 30])
  }

  @Test("Live results sort a document that is written later by its default")
  func laterDefault() throws {
    let runners = try runners()
    try runners.update("ada", .set(\.rank, 9))
    try runners.update("bo", .set(\.rank, 1))
    let results = LiveResults(runners.find().sorted(by: \.rank), loading: .immediately)

    try runners.documents.insert(["city": "Oslo", "age": 1], key: "cy")
    try results.load()

    #expect(results.elements.map(\.id) == ["bo", "cy", "ada"])
  }

  @Test("Live counts after a position include a document that is written later, by its default")
  func laterDefaultAfterPosition() throws {
    let runners = try runners()
    try runners.update("ada", .set(\.rank, 9))
    try runners.update("bo", .set(\.rank, 1))
    let sorted = runners.find().sorted(by: \.rank)
    let rest = sorted.after(try sorted.page(1).next)
    let counts = LiveValue(rest.countUpdates(), loading: .immediately)
    let aggregates = LiveValue(rest.aggregateUpdates(.count), loading: .immediately)
    #expect(counts.value == 1 && aggregates.value == 1)

    try runners.documents.insert(["city": "Oslo", "age": 1], key: "cy")
    try counts.load()
    try aggregates.load()

    #expect(counts.value == 2 && aggregates.value == 2)
    #expect(try rest.count() == 2)
  }

  @Test("Live aggregates count the default of a document that lacks the property")
  func variants() throws {
    let runners = try runners()
    try runners.documents.insert(["city": "Oslo", "age": 1])
    let laps = LiveValue(runners.find().aggregateUpdates(.sum(\.laps)), loading: .immediately)

    #expect(laps.error == nil)
    #expect(laps.value == (try runners.find().sum(\.laps)))
  }
}
