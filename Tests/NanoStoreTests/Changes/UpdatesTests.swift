// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Live queries", .timeLimit(.minutes(10)))
struct UpdatesTests {
  static let locations = [true, false]

  private func store(inFile: Bool, _ scratch: Scratch) throws -> Store {
    try Store(inFile ? .file(scratch.file("a.db")) : .memory)
  }

  @Test(
    "The first result comes immediately, and another after each commit that changes it",
    arguments: locations)
  func results(inFile: Bool) async throws {
    let scratch = try Scratch()
    let people = try store(inFile: inFile, scratch)["people"]
    try await people.save(["name": "Ada", "age": 36], key: "ada")
    var updates = people.find(Field("age") > 30).updates().makeAsyncIterator()

    #expect(try await updates.next()?.map(\.key) == ["ada"])
    try await people.save(["name": "Bob", "age": 31], key: "bob")
    #expect(try await updates.next()?.map(\.key) == ["ada", "bob"])
    try await people.update("ada", set: ["age": 20])
    #expect(try await updates.next()?.map(\.key) == ["bob"])
    try await people.update("bob", set: ["name": "Rob"])
    #expect(try await updates.next()?.first?["name"] == "Rob")
    try await people.delete("bob")
    #expect(try await updates.next()?.isEmpty == true)
  }

  @Test(
    "A collection that does not exist yet is empty, and it can be dropped", arguments: locations)
  func missing(inFile: Bool) async throws {
    let scratch = try Scratch()
    let people = try store(inFile: inFile, scratch)["People"]
    var updates = people.find().updates().makeAsyncIterator()

    #expect(try await updates.next()?.isEmpty == true)
    try await people.store["people"].insert(["a": 1])
    #expect(try await updates.next()?.count == 1)
    _ = try await people.drop()
    #expect(try await updates.next()?.isEmpty == true)
  }

  @Test(
    "A search by rank is updated when a document outside of its result changes the order", .sqlite)
  func ranks() async throws {
    let films = try Store(.memory)["films"]
    try await films.createFullTextIndex("text")
    func text(_ gins: Int, _ others: Int) -> DocumentValue {
      .string(
        (Array(repeating: "gin", count: gins) + Array(repeating: "x", count: others))
          .joined(separator: " "))
    }
    try await films.save(["text": text(1, 0)], key: "A")
    try await films.save(["text": text(3, 27)], key: "B")
    try await films.save(["text": text(0, 300)], key: "C")
    var updates = films.search("gin").updates().makeAsyncIterator()
    #expect(try await updates.next()?.map(\.key) == ["B", "A"])
    try await films.delete("C")
    #expect(try await updates.next()?.map(\.key) == ["A", "B"])
  }

  @Test("Closing a store that saves at the same time ends loops without an error")
  func closing() async throws {
    for _ in 0..<20 {
      let scratch = try Scratch()
      let store = try Store(.file(scratch.file("a.db")))
      try await store["a"].save(["n": 0], key: "a")
      var updates = store["a"].find().updates().makeAsyncIterator()
      #expect(try await updates.next()?.count == 1)
      store.saveInterval = 10
      try await store["a"].save(["n": 1], key: "b")
      let closing = Task.detached { try store.close() }
      while try await updates.next() != nil {}
      try await closing.value
    }
  }

  @Test("Counts, aggregates, groups, the first document, and Codable values are observable")
  func values() async throws {
    struct Person: Codable, Sendable, Equatable {
      var age: Int
    }
    let people = try anyStore()["people"]
    try await people.insert([["age": 30], ["age": 40]])
    let old = people.find(Field("age") >= 40)
    var count = old.countUpdates().makeAsyncIterator()
    var first = people.find().sorted(by: "-age").firstUpdates().makeAsyncIterator()
    var sum = people.find().aggregateUpdates([.sum("age")]).makeAsyncIterator()
    var groups = people.find().groupedUpdates(by: "age", aggregates: [.count]).makeAsyncIterator()
    var typed = old.updates(as: Person.self).makeAsyncIterator()
    #expect(try await count.next() == 1)
    #expect(try await first.next()??["age"] == 40)
    #expect(try await sum.next() == [70])
    #expect(try await groups.next()?.map(\.group) == [[30], [40]])
    #expect(try await typed.next() == [Person(age: 40)])

    try await people.insert(["age": 50])

    #expect(try await count.next() == 2)
    #expect(try await first.next()??["age"] == 50)
    #expect(try await sum.next() == [120])
    #expect(try await groups.next()?.map(\.group) == [[30], [40], [50]])
    #expect(try await typed.next() == [Person(age: 40), Person(age: 50)])
  }

