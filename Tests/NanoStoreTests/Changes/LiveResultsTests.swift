// SPDX-License-Identifier: MIT

import NanoStore
import NanoStoreCore
import NanoTestSupport
import Observation
import Testing

@Suite("Observable live results", .timeLimit(.minutes(10)))
@MainActor struct LiveResultsTests {
  @Test("Elements arrive in the background, and again after each commit that changes them")
  func background() async throws {
    let people = try anyStore()["people"]
    try await people.save(["age": 36], key: "ada")
    let results = LiveResults(people.find(Field("age") > 30).sorted(by: "age"))
    #expect(results.isLoading)
    #expect(results.elements.isEmpty)
    try await eventually("the first result") { results.elements.map(\.key) == ["ada"] }
    #expect(!results.isLoading && results.error == nil)
    #expect(results.difference.inserted == [0])

    try await people.save(["age": 31], key: "bob")

    try await eventually("the insertion") { results.elements.map(\.key) == ["bob", "ada"] }
    #expect(results.count == 2)
    #expect(results.difference.inserted == [0] && results.difference.removed.isEmpty)
  }

  @Test("Elements that are loaded immediately are there after the initializer")
  func immediately() throws {
    let people = try anyStore()["people"]
    try people.save(["age": 36], key: "ada")
    let results = LiveResults(people.find(), loading: .immediately)
    #expect(results.elements.map(\.key) == ["ada"])
    #expect(!results.isLoading)

    try people.save(["age": 31], key: "bob")
    try results.load()

    #expect(results.count == 2)
  }

  @Test("Commits that leave the answer equal notify no observer")
  func equalAnswers() async throws {
    let store = try anyStore()
    let people = store["people"]
    try await people.save(["name": "Ada", "age": 36], key: "ada")
    let adults = LiveResults(
      people.find(Field("age") > 30), loading: .immediately, interval: .zero)
    let names = LiveResults(
      people.find(Field("age") > 30).select("name"), loading: .immediately, interval: .zero)
    let elements = ObservationCounter { adults.elements }
    let differences = ObservationCounter { adults.difference }
    let selected = ObservationCounter { names.elements }

    try await store["others"].save(["age": 99], key: "other")
    try await people.save(["name": "Kid", "age": 3], key: "kid")
    try await people.save(["name": "Ada", "age": 36], key: "ada")
    try await eventually("the saved document") { adults.elements.first?.revision == 2 }
    #expect(elements.count == 0 && differences.count == 0 && selected.count == 0)
    try await people.update("ada", set: ["age": 40])
    try await eventually("the update") { elements.count == 1 }
    try await people.update("ada", set: ["name": "Lovelace"])

    try await eventually("both updates") { elements.count == 2 && selected.count == 1 }
    #expect(differences.count == 2)
  }

  @Test("Ten thousand equal writes notify no observer")
  func equalWrites() async throws {
    let store = try anyStore()
    let people = store["people"]
    try await people.save(["name": "Ada"], key: "ada")
    let results = LiveResults(people.find(), loading: .immediately, interval: .zero)
    let elements = ObservationCounter { results.elements }
    let count = ObservationCounter { results.count }

    for _ in 0..<100 {
      try await store.write {
        for _ in 0..<100 { try people.save(["name": "Ada"], key: "ada") }
      }
    }

    let revision = try await people.get("ada")?.revision
    #expect(revision == 10_001)
    try await eventually("the newest document") { results.elements.first?.revision == revision }
    #expect(elements.count == 0 && count.count == 0)
  }

  @Test("Observers of the count, the loading state and the error sleep while they do not change")
  func properties() async throws {
    let people = try anyStore()["people"]
    try await people.save(["n": 0], key: "ada")
    let results = LiveResults(people.find(), loading: .immediately, interval: .zero)
    let elements = ObservationCounter { results.elements }
    let count = ObservationCounter { results.count }
    let isLoading = ObservationCounter { results.isLoading }
    let error = ObservationCounter { results.error != nil }

    for number in 1...5 as ClosedRange<Int64> {
      try await people.save(["n": .int(number)], key: "ada")
      try await eventually("update \(number)") { elements.count == Int(number) }
    }
    #expect(count.count == 0)
    try await people.save(["n": 0], key: "bob")
    try await eventually("the insertion") { elements.count == 6 }

    #expect(count.values == [2])
    #expect(isLoading.count == 0 && error.count == 0)
  }

