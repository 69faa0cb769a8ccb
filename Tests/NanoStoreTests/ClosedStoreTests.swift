// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Closed stores")
struct ClosedStoreTests {
  @Test("Every call on a closed store throws .closed")
  func everyCall() throws {
    let store = try anyStore()
    let a = store["a"]
    let document = try a.save(["n": 1], key: "k")
    let query = a.find(Field("n") == 1)
    try store.close()
    try store.close()
    #expect(store.isClosed)

    let calls: [(String, () throws -> Void)] = [
      ("collections", { _ = try store.collections() }),
      ("createCollection", { try store.createCollection("b") }),
      ("metadata", { _ = try store.metadata("m") }),
      ("setMetadata", { try store.setMetadata(1, "m") }),
      ("compact", { try store.compact() }),
      ("backup", { try store.backup(to: "/nowhere/b.db") }),
      ("verify", { _ = try store.verify() }),
      ("statistics", { _ = try store.statistics() }),
      ("flush", { try store.flush() }),
      ("read", { try store.read { _ = Issue.record("A block ran") } }),
      ("write", { try store.write { _ = Issue.record("A block ran") } }),
      ("sql", { _ = try store.sql("SELECT 1") }),
      ("execute", { try store.execute("DELETE FROM a") }),
      ("engine", { _ = try store.engine() }),
      ("get", { _ = try a.get("k") }),
      ("getRow", { _ = try a.get(rowID: 1) }),
      ("getKeys", { _ = try a.get(keys: []) }),
      ("insert", { try a.insert(["n": 1]) }),
      ("insertDocument", { try a.insert(document) }),
      ("insertAll", { try a.insert([["n": 1]]) }),
      ("save", { try a.save(["n": 1], key: "k") }),
      ("saveDocument", { try a.save(document) }),
      ("saveAll", { try a.save([document]) }),
      ("json", { try a.insert(json: "{}") }),
      ("update", { try a.update("k", set: ["n": 2]) }),
      ("updateRow", { try a.update(rowID: 1, set: ["n": 2]) }),
      ("remove", { try a.delete("k") }),
      ("removeRow", { try a.delete(rowID: 1) }),
      ("removeDocument", { try a.delete(document) }),
      ("removeKeys", { try a.delete(keys: ["k"]) }),
      ("removeAll", { try a.deleteAll() }),
      ("createIndex", { try a.createIndex("n") }),
      ("dropIndex", { try a.dropIndex("n") }),
      ("indexes", { _ = try a.indexes() }),
      ("paths", { _ = try a.observedPaths() }),
      ("drop", { try a.drop() }),
      ("documents", { _ = try query.fetch() }),
      ("first", { _ = try query.first() }),
      ("each", { try query.each { _ in } }),
      ("count", { _ = try query.count() }),
      ("exists", { _ = try query.exists() }),
      ("keys", { _ = try query.keys() }),
      ("rowIDs", { _ = try query.rowIDs() }),
      ("page", { _ = try query.page(1) }),
      ("explain", { _ = try query.explain() }),
      ("decoded", { _ = try query.decoded(as: [String: Int].self) }),
      ("distinct", { _ = try query.distinct("n") }),
      ("aggregate", { _ = try query.aggregate([.count]) }),
      ("grouped", { _ = try query.grouped(by: "n", aggregates: [.count]) }),
      ("updateFound", { try query.update(set: ["n": 1]) }),
      ("removeFound", { try query.delete() }),
    ]
    for (name, call) in calls { #expect(code { try call() } == .closed, "\(name)") }
    store.saveInterval = 5
    #expect(code { try a.save(["n": 1], key: "k") } == .closed)
    #expect(!store.hasUnsavedChanges)
  }

  @Test("Async calls on a closed store throw .closed")
  func everyAsyncCall() async throws {
    let store = try anyStore()
    try store.close()
    #expect(await asyncCode { _ = try await store["a"].fetch() } == .closed)
    #expect(await asyncCode { _ = try await store["a"].save(["n": 1]) } == .closed)
    #expect(await asyncCode { try await store.write {} } == .closed)
    #expect(await asyncCode { try await store.read {} } == .closed)
    #expect(await asyncCode { try await store.flush() } == .closed)
    #expect(await asyncCode { _ = try await store.verify() } == .closed)
    #expect(await asyncCode { try await store.compact() } == .closed)
    #expect(await asyncCode { for try await _ in store["a"].find().stream() {} } == .closed)
  }

  @Test("A reopened file contains the same documents, and reopening an open store does nothing")
  func reopen() throws {
    let scratch = try Scratch()
    let store = try Store.file(scratch.file("a.db"))
    try store["a"].save(["n": 1], key: "k")
    try store.reopen()
    try store.close()
    #expect(try scratch.names == ["a.db"])
    try store.reopen()
    #expect(try store["a"].get("k")?["n"] == 1)
    try store.close()
    try FileManager.default.removeItem(atPath: scratch.file("a.db"))
    _ = try scratch.write(Array("no database".utf8), "a.db")
    #expect(code { try store.reopen() } == .notADatabase)
    #expect(store.isClosed)
  }

  @Test(
    "Closing the store in a loop over a stream ends the loop with .closed", .sqlite,
    .timeLimit(.minutes(10)))
  func closeInStream() async throws {
    let scratch = try Scratch()
    let store = try Store.file(scratch.file("a.db"))
    try await store["a"].insert((0..<1000).map { ["n": .int($0)] })
    // Its thread waits with a connection.
    let other = store["a"].find().stream().makeAsyncIterator()
    #expect(try await other.next() != nil)
    var count = 0
    let failure = await asyncCode {
      for try await _ in store["a"].find().stream() {
        count += 1
        try store.close()
      }
    }
    #expect(failure == .closed)
    #expect(count > 0 && count < 1000)
    #expect(store.isClosed)
    #expect(await asyncCode { while try await other.next() != nil {} } == .closed)
    #expect(try await other.next() == nil)
    try store.reopen()
    #expect(try await store["a"].count() == 1000)
  }

  @Test("A store cannot be closed inside a block that uses it", arguments: [false, true])
  func closeInBlock(inFile: Bool) throws {
    let scratch = try Scratch()
    let store = try Store(inFile ? .file(scratch.file("a.db")) : .memory)
    try store["a"].save(["n": 1], key: "k")
    try store.read { #expect(code { try store.close() } == .invalidArgument) }
    try store.write { #expect(code { try store.close() } == .invalidArgument) }
    try store["a"].find().each { _ in
      #expect(code { try store.close() } == .invalidArgument)
    }
    #expect(try store["a"].count() == 1)
    try store.close()
  }

  @Test("Closing leaves no call waiting for a reader, however many there are", .sqlite)
  func closeWhileWaiting() async throws {
    let scratch = try Scratch()
    var configuration = SQLiteConfiguration()
    configuration.maximumReaders = 1
    for round in 0..<60 {
      let store = try Store(.file(scratch.file("\(round).db")), engine: configuration)
      try await store["a"].insert((0..<20).map { ["n": .int($0)] })
      let calls = DispatchGroup()
      for _ in 0..<12 {
        calls.enter()
        Thread.detachNewThread {
          let failure = code { for _ in 0..<20 { _ = try store["a"].fetch() } }
          #expect(failure == nil || failure == .closed)
          calls.leave()
        }
      }
      usleep(UInt32(round * 40))
      try store.close()
      await withCheckedContinuation { done in
        calls.notify(queue: .global()) { done.resume() }
      }
    }
  }

  @Test(
    "Closing waits for running calls, and waiting calls fail with .closed",
    arguments: [false, true])
  func closeWhileUsed(inFile: Bool) async throws {
    let scratch = try Scratch()
    let store = try Store(inFile ? .file(scratch.file("a.db")) : .memory)
    try await store["a"].insert((0..<100).map { ["n": .int($0)] })
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<60 {
        group.addTask {
          let failure = await asyncCode {
            if index % 3 == 0 {
              _ = try await store["a"].insert(["n": 1])
            } else {
              #expect(try await store["a"].fetch().count >= 100)
            }
          }
          #expect(failure == nil || failure == .closed)
        }
      }
      group.addTask { #expect(throws: Never.self) { try store.close() } }
    }
    #expect(store.isClosed)
    try store.reopen()
    #expect(try await store.verify().isEmpty)
  }
}
