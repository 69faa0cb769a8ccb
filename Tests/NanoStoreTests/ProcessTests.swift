// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Several processes on one file", .sqlite)
struct ProcessTests {
  let scratch: Scratch
  let path: String
  let other: HelperProcess

  init() throws {
    scratch = try Scratch()
    path = scratch.file("a.db")
    other = try HelperProcess()
  }

  @Test("A lock held past the busy timeout throws, and readers and the store stay usable")
  func locked() throws {
    let store = try Store.file(path) { $0.busyTimeout = .seconds(0.05) }
    try store["a"].save(["n": 1], key: "k")
    #expect(try other.send("open", path) == "ok")
    #expect(try other.send("hold", "a") == "ok held")

    #expect(code { try store["a"].save(["n": 2], key: "k") } == .locked)
    #expect(code { try store.write {} } == .locked)
    #expect(try store["a"].get("k")?["n"] == 1)
    #expect(try store["a"].get("held") == nil)

    #expect(try other.send("go on") == "ok")
    try store["a"].save(["n": 2], key: "k")
    #expect(try store["a"].get("held")?["held"] == true)
  }

  @Test("Async writes on a locked file all fail with .locked and can be retried")
  func lockedTogether() async throws {
    let store = try Store.file(path) { $0.busyTimeout = .seconds(0.05) }
    try await store["a"].save(["n": 1], key: "k")
    try other.send("open", path)
    try other.send("hold", "a")
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<10 {
        group.addTask {
          let failure = await asyncCode { try await store["a"].save(["n": 2], key: "k\(index)") }
          #expect(failure == .locked)
        }
      }
    }
    try other.send("go on")
    try await store["a"].save(["n": 2], key: "k0")
    #expect(try await store["a"].count() == 3)
  }

  @Test("Changes of another process are visible, and row IDs never collide")
  func alternating() throws {
    let store = try Store.file(path)
    try other.send("open", path)
    var ids: [Int64] = []
    for round in 0..<20 as Range<Int64> {
      ids.append(try #require(try store["a"].insert(["n": .int(round)]).rowID))
      let reply = try other.send("insert", "a", "{\"n\":\(round)}")
      ids.append(try #require(Int64(reply.dropFirst(3))))
      #expect(try store["a"].count() == ids.count)
      #expect(try other.send("count", "a", "[n] = \(round)") == "ok 2")
    }
    #expect(ids == ids.sorted() && Set(ids).count == ids.count)

    #expect(try other.send("index", "a", "n") == "ok")
    #expect(try store["a"].find(Field("n") == 7).explain().indexes == ["n"])
    #expect(try store["a"].find(Field("n") == 7).count() == 2)
    try store["a"].dropIndex("n")
    #expect(try other.send("indexes", "a") == "ok")
    #expect(try other.send("count", "a", "[n] = 7") == "ok 2")

    #expect(try other.send("save", "b", "k", "{\"n\":1}") == "ok")
    #expect(try store["b"].get("k")?["n"] == 1)
    #expect(try store["b"].drop())
    #expect(try other.send("count", "b", "") == "ok 0")
    #expect(try other.send("get", "b", "k") == "ok nil")
    #expect(try store.verify().isEmpty)
  }

  @Test("The row ID of a document deleted by another process is not reused")
  func removedRowIDs() throws {
    let store = try Store.file(path)
    try store["a"].save(["n": 1], key: "x")
    try other.send("open", path)
    #expect(try other.send("remove", "a", "x") == "ok true")
    #expect(try store["a"].save(["n": 2], key: "y").rowID == 2)
  }

  @Test("A field that becomes an array in another process is still found")
  func newList() throws {
    let store = try Store.file(path)
    try store["a"].save(["tag": "x"], key: "1")
    try store["a"].createIndex("tag", elements: false)
    let query = store["a"].find(Field("tag") == "x")
    #expect(try query.count() == 1)
    #expect(try query.explain().indexes == ["tag"])
    try other.send("open", path)

    #expect(try other.send("save", "a", "2", "{\"tag\":[\"x\",\"y\"]}") == "ok")

    #expect(try query.keys() == ["1", "2"])
    #expect(try store.read { try query.count() } == 2)
    #expect(try store.write { try query.count() } == 2)
  }

  @Test("A collection that another process dropped and recreated is not mistaken for the old one")
  func recreated() throws {
    let store = try Store.file(path)
    try store["a"].save(["tag": "x"], key: "1")
    try store["a"].createIndex("tag", elements: false)
    let query = store["a"].find(Field("tag") == "x")
    #expect(try query.count() == 1)
    try other.send("open", path)

    #expect(try other.send("drop", "a") == "ok true")
    try other.send("save", "a", "1", "{\"tag\":[\"x\"]}")
    try other.send("index", "a", "tag")

    #expect(try query.keys() == ["1"])
    #expect(try store["a"].observedPaths().map(\.path) == ["tag", "tag[]"])
  }

  @Test("A process killed during writes leaves only complete transactions", arguments: 1...3)
  func killed(attempt: Int) throws {
    let store = try Store.file(path)
    try store["a"].createIndex("tags", elements: true)
    try store.close()
    try other.send("open", path)
    try other.write("flood\ta")
    for _ in 0..<(attempt * 3) {
      let reply = try other.readReply()
      try #require(reply.hasPrefix("ok"), "\(reply)")
    }
    other.kill()

    try store.reopen()
    let count = try store["a"].count()
    #expect(count >= attempt * 300)
    #expect(count % 100 == 0)
    #expect(try store["a"].find(Field("tags") == "a").count() == count)
    #expect(try store.verify().isEmpty)
    #expect(try store["a"].insert(["n": 1]).rowID == Int64(count + 1))
  }
}