  @Test("A NaN sum is reported once")
  func notANumber() async throws {
    let values = try anyStore()["values"]
    try await values.insert(["n": .double(.nan)])
    var sum = values.find().aggregateUpdates([.sum("n"), .count]).makeAsyncIterator()
    _ = try await sum.next()

    try await values.save(["n": .double(.nan)], key: "other")
    #expect(try await sum.next()?[1] == 2)
    try await values.save(["n": .double(.nan), "other": 1], key: "other")
    try await values.insert(["n": 1])
    #expect(try await sum.next()?[1] == 3)
  }

  @Test("Commits that do not change the result produce no element", arguments: locations)
  func irrelevant(inFile: Bool) async throws {
    let scratch = try Scratch()
    let store = try store(inFile: inFile, scratch)
    let people = store["people"]
    let top = UpdateRecorder(people.find(Field("age") > 30).sorted(by: "-age").limit(2).updates())
    let names = UpdateRecorder(people.find(Field("age") > 30).select("name").updates())
    try await top.wait { $0.values.count == 1 }
    try await names.wait { $0.values.count == 1 }

    try await store["others"].insert(["age": 99])
    try await people.insert(["age": 1])
    try? await store.write {
      try people.insert(["age": 77])
      throw CancellationError()
    }
    try await people.insert([["age": 50, "name": "a"], ["age": 60, "name": "b"]])
    try await top.wait { $0.values.last?.count == 2 }
    try await names.wait { $0.values.last?.count == 2 }
    try await people.insert(["age": 40, "name": "c"])
    try await names.wait { $0.values.last?.count == 3 }
    try await people.find(Field("name") == "a").update(set: ["age": 51])
    try await top.wait { $0.values.last?.last?["age"] == 51 }
    try await people.find(Field("name") == "b").update(set: ["name": "B", "age": 61])
    try await top.wait { $0.values.last?.first?["age"] == 61 }
    try await names.wait { $0.values.last?.contains { $0["name"] == "B" } == true }

    #expect(top.values.map(\.count) == [0, 2, 2, 2])
    #expect(names.values.map(\.count) == [0, 2, 3, 3])
  }

  @Test("A page with an offset changes with the documents before it")
  func offset() async throws {
    let people = try anyStore()["people"]
    try await people.insert((0..<10 as Range<Int64>).map { ["n": .int($0)] })
    var page = people.find().sorted(by: "n").limit(2, offset: 3).updates().makeAsyncIterator()
    #expect(try await page.next()?.map { $0["n"]?.int } == [3, 4])

    try await people.find(Field("n") == 0).delete()
    #expect(try await page.next()?.map { $0["n"]?.int } == [4, 5])
    try await people.insert(["n": -1])
    #expect(try await page.next()?.map { $0["n"]?.int } == [3, 4])
  }

  @Test("SQL writes and emptying a collection are observed", arguments: locations)
  func bulk(inFile: Bool) async throws {
    let scratch = try Scratch()
    let store = try store(inFile: inFile, scratch)
    let people = store["people"]
    try await people.insert((0..<5 as Range<Int64>).map { ["n": .int($0)] })
    var updates = people.find().updates().makeAsyncIterator()
    #expect(try await updates.next()?.count == 5)

    try await store.write { _ = try store.sql("DELETE FROM people WHERE id = 1") }
    #expect(try await updates.next()?.count == 4)
    try await people.deleteAll()
    #expect(try await updates.next()?.isEmpty == true)
    try await people.insert((0..<3_000 as Range<Int64>).map { ["n": .int($0)] })
    #expect(try await updates.next()?.count == 3_000)
  }

