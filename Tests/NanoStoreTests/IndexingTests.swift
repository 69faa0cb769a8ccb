// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoStore
import NanoTestSupport
import Synchronization
import Testing

@Suite("Indexing policy of a collection", .timeLimit(.minutes(10)))
struct IndexingTests {
  private static let condition = Condition.leaf(Field(.element) == "x7")

  private func filled(_ path: String) throws -> Store {
    let store = try Store.file(path)
    try store["a"].insert(
      (0..<5_000).map { ["n": .int($0), "list": ["x\($0 % 10)", "y"]] })
    return store
  }

  @Test(
    "The indexing policy of an existing collection changes with progress, persists, and can be reverted"
  )
  func switching() throws {
    let scratch = try Scratch()
    let store = try filled(scratch.file("a.db"))
    var seen: [Double] = []
    try store["a"].setIndexing(.everything) { seen.append($0) }
    #expect(seen == seen.sorted() && seen.last == 1 && seen.count > 5)
    try store.close()
    try store.reopen()
    #expect(try store["a"].indexing() == .everything)
    #expect(try store["a"].find(Self.condition).explain().indexes == ["everything"])
    #expect(try store["a"].find(Self.condition).count() == 500)
    try store["a"].setIndexing(.declared)
    #expect(try store["a"].find(Self.condition).explain().indexes == [])
    #expect(try store["a"].find(Self.condition).count() == 500)
  }

  @Test(
    "An error in the progress closure rolls back the change, and the closure cannot use the store")
  func progress() throws {
    struct Enough: Error {}
    let scratch = try Scratch()
    let store = try filled(scratch.file("a.db"))
    #expect(throws: Enough.self) {
      try store["a"].setIndexing(.everything) { if $0 > 0.3 { throw Enough() } }
    }
    #expect(try store["a"].indexing() == .declared)
    #expect(try store.verify() == [])
    try store.write {
      var refused: StoreError.Code?
      try store["a"].setIndexing(.everything) { _ in
        refused = code { try store["a"].insert(["n": 1]) }
      }
      #expect(refused == .invalidArgument)
      try store["a"].insert(["list": "x7"])
    }
    #expect(try store["a"].find(Self.condition).count() == 501)
    #expect(try store.verify() == [])
  }

  @Test("Canceling the task leaves the collection unchanged")
  func cancellation() async throws {
    let scratch = try Scratch()
    let store = try filled(scratch.file("a.db"))
    let (stream, begun) = AsyncStream.makeStream(of: Void.self)
    let canceled = DispatchSemaphore(value: 0)
    let task = Task {
      try await store["a"].setIndexing(.everything) { _ in
        begun.yield()
        // Resumes once the task is canceled, and lets the following calls resume too.
        canceled.wait()
        canceled.signal()
      }
    }
    for await _ in stream { break }
    task.cancel()
    canceled.signal()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await store["a"].indexing() == .declared)
    #expect(try await store["a"].find(Self.condition).count() == 500)
    try await store["a"].setIndexing(.everything)
    #expect(try await store["a"].indexing() == .everything)
    #expect(try await store.verify() == [])
  }

  @Test("Indexes can be rebuilt and dropped")
  func rebuild() throws {
    let scratch = try Scratch()
    let store = try filled(scratch.file("a.db"))
    try store["a"].createIndex("n", unique: true)
    try store["a"].createIndex("list")
    try store["a"].setIndexing(.everything)
    var last = 0.0
    try store["a"].rebuildIndexes { last = $0 }
    #expect(last == 1)
    #expect(try store["a"].indexes().count == 2)
    #expect(code { try store["a"].insert(["n": 1]) } == .uniqueViolation)
    #expect(try store.verify() == [])

    #expect(try store["a"].dropIndexes().count == 2)
    #expect(try store["a"].indexes() == [])
    #expect(try store["a"].indexing() == .declared)
    try store["a"].insert(["n": 1])
    #expect(try store["a"].find(Field("n") == 1).count() == 2)
    #expect(try store.verify() == [])
  }

  @Test("Indexes can be rebuilt and dropped with await")
  func rebuildAsync() async throws {
    let scratch = try Scratch()
    let store = try filled(scratch.file("a.db"))
    _ = try await store["a"].createIndex("n")
    try await store["a"].setIndexing(.everything)
    let last = Mutex(0.0)
    try await store["a"].rebuildIndexes { done in last.withLock { $0 = done } }
    #expect(last.withLock { $0 } == 1)
    let dropped = try await store["a"].dropIndexes()
    #expect(try await store["a"].indexing() == .declared && dropped.count == 1)
    try await store["a"].restoreIndexes(dropped)
    #expect(try await store["a"].indexing() == .everything)
    #expect(try await store["a"].indexes() == dropped.fields)
  }

  @Test("A document rejected by a unique index leaves no index entries")
  func rejected() throws {
    let store = try anyStore()
    let a = store["a"]
    try a.setIndexing(.everything)
    try a.createIndex("n", unique: true)
    try a.save(["n": 1, "v": "old"], key: "one")
    try a.save(["n": 2, "v": "other"], key: "two")
    try store.write {
      #expect(code { try a.save(["n": 2, "v": "new"], key: "one") } == .uniqueViolation)
      #expect(code { try a.insert(["n": 1, "v": "new"]) } == .uniqueViolation)
    }
    #expect(try a.find(.leaf(Field(.element) == "new")).count() == 0)
    #expect(try a.find(.leaf(Field(.element) == "old")).count() == 1)
    #expect(try store.verify() == [])
  }

  @Test("Dropped indexes of every kind are restored, or none of them")
  func restoring() throws {
    let films = try anyStore()["films"]
    try films.createIndex("title", "-year", name: "by title")
    try films.createIndex("number", unique: true)
    try films.createIndex("tags", elements: true)
    try films.insert(["title": "Brazil", "year": 1985, "number": 1, "tags": ["x"]])
    let before = try films.indexes()

    let dropped = try films.dropIndexes()
    #expect(dropped.count == 3 && dropped.fields == before)
    #expect(try films.indexes().isEmpty)
    try films.insert(["title": "Dune", "number": 1])
    #expect(code { try films.restoreIndexes(dropped) } == .uniqueViolation)
    #expect(try films.indexes().isEmpty)

    try films.find(Field("title") == "Dune").update(set: ["number": 2])
    try films.restoreIndexes(dropped)
    #expect(try films.indexes() == before)
    try films.restoreIndexes(dropped)
    #expect(try films.indexes() == before)
  }

  @Test("Restoring indexes restores full-text indexes and the policy")
  func restoringAll() throws {
    let scratch = try Scratch()
    let store = try filled(scratch.file("a.db"))
    let collection = store["a"]
    try collection.createFullTextIndex("list")
    try collection.setIndexing(.everything)
    let dropped = try collection.dropIndexes()
    #expect(try collection.indexing() == .declared && collection.fullTextIndexes().isEmpty)
    var last = 0.0
    try collection.restoreIndexes(dropped) { last = $0 }
    #expect(try collection.indexing() == .everything && last == 1)
    #expect(try collection.fullTextIndexes() == dropped.fullText && dropped.fullText.count == 1)
    #expect(try store.verify() == [])
  }
}
