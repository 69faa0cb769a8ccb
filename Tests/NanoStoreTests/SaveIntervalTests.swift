// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTesting
import Synchronization
import NanoTestSupport
import Testing

@Suite("Save interval", .sqlite)
struct SaveIntervalTests {
  let scratch: Scratch
  let store: Store
  /// A second store, which sees only written documents.
  let other: Store
  let notes: DocumentCollection

  init() throws {
    scratch = try Scratch()
    store = try Store.file(scratch.file("a.db"))
    other = try Store.file(scratch.file("a.db"))
    notes = store["notes"]
  }

  private var written: [String] { get throws { try other["notes"].find().keys() } }

  @Test("Saves are written together once the interval is reached")
  func interval() throws {
    store.saveInterval = 3
    for (key, count) in zip(["a", "b", "c", "d", "e", "f", "g"], [0, 0, 3, 3, 3, 6, 6]) {
      try notes.save(["n": 1], key: key)
      #expect(try written.count == count)
      #expect(store.hasUnsavedChanges == !["c", "f"].contains(key))
    }
    try store.flush()
    #expect(!store.hasUnsavedChanges)
    #expect(try written.count == 7)
    try store.flush()
  }

  @Test("Documents that are still buffered after the interval was set to 1 are found by every read")
  func shorterInterval() throws {
    store.saveInterval = 10
    try notes.save(["n": 5], key: "b")
    store.saveInterval = 1
    #expect(try notes.get(keys: ["b"]).map { $0["n"]?.int } == [5])
    #expect(try notes.get("b")?["n"] == 5)
    #expect(try notes.count() == 1)
  }

  @Test(
    "A save in a collection with an invalid name is rejected at once, and leaves other saves pending",
    arguments: ["nano_x", "", "sqlite_x", String(repeating: "x", count: 600)])
  func invalidName(name: String) throws {
    store.saveInterval = 10
    try notes.save(["n": 1], key: "a")
    #expect(code { try store[name].save(["n": 1], key: "a") } == .invalidName)
    #expect(try notes.count() == 1)
    try store.flush()
    #expect(try written == ["a"])
  }

  @Test("A pending save that has expired by a rule is not returned")
  func expired() throws {
    try notes.setExpirationRule(.field("until"))
    store.saveInterval = 10
    try notes.save(["until": .date(.distantPast)], key: "a")
    try notes.save(["until": .date(.distantFuture)], key: "b")
    #expect(try notes.get("a") == nil)
    #expect(try notes.get("b") != nil)
    #expect(try notes.get(keys: ["a", "b"]).map(\.key) == ["b"])
  }

  @Test("An interval below 1 counts as 1", arguments: [0, -5, .min, 1])
  func lowIntervals(interval: Int) throws {
    store.saveInterval = interval
    #expect(store.saveInterval == 1)
    try notes.save(["n": 1], key: "a")
    #expect(!store.hasUnsavedChanges)
    #expect(try written == ["a"])
  }

  @Test("A batch, transaction, update, or deletion first writes the pending saves")
  func writtenFirst() throws {
    store.saveInterval = 10
    let steps: [(String, () throws -> Void)] = [
      ("batch", { try notes.save([try Document(["n": 2], key: "x")]) }),
      ("insert", { try notes.insert(["n": 2]) }),
      ("block", { try store.write {} }),
      ("update", { try notes.update("block", set: ["m": 1]) }),
      ("remove", { try notes.delete("remove") }),
      ("verify", { _ = try store.verify() }),
      ("flush", { try store.flush() }),
    ]
    for (key, step) in steps {
      try notes.save(["n": 1], key: key)
      #expect(try !written.contains(key))
      try step()
      #expect(!store.hasUnsavedChanges)
      #expect(try written.contains(key) == (key != "remove"))
    }
  }

  @Test("Saves in a transaction belong to it and are not deferred")
  func insideBlocks() throws {
    store.saveInterval = 10
    try store.write { _ = try notes.save(["n": 1], key: "a") }
    #expect(!store.hasUnsavedChanges)
    #expect(try written == ["a"])
    _ = code {
      try store.write { () -> Void in
        try notes.save(["n": 2], key: "b")
        throw StoreError(.notFound, "Undo")
      }
    }
    #expect(!store.hasUnsavedChanges)
    #expect(try notes.find().keys() == ["a"])
  }

