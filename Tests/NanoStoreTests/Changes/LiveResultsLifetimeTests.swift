// SPDX-License-Identifier: MIT

import NanoStore
import NanoStoreCore
import NanoTestSupport
import Testing

@Suite("Lifetime and errors of live results", .timeLimit(.minutes(10)))
@MainActor struct LiveResultsLifetimeTests {
  private let counts = SpyEngine.Counts()
  private func store() throws -> Store {
    let counts = counts
    return try Store(opening: { SpyEngine(counts) })
  }

  @Test("A hundred paused results observe no commits; resuming notifies at most once")
  func pausing() async throws {
    let store = try store()
    let people = store["people"]
    let all = (0..<100).map { _ in LiveResults(people.find(), loading: .immediately) }
    #expect(counts.observerCount == 1)

    for results in all { results.isPaused = true }
    try await eventually("no observer") { counts.observerCount == 0 }
    let reads = counts.readCount
    for number in 0..<10 as Range<Int64> { try await people.insert(["n": .int(number)]) }
    #expect(counts.readCount == reads)
    #expect(counts.observerCount == 0)
    #expect(all.allSatisfy { $0.elements.isEmpty })

    let counters = all.map { results in ObservationCounter { results.elements } }
    for results in all { results.isPaused = false }
    try await eventually("ten elements") { all.allSatisfy { $0.count == 10 } }
    #expect(counters.allSatisfy { $0.count == 1 })
    #expect(counts.observerCount == 1)
  }

  @Test(
    "In a read block, results are loaded from the block, also if the store has no other connection",
    arguments: 0..<3)
  func loadingInBlocks(_ kind: Int) throws {
    let scratch = try Scratch()
    var configuration = SQLiteConfiguration()
    configuration.maximumReaders = 1
    if kind == 1 { configuration.journalMode = .delete }
    let store =
      try kind == 2
      ? Store(.memory) : Store(.file(scratch.file("a.db")), engine: configuration)
    let people = store["people"]
    func insert(_ number: Int64) throws { try people.insert(["n": .int(number)]) }
    try insert(1)
    let paused = LiveResults(people.find(), loading: .immediately)
    paused.isPaused = true
    try store.read {
      let results = LiveResults(people.find(), loading: .immediately)
      #expect(results.count == 1 && results.error == nil)
      try paused.load()
      #expect(paused.count == 1)
    }
    try store.write {
      try insert(2)
      // Committed documents beside the block, or an error that says what to do.
      let results = LiveResults(people.find(), loading: .immediately)
      if kind == 0 {
        #expect(results.count == 1)
      } else {
        #expect((results.error as? StoreError)?[.hint] != nil)
      }
    }
    try paused.load()
    #expect(paused.count == 2)
  }

  @Test("Resuming without a change notifies no observer, and loading works while paused")
  func resuming() async throws {
    let people = try store()["people"]
    let results = LiveResults(people.find(), loading: .immediately, interval: .zero)
    results.isPaused = true
    try await people.insert(["n": 1])
    try results.load()
    #expect(results.count == 1)
    try await eventually("no observer") { counts.observerCount == 0 }
    let elements = ObservationCounter { results.elements }

    results.isPaused = false
    try await eventually("an observer") { counts.observerCount == 1 }
    try await people.insert(["n": 2])
    try await eventually("the insertion") { results.count == 2 }

    #expect(elements.count == 1)
  }

  @Test("Released results stop, whether they were loading, active or failed")
  func released() async throws {
    weak var store: Store?
    weak var active: LiveResults<Document>?
    do {
      let opened = try self.store()
      store = opened
      let results = LiveResults(opened["a"].find(), loading: .immediately, interval: .seconds(900))
      active = results
      let loading = LiveResults(opened["a"].find())
      let value = LiveValue(opened["a"].find().countUpdates())
      try await opened["a"].insert(["n": 1])
      #expect(counts.observerCount == 1)
      _ = (loading, value)
    }
    #expect(active == nil)
    try await eventually("no observer") { counts.observerCount == 0 }
    try await eventually("the store is deallocated") { store == nil }
  }

