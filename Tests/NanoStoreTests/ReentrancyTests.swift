// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Reentrant use of the store")
struct ReentrancyTests {
  static let kinds = ["memory", "temporary", "file", "journal", "pending"]

  private func store(_ kind: String, _ scratch: Scratch) throws -> Store {
    let store: Store
    switch kind {
    case "memory": store = try anyStore()
    case "temporary": store = try Store(.temporary)
    case "journal": store = try Store.file(scratch.file("a.db")) { $0.journalMode = .delete }
    default: store = try Store.file(scratch.file("a.db")) { $0.maximumReaders = 1 }
    }
    try store["a"].insert((1...5).map { ["n": .int($0)] })
    if kind == "pending" {
      store.saveInterval = 10
      try store["a"].save(["n": 6], key: "six")
    }
    return store
  }

  @Test("Nested queries in nested blocks return results", arguments: kinds)
  func queries(kind: String) throws {
    let scratch = try Scratch()
    let store = try store(kind, scratch)
    let total = kind == "pending" ? 6 : 5
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

  @Test(
    "Writing while each(_:) yields documents is rejected, but works in a write transaction",
    arguments: kinds)
  func writes(kind: String) throws {
    let scratch = try Scratch()
    let store = try store(kind, scratch)
    let a = store["a"]
    try a.createIndex("n")
    try a.find().each { document in
      #expect(code { try a.update(document.key ?? "", set: ["n": 0]) } == .readOnly)
    }
    #expect(try a.find(Field("n") == 0).count() == 0)

    try store.write {
      // Each update moves a document to the end of the index that the loop scans.
      try a.find(Field("n") > 0).sorted(by: "n").each { document in
        try a.update(document.key ?? "", set: ["n": .int((document["n"]?.int64 ?? 0) + 100)])
        try a.insert(["n": 1000])
        try? store.write {
          try a.deleteAll()
          throw CancellationError()
        }
      }
    }
    let total = kind == "pending" ? 6 : 5
    #expect(try a.find(Field("n") < 101).count() == 0)
    #expect(try a.find(Field("n") == 1000).count() == total)
    #expect(try store.verify().isEmpty)
  }

  @Test("A type can query the store while it is decoded", arguments: kinds)
  func decoding(kind: String) throws {
    struct QueryingType: Decodable {
      @TaskLocal static var store: Store?
      let count: Int
      init(from decoder: any Decoder) throws {
        let store = try #require(Self.store)
        count = try store["a"].find().count()
        #expect(code { try store["a"].insert(["n": 0]) } == .readOnly)
      }
    }
    let scratch = try Scratch()
    let store = try store(kind, scratch)
    let found = try QueryingType.$store.withValue(store) {
      try store["a"].find().decoded(as: QueryingType.self)
    }
    #expect(Set(found.map(\.count)) == [kind == "pending" ? 6 : 5])
  }

  @Test("A lazy batch can query the store while it is inserted", arguments: kinds)
  func lazyBatch(kind: String) throws {
    let scratch = try Scratch()
    let store = try store(kind, scratch)
    let before = try store["a"].count()
    let copies = (1...3).lazy.map { number -> DocumentObject in
      ["n": .int(number), "before": .int(Int64((try? store["b"].count()) ?? -1))]
    }
    try store["b"].insert(copies)
    #expect(try store["b"].fetch().map { $0["before"] } == [0, 1, 2])
    #expect(try store["a"].count() == before)
  }

  @Test("The closure of each(of:) can use the store, and close it", arguments: kinds)
  func attachments(kind: String) throws {
    let scratch = try Scratch()
    let store = try store(kind, scratch)
    let total = try store["a"].count()
    let lengths = [0, 10, 600_000]
    let added = try lengths.map { try store.addAttachment(.data(Data(count: $0))) }
    var read = lengths.map { _ in 0 }
    for index in lengths.indices {
      try store.each(of: added[index]) { piece in
        read[index] += piece.count
        #expect(try store["a"].count() == total)
        #expect(try store.data(of: added[2]).count == lengths[2])
        try store.each(of: added[1]) { inner in #expect(inner.count == lengths[1]) }
        try store["b"].insert(["n": 1])
      }
    }
    #expect(read == lengths)
    try store.write {
      try store.each(of: added[2]) { _ in try store["b"].insert(["n": 2]) }
    }
    #expect(try store["b"].find(Field("n") == 1).count() == 5)
    #expect(try store["b"].find(Field("n") == 2).count() == 3)

    #expect(code { try store.each(of: added[2]) { _ in try store.close() } } == .closed)
  }

  @Test("A loop over a stream can write", .timeLimit(.minutes(10)), arguments: kinds)
  func streams(kind: String) async throws {
    let scratch = try Scratch()
    let store = try store(kind, scratch)
    try await store["a"].insert((10..<1000).map { ["n": .int($0)] })
    var count = 0
    for try await document in store["a"].find(Field("n") >= 10).stream() where count < 300 {
      try await store["a"].update(document.key ?? "", set: ["seen": true])
      count += 1
    }
    #expect(try await store["a"].find(Field("seen") == true).count() == 300)
  }

  @Test(
    "Loops over several streams can use the store", .sqlite, .timeLimit(.minutes(10)),
    arguments: 1...3)
  func severalStreams(readers: Int) async throws {
    let scratch = try Scratch()
    let store = try Store.file(scratch.file("a.db")) { $0.maximumReaders = readers }
    try await store["a"].insert((0..<1000).map { ["n": .int($0)] })
    let streams = (0...readers).map { _ in store["a"].find().stream().makeAsyncIterator() }
    for stream in streams { #expect(try await stream.next() != nil) }
    #expect(try await store["a"].count() == 1000)
    for stream in streams {
      var rest = 0
      while try await stream.next() != nil { rest += 1 }
      #expect(rest == 999)
    }
  }

  @Test(
    "A task started in a transaction is not part of it", .timeLimit(.minutes(10)), arguments: kinds)
  func tasks(kind: String) async throws {
    let scratch = try Scratch()
    let store = try store(kind, scratch)
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

  @Test("Transactions of two stores can be nested", arguments: kinds)
  func twoStores(kind: String) throws {
    let scratch = try Scratch()
    let (one, two) = try (store(kind, scratch), anyStore())
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

// @unchecked: `held` is accessed only while the lock is held.
/// Passes a value out of a closure.
final class Box<Value: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var held: Value?
  var value: Value? {
    get { lock.withLock { held } }
    set { lock.withLock { held = newValue } }
  }
}
