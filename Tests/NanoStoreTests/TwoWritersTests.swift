// SPDX-License-Identifier: MIT

import NanoStore
import NanoTestSupport
import Testing

/// Two stores on one file, each with a separate writing connection, like two processes.
@Suite("Two writers on one file", .sqlite)
struct TwoWritersTests {
  let scratch: Scratch
  let one: Store
  let two: Store

  init() throws {
    scratch = try Scratch()
    one = try Store.file(scratch.file("a.db"))
    two = try Store.file(scratch.file("a.db"))
  }

  /// Changes a collection in the second store between two writes of the first store, which has it cached.
  private func betweenWrites(_ change: (DocumentCollection) throws -> Void) throws {
    try one["a"].save(["text": "old"], key: "first")
    try change(two["a"])
    try one["b"].save(["n": 1], key: "k")
  }

  @Test(
    "A text index created by the other store is maintained, even after an unrelated transaction")
  func textIndex() throws {
    try betweenWrites { try $0.createFullTextIndex("text", name: "words") }

    try one["a"].save(["text": "gin"], key: "second")
    #expect(try two["a"].search("gin").keys() == ["second"])
    #expect(try one.verify() == [])

    try two["a"].dropIndex("words")
    try one["b"].save(["n": 2], key: "k")
    try one["a"].save(["text": "tonic"], key: "third")
    #expect(try two["a"].count() == 3)
    #expect(try two.verify() == [])
  }

  @Test("Full indexing enabled by the other store is maintained")
  func everything() throws {
    try betweenWrites { try $0.setIndexing(.everything) }

    try one["a"].save(["text": "gin"], key: "second")
    #expect(try Search(match: .equalTo, value: "gin").keys(in: two["a"]) == ["second"])
    #expect(try one.verify() == [])

    try two["a"].setIndexing(.declared)
    try one["b"].save(["n": 2], key: "k")
    try one["a"].save(["text": "tonic"], key: "third")
    #expect(try two.verify() == [])
  }

  @Test("Row IDs assigned by the other store are not reused")
  func rowIDs() throws {
    try one["a"].save([:], key: "first")
    try one["a"].delete("first")
    try two["a"].save([:], key: "second")
    try one["b"].save(["n": 1], key: "k")

    let third = try one["a"].save([:], key: "third")

    #expect(third.rowID == 3)
    #expect(try two["a"].find().keys() == ["second", "third"])
  }
}
