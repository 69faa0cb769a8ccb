// SPDX-License-Identifier: MIT

import Dispatch
import NanoStore
import NanoStoreCore
import NanoTestSupport
import NanoTesting
import Synchronization
import Testing

@Suite("Live results of changing queries", .timeLimit(.minutes(10)))
@MainActor struct LiveResultsChangeTests {
  private func numbers(_ range: Range<Int64>) throws -> DocumentCollection {
    let numbers = try anyStore()["numbers"]
    try numbers.insert(range.map { ["n": .int($0)] })
    return numbers
  }

  @Test("The elements remain until those of the new query exist")
  func keeping() async throws {
    let numbers = try numbers(0..<10)
    let results = LiveResults(numbers.find(Field("n") < 3), loading: .immediately)
    let elements = ObservationCounter { results.elements.count }
    let isLoading = ObservationCounter { results.isLoading }

    results.change(to: numbers.find(Field("n") < 5).sorted(by: "-n"))
    #expect(results.count == 3 && results.isLoading)
    try await eventually("the new elements") { !results.isLoading }

    #expect(results.elements.map { $0["n"]?.int } == [4, 3, 2, 1, 0])
    #expect(results.difference.inserted == [0, 1])
    #expect(results.difference.changed.isEmpty && results.difference.removed.isEmpty)
    #expect(elements.values == [5])
    #expect(isLoading.values == [true, false])
  }

  @Test("Of two quick changes, only the last one arrives")
  func twice() async throws {
    let numbers = try numbers(0..<10)
    let results = LiveResults(numbers.find(Field("n") < 1), interval: .zero)
    let elements = ObservationCounter { results.elements.count }

    for limit in 2...9 as ClosedRange<Int64> {
      results.change(to: numbers.find(Field("n") < DocumentValue.int(limit)))
    }
    try await eventually("the last query") { !results.isLoading }
    try await numbers.insert(["n": -1])
    try await eventually("an insertion") { results.count == 10 }

    #expect(elements.values == [9, 10])
  }

  @Test("A result of the former query that was read during the change does not arrive")
  func late() async throws {
    let numbers = try numbers(0..<1)
    let gate = DispatchSemaphore(value: 0)
    let isReading = Atomic(false)
    let results = LiveResults(
      numbers.find().updates { _ in
        isReading.store(true, ordering: .sequentiallyConsistent)
        gate.wait()
        return "old"
      }, interval: .zero)
    let elements = ObservationCounter { results.elements }
    let error = ObservationCounter { results.error != nil }
    try await eventually("a read") { isReading.load(ordering: .sequentiallyConsistent) }

    results.change(to: numbers.find().updates { _ in "new" })
    gate.signal()
    try await eventually("the new result") { results.elements == ["new"] }
    try await numbers.insert(["n": 1])
    try await eventually("the insertion") { results.count == 2 }

    #expect(elements.values == [["new"], ["new", "new"]])
    #expect(error.count == 0)
  }

  @Test("A new query with an equal answer notifies no observer of the elements")
  func equal() async throws {
    let numbers = try numbers(0..<10)
    let results = LiveResults(numbers.find(Field("n") < 3), loading: .immediately)
    let elements = ObservationCounter { results.elements }

    results.change(to: numbers.find(Field("n") <= 2))
    try await eventually("the new result") { !results.isLoading }

    #expect(elements.count == 0)
  }

  @Test("Other values of the same documents, and other collections, are changes")
  func otherElements() throws {
    let numbers = try numbers(0..<3)
    let others = numbers.store["others"]
    try others.insert((5..<7).map { ["n": .int($0)] })
    let results = LiveResults(
      numbers.find().updates { $0["n"]?.int }, loading: .immediately)

    results.change(to: numbers.find().updates { ($0["n"]?.int ?? 0) * 10 })
    try results.load()
    #expect(results.elements == [0, 10, 20])
    #expect(results.difference.changed.map(\.to) == [0, 1, 2])
    results.change(to: others.find().updates { $0["n"]?.int })
    try results.load()

    #expect(results.elements == [5, 6])
    #expect(results.difference.removed == [0, 1, 2] && results.difference.inserted == [0, 1])
  }

  @Test("A query that changes while paused is evaluated after the pause")
  func paused() async throws {
    let numbers = try numbers(0..<10)
    let results = LiveResults(numbers.find(Field("n") < 3), loading: .immediately)
    results.isPaused = true
    results.change(to: numbers.find())
    #expect(results.isLoading && results.count == 3)

    results.isPaused = false

    try await eventually("the new elements") { results.count == 10 && !results.isLoading }
  }

  @Test("Applying each difference to the old list yields the new one", arguments: 0..<6)
  func property(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    let things = try anyStore()["things"]
    let queries = [
      things.find(Field("n") < 60).sorted(by: "n").limit(12), things.find().sorted(by: "-n"),
      things.store["others"].find().sorted(by: "n"),
    ]
    let results = LiveResults(queries[0], interval: .zero)
    var list: [String] = []
    var updates = 0
    let content = { (documents: [Document]) in
      documents.map { "\($0.key ?? "-") \((try? $0.object()).map { "\($0)" } ?? "?")" }
    }
    let read = { results.elements }
    let elements = ObservationCounter(read) { documents in
      updates += 1
      results.difference.apply(to: &list, content(documents))
      #expect(list == content(documents))
    }

    for round in 0..<60 {
      let collection = Int.random(in: 0..<4, using: &random) == 0 ? "others" : "things"
      let things = things.store[collection]
      let (count, next) = (Int.random(in: 1...5, using: &random), random.next())
      try await things.store.write {
        var random = SplitMix(seed: next)
        for _ in 0..<count {
          let key = "k\(Int.random(in: 0..<20, using: &random))"
          if Int.random(in: 0..<4, using: &random) == 0 {
            try things.delete(key)
          } else {
            try things.save(["n": .int(.random(in: 0..<90, using: &random))], key: key)
          }
        }
      }
      if round % 10 == 9 { results.change(to: queries[(round / 10) % 3]) }
      if Bool.random(using: &random) { try results.load() }
    }
    results.change(to: queries[0])
    try results.load()

    #expect(updates > 5 && elements.count == updates)
    #expect(list == content(try await queries[0].fetch()))
  }

  private final class Object {
    let name: String
    init(_ name: String) { self.name = name }
  }

  @Test("Objects that an actor makes of a result are compared by identity")
  func objects() async throws {
    let numbers = try numbers(0..<3)
    var known: [Int64: Object] = [:]
    var unsaved: [Object] = []
    let identify = { (object: Object) in AnyHashable(ObjectIdentifier(object)) }
    let source = LiveSource<Object>(numbers.find().updates().evaluator, identify: identify) {
      documents in
      documents.map { document in
        let id = document.rowID ?? 0
        let object = known[id] ?? Object("\(id)")
        known[id] = object
        return object
      } + unsaved
    }
    let results = LiveResults(source, loading: .immediately, interval: .zero)
    let elements = ObservationCounter { results.elements.count }
    #expect(results.count == 3)

    unsaved = [Object("new")]
    results.invalidate()
    try await eventually("the unsaved object") { results.count == 4 }
    #expect(results.difference.inserted == [3])
    try await numbers.find(Field("n") == 1).update(set: ["x": 1])
    results.invalidate()
    try await numbers.insert(["n": 4])
    try await eventually("the insertion") { results.count == 5 }

    #expect(elements.values == [4, 5])
    #expect(results.difference.inserted == [3] && results.difference.changed.isEmpty)
  }
}