  @Test("Commits of other stores and processes are observed")
  func otherProcesses() async throws {
    let scratch = try Scratch()
    let path = scratch.file("a.db")
    let people = try Store(.file(path))["people"]
    let other = try Store(.file(path))["people"]
    let process = try HelperProcess()
    try process.send("open", path)
    var updates = people.find(Field("n") > 0).updates().makeAsyncIterator()
    #expect(try await updates.next()?.isEmpty == true)

    try await other.insert(["n": 1])
    #expect(try await updates.next()?.count == 1)
    try process.send("insert", "people", #"{"n":2}"#)
    #expect(try await updates.next()?.count == 2)
    try await people.insert(["n": 3])
    #expect(try await updates.next()?.count == 3)
    try process.send("insert", "people", #"{"n":4}"#)
    #expect(try await updates.next()?.count == 4)
  }

  @Test("A read-only store observes commits of other stores")
  func readOnly() async throws {
    let scratch = try Scratch()
    let path = scratch.file("a.db")
    let writer = try Store(.file(path))["people"]
    try await writer.insert(["n": 1])
    let reader = try Store.file(path) { $0.isReadOnly = true }
    var count = reader["people"].find().countUpdates().makeAsyncIterator()
    #expect(try await count.next() == 1)

    try await writer.insert(["n": 2])

    #expect(try await count.next() == 2)
  }

  @Test("Commits are observed without a write-ahead log")
  func rollbackJournal() async throws {
    let scratch = try Scratch()
    let path = scratch.file("a.db")
    let people = try Store.file(path) { $0.journalMode = .delete }["people"]
    let other = try Store.file(path) { $0.journalMode = .delete }["people"]
    var count = people.find().countUpdates().makeAsyncIterator()
    #expect(try await count.next() == 0)

    try await people.insert(["n": 1])
    #expect(try await count.next() == 1)
    try await other.insert(["n": 2])
    #expect(try await count.next() == 2)
  }

  @Test("A slow loop receives the latest result and skips those in between", arguments: locations)
  func slow(inFile: Bool) async throws {
    let scratch = try Scratch()
    let people = try store(inFile: inFile, scratch)["people"]
    var count = people.find().countUpdates().makeAsyncIterator()
    #expect(try await count.next() == 0)

    for number in 0..<200 as Range<Int64> { try await people.insert(["n": .int(number)]) }

    var received: [Int] = []
    while received.last != 200 { received.append(try #require(try await count.next())) }
    // A read may have begun before the last commit was processed.
    #expect(received.count <= 2)
  }

  @Test("Pending saves are observed when they are written")
  func pendingSaves() async throws {
    let store = try anyStore()
    let people = store["people"]
    store.saveInterval = 100
    try await people.save(["n": 1], key: "a")
    let recorder = UpdateRecorder(people.find().countUpdates())
    try await recorder.wait { $0.values == [0] }

    try await people.save(["n": 2], key: "b")
    #expect(try await people.count() == 2)
    try await store.flush()

    try await recorder.wait { $0.values.last == 2 }
    #expect(recorder.values == [0, 2])
  }

  @Test(
    "Observation that starts in a transaction reports only committed state", arguments: locations)
  func inTransaction(inFile: Bool) async throws {
    let scratch = try Scratch()
    let store = try store(inFile: inFile, scratch)
    let people = store["people"]
    let recorder = try await store.write {
      try people.insert(["n": 1])
      let recorder = UpdateRecorder(people.find().countUpdates())
      try people.insert(["n": 2])
      return recorder
    }
    try await recorder.wait { $0.values.last == 2 }
    #expect(!recorder.values.contains(1))
  }

  @Test("An invalid query ends the loop with its error")
  func invalid() async throws {
    let people = try anyStore()["people"]
    let recorder = UpdateRecorder(people.find(Field("a..b") == 1).updates())
    await recorder.finish()
    #expect((recorder.error as? StoreError)?.code == .invalidPath)

    struct Person: Codable, Sendable { var name: String }
    let typed = UpdateRecorder(people.find().updates(as: Person.self))
    try await typed.wait { $0.values.count == 1 }
    try await people.insert(["name": 1])
    await typed.finish()
    #expect(typed.error is DecodingError)
  }

  @Test("Saving a bag does not count as a change to other collections")
  func bags() async throws {
    let store = try anyStore()
    let people = store["people"]
    let ada = try await people.save(["n": 1], key: "ada")
    let recorder = UpdateRecorder(people.find().updates())
    try await recorder.wait { $0.values.count == 1 }
    let bag = try await store.bag(named: "some")
    try bag.add(ada)
    try await bag.save()
    try await people.insert(["n": 2])
    try await recorder.wait { $0.values.count == 2 }
  }

  @Test("Live queries apply field defaults")
  func defaults() async throws {
    let store = try anyStore()
    let people = store["people"]
    try await people.insert(["name": "Ada"])
    var active = people.find(Field("active") == true).updates().makeAsyncIterator()
    #expect(try await active.next()?.isEmpty == true)

    try store.engine().write(nil) {
      try $0.setSettings(CollectionSettings(defaults: ["active": true]), of: "people")
    }
    #expect(try await active.next()?.count == 1)
    try await people.insert(["name": "Bob"])
    #expect(try await active.next()?.count == 2)
    try await people.find(Field("name") == "Ada").update(set: ["active": false])
    #expect(try await active.next()?.map { $0["name"] } == ["Bob"])
  }

  @MainActor @Test("A loop on the main actor can use main-actor state")
  func mainActor() async throws {
    let people = try anyStore()["people"]
    var shown: [Int] = []
    for try await documents in people.find().updates() {
      shown.append(documents.count)
      if shown.count == 3 { break }
      try await people.insert([:])
    }
    #expect(shown == [0, 1, 2])
  }
}