  @Test("Every query of the same store sees pending saves")
  func visible() throws {
    try notes.save(["n": 1, "list": [1]], key: "a")
    try notes.createIndex("list")
    store.saveInterval = 10
    let moment = try notes.get("a")?.added
    try notes.save(["n": 10, "list": [1, 2]], key: "a")
    try notes.save(["n": 5], key: "b")

    #expect(try notes.count() == 2)
    #expect(try notes.get("a")?["n"] == 10)
    #expect(try notes.get("a")?.added == moment)
    #expect(try notes.get("a")?.rowID == 1)
    #expect(try notes.get("a")?.revision == 2)
    #expect(try notes.get(rowID: 1)?["n"] == 10)
    #expect(try notes.get(rowID: 2)?["n"] == 5)
    #expect(try notes.get(keys: ["b", "a"]).map { $0["n"] } == [5, 10])
    #expect(try notes.find(Field("n") > 4).sorted(by: "n").keys() == ["b", "a"])
    #expect(try notes.find(Field("list") == 2).keys() == ["a"])
    #expect(try notes.find().sum("n") == 15)
    #expect(try notes.find().distinct("n") == [5, 10])
    #expect(try notes.find(Field("list") == 2).explain().indexes == ["list_elements"])
    #expect(try notes.find().page(1).documents[0]["n"] == 10)
    #expect(try store.read { try notes.count() } == 2)
    #expect(try store.sql("SELECT count(*) AS n FROM notes")[0]["n"] == 2)
    #expect(try notes.observedPaths().map(\.path) == ["list", "list[]", "n"])
    #expect(store.hasUnsavedChanges)
    #expect(try written == ["a"])
    #expect(try other["notes"].get("a")?["n"] == 1)
  }