  @Test("All properties have their new values before the first notification")
  func order() async throws {
    let people = try anyStore()["people"]
    try await people.save(["n": 0], key: "ada")
    let results = LiveResults(people.find())
    var seen: [String] = []
    let note = { (name: String) in
      seen.append(
        "\(name): \(results.elements.count) \(results.count) \(results.difference.inserted) "
          + "\(results.isLoading)")
    }
    let elements = ObservationCounter({ results.elements }, onChange: { _ in note("elements") })
    let count = ObservationCounter({ results.count }, onChange: { _ in note("count") })
    let difference = ObservationCounter(
      { results.difference }, onChange: { _ in note("difference") })
    let isLoading = ObservationCounter({ results.isLoading }, onChange: { _ in note("isLoading") })

    try await eventually("all notifications") { isLoading.count == 1 }

    #expect(elements.count == 1 && count.count == 1 && difference.count == 1)
    #expect(seen.count == 4)
    #expect(seen.allSatisfy { $0.hasSuffix(": 1 1 [0] false") }, "\(seen)")
  }

  @Test("A burst of commits leads to one update per interval, and the last state arrives")
  func bursts() async throws {
    let people = try anyStore()["people"]
    let interval = Duration.milliseconds(50)
    let results = LiveResults(people.find(), interval: interval)
    let elements = ObservationCounter { results.elements }
    let clock = ContinuousClock()
    let start = clock.now

    for number in 0..<Self.burst { try await people.insert(["n": .int(number)]) }
    try await eventually("the last state") { results.count == Self.burst }

    let intervals = Int((clock.now - start) / interval)
    #expect(elements.count <= intervals + 2)
  }

  /// The number of commits. A server syncs each, for which a busy machine takes up to 0.1 s.
  private static let burst: Int64 = TestEngine.isServer ? 100 : 1_000

  @Test("During a long interval, commits lead to no update")
  func longInterval() async throws {
    let people = try anyStore()["people"]
    let results = LiveResults(
      people.find(), loading: .immediately, interval: .seconds(Int64.max))
    let elements = ObservationCounter { results.elements }

    for number in 0..<Self.burst { try await people.insert(["n": .int(number)]) }
    #expect(elements.count == 0)
    try results.load()

    #expect(results.count == Self.burst && elements.count == 1)
  }

  @Test("Sections have unique keys, in the order of first appearance")
  func sections() throws {
    struct Person: Codable, Sendable { var name, city: String }
    let people = try anyStore()["people"]
    for (name, city) in [("Ada", "London"), ("Bo", "Rome"), ("Cy", "London")] {
      try people.insert(Person(name: name, city: city))
    }
    let results = LiveResults(
      people.find().sorted(by: "name").updates(as: Person.self), loading: .immediately)

    let sections = results.sections(by: \.city)

    #expect(sections.map(\.id) == ["London", "Rome"])
    #expect(sections.map { $0.elements.map(\.name) } == [["Ada", "Cy"], ["Bo"]])
    #expect(results.sections { _ in 0 }.count == 1)
  }

  @Test("An asynchronous sequence of observations yields the elements")
  func observations() async throws {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let people = try anyStore()["people"]
    let results = LiveResults(people.find(), loading: .immediately)
    var counts: [Int] = []

    for await count in Observations({ results.elements.count }) {
      counts.append(count)
      if count == 2 { break }
      try await people.insert(["n": .int(Int64(count))])
    }

    #expect(counts == [0, 1, 2])
  }

  @Test("A live value reports a count, groups, aggregates and the first document")
  func values() async throws {
    let people = try anyStore()["people"]
    let count = LiveValue(people.find().countUpdates(), loading: .immediately)
    let sum = LiveValue(people.find().aggregateUpdates([.sum("age")]))
    let groups = LiveValue(people.find().groupedUpdates(by: "age", aggregates: [.count]))
    let first = LiveValue(people.find().sorted(by: "-age").firstUpdates(), loading: .immediately)
    #expect(count.value == 0 && !count.isLoading)
    #expect(sum.value == nil && sum.isLoading)
    #expect(first.value == nil && !first.isLoading)
    let counts = ObservationCounter { count.value }

    try await people.insert(["age": 36])
    try await eventually("the insertion") { counts.count == 1 && first.value?["age"] == 36 }
    try await eventually("aggregates") { sum.value == [36] && groups.value?.count == 1 }
    try await people.insert(["age": 4])
    try await eventually("the second insertion") { counts.count == 2 && sum.value == [40] }

    #expect(first.value?["age"] == 36)
    try await people.deleteAll()
    try first.load()
    #expect(first.value == nil)
    // The deletion may have arrived already.
    let former = count.value
    count.change(to: people.find(Field("age") > 90).countUpdates())
    #expect(count.value == former && count.isLoading)
    try await eventually("the new count") { count.value == 0 && !count.isLoading }
  }
}
