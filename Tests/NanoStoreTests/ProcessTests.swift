// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@Suite("Several processes on one file")
struct ProcessTests {
  let scratch: Scratch
  let path: String
  let other: OtherProcess

  init() throws {
    scratch = try Scratch()
    path = scratch.file("a.db")
    other = try OtherProcess()
  }

  @Test("A lock held past the busy timeout is an error; readers go on, and so does the store")
  func locked() throws {
    let store = try Store.file(path) { $0.busyTimeout = 0.05 }
    try store["a"].save(["n": 1], key: "k")
    #expect(try other.ask("open", path) == "ok")
    #expect(try other.ask("hold", "a") == "ok held")

    #expect(code { try store["a"].save(["n": 2], key: "k") } == .locked)
    #expect(code { try store.write {} } == .locked)
    #expect(try store["a"].get("k")?["n"] == 1)
    #expect(try store["a"].get("held") == nil)

    #expect(try other.ask("go on") == "ok")
    try store["a"].save(["n": 2], key: "k")
    #expect(try store["a"].get("held")?["held"] == true)
  }

  @Test("Async writes that find the file locked all fail alike and can be tried again")
  func lockedTogether() async throws {
    let store = try Store.file(path) { $0.busyTimeout = 0.05 }
    try await store["a"].save(["n": 1], key: "k")
    try other.ask("open", path)
    try other.ask("hold", "a")
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<10 {
        group.addTask {
          let failure = await asyncCode { try await store["a"].save(["n": 2], key: "k\(index)") }
          #expect(failure == .locked)
        }
      }
    }
    try other.ask("go on")
    try await store["a"].save(["n": 2], key: "k0")
    #expect(try await store["a"].count() == 3)
  }

  @Test("Documents, collections and indexes of the other are seen, and row ids never collide")
  func alternating() throws {
    let store = try Store.file(path)
    try other.ask("open", path)
    var ids: [Int64] = []
    for round in 0..<20 as Range<Int64> {
      ids.append(try #require(try store["a"].insert(["n": .int(round)]).rowID))
      let answer = try other.ask("insert", "a", "{\"n\":\(round)}")
      ids.append(try #require(Int64(answer.dropFirst(3))))
      #expect(try store["a"].count() == ids.count)
      #expect(try other.ask("count", "a", "[n] = \(round)") == "ok 2")
    }
    #expect(ids == ids.sorted() && Set(ids).count == ids.count)

    #expect(try other.ask("index", "a", "n") == "ok")
    #expect(try store["a"].find(Field("n") == 7).explain().indexes == ["n"])
    #expect(try store["a"].find(Field("n") == 7).count() == 2)
    try store["a"].dropIndex("n")
    #expect(try other.ask("indexes", "a") == "ok")
    #expect(try other.ask("count", "a", "[n] = 7") == "ok 2")

    #expect(try other.ask("save", "b", "k", "{\"n\":1}") == "ok")
    #expect(try store["b"].get("k")?["n"] == 1)
    #expect(try store["b"].drop())
    #expect(try other.ask("count", "b", "") == "ok 0")
    #expect(try other.ask("get", "b", "k") == "ok nil")
    #expect(try store.verify().isEmpty)
  }

  @Test("A row id that the other process removed is not used again")
  func removedRowIDs() throws {
    let store = try Store.file(path)
    try store["a"].save(["n": 1], key: "x")
    try other.ask("open", path)
    #expect(try other.ask("remove", "a", "x") == "ok true")
    #expect(try store["a"].save(["n": 2], key: "y").rowID == 2)
  }

  @Test("A field that becomes a list in the other process is found here all the same")
  func newList() throws {
    let store = try Store.file(path)
    try store["a"].save(["tag": "x"], key: "1")
    try store["a"].createIndex("tag", elements: false)
    let query = store["a"].find(Field("tag") == "x")
    #expect(try query.count() == 1)
    #expect(try query.explain().indexes == ["tag"])
    try other.ask("open", path)

    #expect(try other.ask("save", "a", "2", "{\"tag\":[\"x\",\"y\"]}") == "ok")

    #expect(try query.keys() == ["1", "2"])
    #expect(try store.read { try query.count() } == 2)
    #expect(try store.write { try query.count() } == 2)
  }

  @Test("A collection dropped and made again elsewhere is not taken for the old one")
  func remade() throws {
    let store = try Store.file(path)
    try store["a"].save(["tag": "x"], key: "1")
    try store["a"].createIndex("tag", elements: false)
    let query = store["a"].find(Field("tag") == "x")
    #expect(try query.count() == 1)
    try other.ask("open", path)

    #expect(try other.ask("drop", "a") == "ok true")
    try other.ask("save", "a", "1", "{\"tag\":[\"x\"]}")
    try other.ask("index", "a", "tag")

    #expect(try query.keys() == ["1"])
    #expect(try store["a"].observedPaths().map(\.path) == ["tag", "tag[]"])
  }

  @Test("A process killed while it writes leaves whole transactions", arguments: 1...3)
  func killed(attempt: Int) throws {
    let store = try Store.file(path)
    try store["a"].createIndex("tags", elements: true)
    try store.close()
    try other.ask("open", path)
    try other.tell("flood\ta")
    for _ in 0..<(attempt * 3) {
      let answer = try other.answer()
      try #require(answer.hasPrefix("ok"), "\(answer)")
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