  @Test("A read that includes pending saves cannot write")
  func readOnly() throws {
    store.saveInterval = 10
    try notes.save(["n": 1], key: "a")
    try store.read { #expect(code { try notes.save(["n": 2], key: "b") } == .readOnly) }
    try notes.find().each { _ in
      #expect(code { try notes.save(["n": 2], key: "b") } == .readOnly)
      #expect(code { try notes.deleteAll() } == .readOnly)
    }
    let statements = [
      "DELETE FROM notes WHERE id = 1 RETURNING id", "UPDATE notes SET body = '{}'",
      #"INSERT INTO notes(key, body) VALUES ('b', '{}')"#,
      "INSERT INTO notes(key, body) SELECT 'b', body FROM notes",
      "CREATE TABLE mine (a)",
    ]
    for statement in statements {
      #expect(code { _ = try store.sql(statement) } == .readOnly, "\(statement)")
      try store.read {
        #expect(code { _ = try store.sql(statement) } == .readOnly, "\(statement)")
        let keys = try store.sql("SELECT key FROM notes").map { $0["key"] }
        #expect(keys == ["a"])
      }
    }
    #expect(store.hasUnsavedChanges)
    let count = try store.write { try store.sql(statements[1] + " RETURNING id").count }
    #expect(count == 1)
    try store.flush()
    #expect(try written == ["a"])
  }

  @Test("Repeated saves of a key count as one, even under two spellings of the collection")
  func collapse() throws {
    store.saveInterval = 3
    try notes.save(["n": 1], key: "a")
    try notes.save(["n": 2], key: "a")
    try store["NOTES"].save(["n": 3], key: "a")
    #expect(store.hasUnsavedChanges)
    try store["É"].save(["n": 1], key: "a")
    try store["é"].save(["n": 2], key: "a")
    #expect(!store.hasUnsavedChanges)
    #expect(try written == ["a"])
    #expect(try notes.get("a")?["n"] == 3)
    #expect(try store["É"].get("a")?["n"] == 1)
    #expect(try store["é"].get("a")?["n"] == 2)
  }

  @Test("A document that is saved again before it is written keeps its insertion time")
  func insertionTime() throws {
    let moment: Int64 = 1_577_836_800_000_000
    let old = try Array(#"{"n":1}"#.utf8).withUnsafeBytes { body in
      Document(Document.Header(key: try DocumentKey("a"), added: moment), copying: body)
    }
    store.saveInterval = 10
    try notes.save(old)
    try notes.save(["n": 2], key: "a")
    try store.flush()

    let written = try #require(try other["notes"].get("a"))
    #expect(written["n"] == 2)
    #expect(written.added == Date(timeIntervalSince1970: 1_577_836_800))
  }

  @Test("New documents get their row IDs in the order of their first saves")
  func order() throws {
    store.saveInterval = 100
    for (key, n) in [("a", 1), ("b", 2), ("a", 3), ("c", 4), ("b", 5)] {
      try notes.save(["n": .int(Int64(n))], key: key)
    }

    #expect(try notes.find().keys() == ["a", "b", "c"])
    try store.flush()

    #expect(try written == ["a", "b", "c"])
    #expect(try other["notes"].find().fetch().map { $0["n"] } == [3, 5, 4])
  }

  @Test("Discarded saves are never written")
  func discard() throws {
    try notes.save(["n": 1], key: "a")
    store.saveInterval = 10
    try notes.save(["n": 2], key: "a")
    try notes.save(["n": 2], key: "b")
    store.discardUnsavedChanges()
    #expect(!store.hasUnsavedChanges)
    #expect(try notes.get("a")?["n"] == 1)
    try store.close()
    #expect(try written == ["a"])
  }

  @Test("A failed flush writes nothing and keeps every pending save")
  func failure() throws {
    try notes.createIndex("n", unique: true)
    try notes.save(["n": 1], key: "a")
    store.saveInterval = 3
    try notes.save(["n": 2], key: "b")
    try notes.save(["n": 1], key: "c")
    let error = error { try notes.save(["n": 3], key: "d") }
    #expect(error?.code == .uniqueViolation)
    #expect(error?[.key] == "a")
    #expect(store.hasUnsavedChanges)
    #expect(try written == ["a"])
    #expect(code { try store.flush() } == .uniqueViolation)
    #expect(code { try notes.insert(["n": 9]) } == .uniqueViolation)
    #expect(try written == ["a"])

    try notes.save(["n": 4], key: "c")
    #expect(!store.hasUnsavedChanges)
    #expect(try written == ["a", "b", "c", "d"])
    #expect(try store.verify().isEmpty)
  }

  @Test("A save with a generated key that throws is not written later")
  func failureWithGeneratedKey() throws {
    try notes.createIndex("n", unique: true)
    try notes.save(["n": 1], key: "a")
    store.saveInterval = 2
    try notes.save(["n": 1], key: "b")
    #expect(code { try notes.save(["n": 2]) } == .uniqueViolation)
    #expect(code { try notes.save(["n": 2]) } == .uniqueViolation)

    try notes.save(["n": 3], key: "b")
    try store.flush()

    #expect(try written == ["a", "b"])
    #expect(try notes.save(["n": 2]).key != nil)
    try store.flush()
    #expect(try notes.find(Field("n") == 2).count() == 1)
  }

  @Test("A read-only store refuses a save at once", .sqlite)
  func readOnlyStore() throws {
    let scratch = try Scratch()
    try Store.file(scratch.file("a.db"))["notes"].save(["n": 1], key: "a")
    let store = try Store.file(scratch.file("a.db")) { $0.isReadOnly = true }
    store.saveInterval = 10
    #expect(code { try store["notes"].save(["n": 2], key: "b") } == .readOnly)
    #expect(!store.hasUnsavedChanges)
    #expect(try store["notes"].count() == 1)
  }

  @Test("Saves that pass a unique value on are written in their order")
  func uniqueValues() throws {
    try notes.createIndex("n", unique: true)
    try notes.save(["n": 1], key: "a")
    store.saveInterval = 100
    try notes.save(["n": 5], key: "b")
    try notes.save(["n": 2], key: "a")
    try notes.save(["n": 1], key: "b")
    try notes.save(["n": 3], key: "a")
    #expect(try notes.find().sum("n") == 4)
    try store.flush()
    #expect(try other["notes"].get("a")?["n"] == 3)
    #expect(try other["notes"].get("b")?["n"] == 1)
    #expect(try other["notes"].get("b")?.revision == 2)
  }

  @Test("A pending document has the revision that it gets, also while it is written")
  func revisionDuringFlush() async throws {
    store.saveInterval = 100
    try await notes.save(["n": 1], key: "a")
    let writing = Task {
      for number in 2...300 as ClosedRange<Int64> {
        try await store.flush()
        try await notes.save(["n": .int(number)], key: "a")
      }
    }
    for _ in 0..<300 {
      let found = try #require(try await notes.get("a"))
      #expect(found["n"] == found.revision.map { DocumentValue.int($0) })
    }
    try await writing.value
  }

  @Test("A pending document is read from memory while a flush pauses between two attempts")
  func readBetweenAttempts() throws {
    let engine = InterruptedEngine()
    let store = try Store(opening: { engine })
    store.saveInterval = 10
    try store["notes"].save(["n": 1], key: "a")
    let ended = DispatchSemaphore(value: 0)
    Thread {
      try? store.flush()
      ended.signal()
    }.start()
    engine.paused.wait()

    let found = try store["notes"].get("a")

    #expect(found?["n"] == 1 && engine.isPaused)
    engine.resumed.signal()
    ended.wait()
    #expect(!store.hasUnsavedChanges)
    #expect(try store["notes"].get("a")?["n"] == 1)
  }

  @Test("Closing writes the pending saves; if that fails, it throws and the store is closed")
  func closing() throws {
    store.saveInterval = 10
    try notes.save(["n": 1], key: "a")
    try store.close()
    #expect(try written == ["a"])
    try store.reopen()
    #expect(store.saveInterval == 10)
    try notes.createIndex("n", unique: true)
    try notes.save(["n": 1], key: "b")
    #expect(code { try store.close() } == .uniqueViolation)
    #expect(store.isClosed && !store.hasUnsavedChanges)
    try store.reopen()
    #expect(try notes.count() == 1)
  }

  @Test("A save without a key is deferred only if documents have keys")
  func withoutKey() throws {
    try store.createCollection("rows", identity: .rowID)
    store.saveInterval = 10
    #expect(try store["rows"].save(["n": 1]).key == nil)
    let key = try #require(try notes.save(["n": 1]).key)
    #expect(try notes.get(key)?["n"] == 1)
    #expect(try store["rows"].find().keys().isEmpty)
  }

  @Test("Concurrent saves, reads, and flushes lose nothing")
  func concurrent() async throws {
    store.saveInterval = 7
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          let failure = await asyncCode {
            for round in 0..<50 {
              _ = try await notes.save(["n": .int(Int64(round))], key: "k\(task)-\(round)")
              if round % 10 == task { #expect(try await notes.get("k\(task)-\(round)") != nil) }
              if round % 25 == task { try await store.flush() }
              if round % 25 == task + 1 { #expect(try await notes.count() > round) }
            }
          }
          #expect(failure == nil)
        }
      }
    }
    try await store.flush()
    #expect(try await other["notes"].count() == 400)
    #expect(try await store.verify().isEmpty)
  }
}

