// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Using the store inside of its own blocks")
struct ReentryTests {
  static let places = ["memory", "temporary", "file", "journal", "collecting"]

  private func store(_ place: String, _ scratch: Scratch) throws -> Store {
    let store: Store
    switch place {
    case "memory": store = try anyStore()
    case "temporary": store = try Store(.temporary)
    case "journal": store = try Store.file(scratch.file("a.db")) { $0.journalMode = .delete }
    default: store = try Store.file(scratch.file("a.db")) { $0.maximumReaders = 1 }
    }
    try store["a"].insert((1...5).map { ["n": .int($0)] })
    if place == "collecting" {
      store.saveInterval = 10
      try store["a"].save(["n": 6], key: "six")
    }
    return store
  }

  @Test("Queries inside of queries inside of blocks give answers", arguments: places)
  func queries(place: String) throws {
    let scratch = try Scratch()
    let store = try store(place, scratch)
    let total = place == "collecting" ? 6 : 5
    var seen = 0
    try store.read {
      try store["a"].find().each { outer in
        try store["a"].find(Field("n") == (outer["n"] ?? 0)).each { inner in
          seen += try store.read { try store["a"].get(inner.key ?? "") } == nil ? 0 : 1
          #expect(try store["a"].count() == total)
          #expect(try store.sql("SELECT 1 AS n")[0]["n"] == 1)
        }
      }
    }
    #expect(seen == total)
  }

  @Test("Writing while documents are shown is refused, and works in a block", arguments: places)
  func writes(place: String) throws {
    let scratch = try Scratch()
    let store = try store(place, scratch)
    let a = store["a"]
    try a.createIndex("n")
    try a.find().each { document in
      #expect(code { try a.update(document.key ?? "", set: ["n": 0]) } == .readOnly)
    }
    #expect(try a.find(Field("n") == 0).count() == 0)

    try store.write {
      // Each document moves to the end of the index that the loop follows.
      try a.find(Field("n") > 0).sorted(by: "n").each { document in
        try a.update(document.key ?? "", set: ["n": .int((document["n"]?.int64 ?? 0) + 100)])
        try a.insert(["n": 1000])
        try? store.write {
          try a.deleteAll()
          throw CancellationError()
        }
      }
    }
    let total = place == "collecting" ? 6 : 5
    #expect(try a.find(Field("n") < 101).count() == 0)
    #expect(try a.find(Field("n") == 1000).count() == total)
    #expect(try store.verify().isEmpty)
  }

  @Test("A type that asks the store while it is decoded gets an answer", arguments: places)
  func decoding(place: String) throws {
    struct Curious: Decodable {
      @TaskLocal static var store: Store?
      let count: Int
      init(from decoder: any Decoder) throws {
        let store = try #require(Self.store)
        count = try store["a"].find().count()
        #expect(code { try store["a"].insert(["n": 0]) } == .readOnly)
      }
    }
    let scratch = try Scratch()
    let store = try store(place, scratch)
    let found = try Curious.$store.withValue(store) {
      try store["a"].find().decoded(as: Curious.self)
    }
    #expect(Set(found.map(\.count)) == [place == "collecting" ? 6 : 5])
  }

  @Test("A batch may be made from what the store finds meanwhile", arguments: places)
  func lazyBatch(place: String) throws {
    let scratch = try Scratch()
    let store = try store(place, scratch)
    let before = try store["a"].count()
    let copies = (1...3).lazy.map { number -> DocumentObject in
      ["n": .int(number), "before": .int(Int64((try? store["b"].count()) ?? -1))]
    }
    try store["b"].insert(copies)
    #expect(try store["b"].fetch().map { $0["before"] } == [0, 1, 2])
    #expect(try store["a"].count() == before)
  }

  @Test("A loop over a stream may write", .timeLimit(.minutes(1)), arguments: places)
  func streams(place: String) async throws {
    let scratch = try Scratch()
    let store = try store(place, scratch)
    try await store["a"].insert((10..<1000).map { ["n": .int($0)] })
    var count = 0
    for try await document in store["a"].find(Field("n") >= 10).stream() where count < 300 {
      try await store["a"].update(document.key ?? "", set: ["seen": true])
      count += 1
    }
    #expect(try await store["a"].find(Field("seen") == true).count() == 300)
  }

  @Test("A task that a block starts is no part of it", .timeLimit(.minutes(1)), arguments: places)
  func tasks(place: String) async throws {
    let scratch = try Scratch()
    let store = try store(place, scratch)
    struct Undo: Error {}
    let started = Box<Task<Int, any Error>>()
    await #expect(throws: Undo.self) {
      try await store.write {
        try store["a"].save(["n": 1], key: "undone")
        started.value = Task {
          _ = try await store["a"].save(["n": 1], key: "task")
          return try await store["a"].find(Condition.key(.equalTo, "undone")).count()
        }
        throw Undo()
      }
    }
    #expect(try await started.value?.value == 0)
    #expect(try await store["a"].get("task") != nil)
    #expect(try await store["a"].get("undone") == nil)
  }

  @Test("Blocks of two stores may stand in each other", arguments: places)
  func twoStores(place: String) throws {
    let scratch = try Scratch()
    let (one, two) = try (store(place, scratch), anyStore())
    try one.write {
      try two.write {
        try one["a"].save(["n": 1], key: "one")
        try two["a"].save(["n": 1], key: "two")
      }
      #expect(try one["a"].get("one") != nil)
    }
    #expect(try two["a"].find().keys() == ["two"])
  }
}

/// Hands a value out of a closure.
final class Box<Value: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var held: Value?
  var value: Value? {
    get { lock.withLock { held } }
    set { lock.withLock { held = newValue } }
  }
}
