// SPDX-License-Identifier: MIT

import NanoStore
import Testing

/// Two stores on one file, each with a connection of its own that writes, as two processes have.
@Suite("Two writers on one file")
struct TwoWritersTests {
  let scratch: Scratch
  let one: Store
  let two: Store

  init() throws {
    scratch = try Scratch()
    one = try Store.file(scratch.file("a.db"))
    two = try Store.file(scratch.file("a.db"))
  }

  /// One knows the collection, two changes it, one writes elsewhere in between.
  private func between(_ change: (DocumentCollection) throws -> Void) throws {
    try one["a"].save(["text": "old"], key: "first")
    try change(two["a"])
    try one["b"].save(["n": 1], key: "k")
  }

  @Test("A text index of the other is kept, also after a transaction about something else")
  func textIndex() throws {
    try between { try $0.createTextIndex("text", name: "words") }

    try one["a"].save(["text": "gin"], key: "second")
    #expect(try two["a"].search("gin").keys() == ["second"])
    #expect(try one.verify() == [])

    try two["a"].dropIndex("words")
    try one["b"].save(["n": 2], key: "k")
    try one["a"].save(["text": "tonic"], key: "third")
    #expect(try two["a"].count() == 3)
    #expect(try two.verify() == [])
  }

  @Test("The index of everything of the other is kept")
  func everything() throws {
    try between { try $0.setIndexing(.everything) }

    try one["a"].save(["text": "gin"], key: "second")
    #expect(try Search(match: .equalTo, value: "gin").keys(in: two["a"]) == ["second"])
    #expect(try one.verify() == [])

    try two["a"].setIndexing(.declared)
    try one["b"].save(["n": 2], key: "k")
    try one["a"].save(["text": "tonic"], key: "third")
    #expect(try two.verify() == [])
  }

  @Test("Row ids that the other gave are not given again")
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