/// An engine whose first write loses the connection, and whose second one waits for at most ten seconds.
private final class InterruptedEngine: ForwardingEngine {
  let engine: any Engine = ReferenceEngine()
  let paused = DispatchSemaphore(value: 0)
  let resumed = DispatchSemaphore(value: 0)
  private let writes = Atomic(0)
  private let isWaiting = Atomic(false)

  var isPaused: Bool { isWaiting.load(ordering: .sequentiallyConsistent) }

  func read<Result>(
    _ scope: ReadScope, _ interruption: Interruption?, _ work: (any EngineReader) throws -> Result
  ) throws -> Result {
    try engine.read(scope, interruption, work)
  }
  func write<Result>(
    _ isolation: Isolation, _ interruption: Interruption?,
    _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    switch writes.add(1, ordering: .sequentiallyConsistent).newValue {
    case 1:
      return try engine.write(isolation, interruption) { writer -> Result in
        _ = try work(writer)
        throw StoreError(.connectionLost, "The connection was lost")
      }
    case 2:
      isWaiting.store(true, ordering: .sequentiallyConsistent)
      paused.signal()
      _ = resumed.wait(timeout: .now() + 300)
      isWaiting.store(false, ordering: .sequentiallyConsistent)
    default: break
    }
    return try engine.write(isolation, interruption, work)
  }
  func observeCommits(
    _ handler: @escaping @Sendable (Commit) -> Void
  ) throws -> CommitObservation {
    try engine.observeCommits(handler)
  }
}