  @Test("Results that their actor owns do not keep it alive")
  func actors() async throws {
    weak var owner: Owner?
    do {
      let created = Owner()
      owner = created
      try await created.begin(store()["a"])
      try await created.insert()
      try await eventually("an observer") { counts.observerCount == 1 }
    }
    try await eventually("the actor is deallocated") { owner == nil }
    try await eventually("no observer") { counts.observerCount == 0 }
  }

  private actor Owner {
    private var results: LiveResults<Document>?
    private var collection: DocumentCollection?
    func begin(_ collection: DocumentCollection) {
      results = LiveResults(collection.find())
      self.collection = collection
    }
    func insert() async throws {
      try await collection?.insert(["n": 1])
      try await eventually("the element") { results?.count == 1 }
    }
  }

  @Test("Closing the store keeps the elements, and loading resumes after it is reopened")
  func closing() async throws {
    let store = try Store(.memory)
    try await store["a"].insert(["n": 1])
    let results = LiveResults(store["a"].find(), loading: .immediately, interval: .zero)
    let error = ObservationCounter { results.error != nil }
    try store.close()
    for _ in 0..<10 { await Task.yield() }
    #expect(results.count == 1)
    #expect(error.count == 0)

    #expect(throws: StoreError.self) { try results.load() }
    #expect((results.error as? StoreError)?.code == .closed)
    #expect(results.count == 1)
    let late = LiveResults(store["a"].find())
    try await eventually("the error") { (late.error as? StoreError)?.code == .closed }
    #expect(!late.isLoading)

    try store.reopen()
    try results.load()
    #expect(results.elements.isEmpty && results.error == nil)
    try await store["a"].insert(["n": 2])
    try await eventually("the insertion") { results.count == 1 }
  }

  private struct Person: Codable, Sendable { var name: String }

  @Test("After a decoding error, the elements remain until the document is corrected")
  func recovering() async throws {
    let people = try anyStore()["people"]
    try await people.save(["name": "Ada"], key: "ada")
    let results = LiveResults(
      people.find().updates(as: Person.self), loading: .immediately, interval: .zero)
    let elements = ObservationCounter { results.elements }
    let error = ObservationCounter { results.error != nil }

    try await people.save(["name": 7], key: "bob")
    try await eventually("the error") { error.values == [true] }
    #expect(results.elements.map(\.name) == ["Ada"])
    try await people.save(["name": 8], key: "bob")
    try await people.save(["name": "Bob"], key: "bob")
    try await eventually("the corrected document") { error.values.last == false }

    #expect(error.values == [true, false])
    #expect(results.elements.map(\.name) == ["Ada", "Bob"])
    #expect(elements.count == 1)
  }

  @Test("Loading immediately reports an error in the property, and recovers")
  func failing() async throws {
    let people = try anyStore()["people"]
    try await people.save(["name": 7], key: "bob")
    let results = LiveResults(
      people.find().updates(as: Person.self), loading: .immediately, interval: .zero)
    #expect(results.error is DecodingError || results.error is StoreError)
    #expect(!results.isLoading && results.elements.isEmpty)

    try await people.delete("bob")

    try await eventually("no error") { results.error == nil }
    #expect(results.elements.isEmpty)
  }

  @Test("An invalid query is an error until it is changed")
  func invalid() async throws {
    let people = try anyStore()["people"]
    try await people.insert(["n": 1])
    let results = LiveResults(people.find().limit(-1))
    try await eventually("the error") { results.error != nil }
    #expect(!results.isLoading)

    results.change(to: people.find())

    try await eventually("the elements") { results.count == 1 && results.error == nil }
  }

  @Test("Commits of another store on the same file arrive")
  func otherConnection() async throws {
    let scratch = try Scratch()
    let store = try Store(.file(scratch.file("a.db")))
    let other = try Store(.file(scratch.file("a.db")))
    let results = LiveResults(store["people"].find(), loading: .immediately)

    try await other["people"].insert(["n": 1])

    try await eventually("the insertion") { results.count == 1 }
  }
}
