// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoStore
import NanoTestSupport
import Synchronization
import Testing

@Suite("What of a collection is indexed", .timeLimit(.minutes(2)))
struct IndexingTests {
  private static let sought = Condition.leaf(Field(.element) == "x7")

  private func filled(_ path: String) throws -> Store {
    let store = try Store.file(path)
    try store["a"].insert(
      (0..<5_000).map { ["n": .int($0), "list": ["x\($0 % 10)", "y"]] })
    return store
  }

  @Test("A filled store is switched with progress, keeps it when reopened, and is switched back")
  func switching() throws {
    let scratch = try Scratch()
    let store = try filled(scratch.file("a.db"))
    var seen: [Double] = []
    try store["a"].setIndexing(.everything) { seen.append($0) }
    #expect(seen == seen.sorted() && seen.last == 1 && seen.count > 5)
    try store.close()
    try store.reopen()
    #expect(try store["a"].indexing() == .everything)
    #expect(try store["a"].find(Self.sought).explain().indexes == ["everything"])
    #expect(try store["a"].find(Self.sought).count() == 500)
    try store["a"].setIndexing(.declared)
    #expect(try store["a"].find(Self.sought).explain().indexes == [])
    #expect(try store["a"].find(Self.sought).count() == 500)
  }

  @Test("Progress that throws undoes the switch, and cannot use the store")
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
    #expect(try store["a"].find(Self.sought).count() == 501)
    #expect(try store.verify() == [])
  }

  @Test("A cancelled task leaves the collection as it was")
  func cancellation() async throws {
    let scratch = try Scratch()
    let store = try filled(scratch.file("a.db"))
    let (stream, begun) = AsyncStream.makeStream(of: Void.self)
    let cancelled = DispatchSemaphore(value: 0)
    let task = Task {
      try await store["a"].setIndexing(.everything) { _ in
        begun.yield()
        // Goes on when the task is cancelled, and lets those that follow go on too.
        cancelled.wait()
        cancelled.signal()
      }
    }
    for await _ in stream { break }
    task.cancel()
    cancelled.signal()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await store["a"].indexing() == .declared)
    #expect(try await store["a"].find(Self.sought).count() == 500)
    try await store["a"].setIndexing(.everything)
    #expect(try await store["a"].indexing() == .everything)
    #expect(try await store.verify() == [])
  }

  @Test("Indexes are made anew and dropped")
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

    #expect(try store["a"].dropIndexes() == 2)
    #expect(try store["a"].indexes() == [])
    #expect(try store["a"].indexing() == .declared)
    try store["a"].insert(["n": 1])
    #expect(try store["a"].find(Field("n") == 1).count() == 2)
    #expect(try store.verify() == [])
  }

  @Test("The same with await")
  func rebuildAsync() async throws {
    let scratch = try Scratch()
    let store = try filled(scratch.file("a.db"))
    _ = try await store["a"].createIndex("n")
    try await store["a"].setIndexing(.everything)
    let last = Mutex(0.0)
    try await store["a"].rebuildIndexes { done in last.withLock { $0 = done } }
    #expect(last.withLock { $0 } == 1)
    #expect(try await store["a"].dropIndexes() == 1)
    #expect(try await store["a"].indexing() == .declared)
  }

  @Test("A document that a unique index refuses leaves no trace")
  func refused() throws {
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
}
