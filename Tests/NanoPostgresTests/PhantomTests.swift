// SPDX-License-Identifier: MIT

import NanoServerSupport
import NanoStorePostgres
import Testing

@Suite("Phantoms", .postgres)
struct PhantomTests {
  private func run(_ isolation: Isolation, isKnown: Bool) throws -> Interleaving {
    try Interleaving(2, isolation, isKnown: isKnown) { store in
      try store["items"].createFullTextIndex("text")
      try store["items"].save(["n": 1, "text": "one"], key: "a")
      try store["items"].save(["n": 2, "text": "other"], key: "b")
    }
  }

  /// Calls that find the documents whose number is 1, whose text contains `one`, or whose key is `c`.
  enum Search: CaseIterable, Sendable {
    case missingKey, missingKeys, missingRowID, query, count, exists, values, aggregate, text,
      everything

    func count(_ items: DocumentCollection) throws -> Int {
      let ones = try items.find("[n] = 1")
      return switch self {
      case .missingKey: try items.get("c") == nil ? 1 : 2
      case .missingKeys: try items.get(keys: ["c", "a"]).count
      case .missingRowID: try items.get(rowID: 3) == nil ? 1 : 2
      case .query: try ones.fetch().count
      case .count: try ones.count()
      case .exists: try items.find("[n] = 1 AND [text] = 'one and one'").exists() ? 2 : 1
      case .values: try ones.distinct("text").count
      case .aggregate: try ones.aggregate([.sum("n")]).first?.int ?? 0
      case .text: try items.search("one").fetch().count
      case .everything: try items.count() - 1
      }
    }
  }

  /// Calls that store a document with the key `c` and the number 1.
  enum Insertion: CaseIterable, Sendable {
    case insert, insertSeveral, save, saveSeveral, apply

    func run(_ items: DocumentCollection) throws {
      let object: DocumentObject = ["n": 1, "text": "one and one"]
      let documents = try [Document(object, key: "c"), Document(["n": 3], key: "d")]
      switch self {
      case .insert: try items.insert(object, key: "c")
      case .insertSeveral: try items.insert(documents)
      case .save: try items.save(object, key: "c")
      case .saveSeveral: try items.save(documents)
      case .apply: try items.apply([.insert(object, key: "c")])
      }
    }
  }

  @Test(
    "What a serializable block did not find is not inserted by others", arguments: Search.allCases,
    Insertion.allCases)
  func serializable(search: Search, insertion: Insertion) throws {
    for isKnown in [true, false] {
      let run = try run(.serializable, isKnown: isKnown)
      defer { run.end() }
      #expect(try run[0].step { try search.count($0["items"]) } == 1)

      let insert = try run[1].start { try insertion.run($0["items"]) }
      #expect(insert.isBlocked)
      #expect(try run[0].step { try search.count($0["items"]) } == 1)
      try run[0].step { _ = try $0["items"].update("b", set: ["n": 5]) }
      #expect(try run[0].commit() == nil)
      try insert.value()
      #expect(try run[1].commit() == nil)
      #expect(try search.count(run.observer["items"]) >= 2)
    }
  }

  @Test(
    "A single call also waits for a block that did not find what it inserts",
    arguments: Search.allCases)
  func singleCall(search: Search) throws {
    for isKnown in [true, false] {
      let run = try run(.serializable, isKnown: isKnown)
      defer { run.end() }
      #expect(try run[0].step { try search.count($0["items"]) } == 1)

      let insert = try run[1].startAlone { try Insertion.insert.run($0["items"]) }
      #expect(insert.isBlocked)
      #expect(try run[0].step { try search.count($0["items"]) } == 1)
      #expect(try run[0].commit() == nil)
      try insert.value()
    }
  }

  @Test(
    "A read-committed block finds what others insert between its calls", arguments: Search.allCases)
  func readCommitted(search: Search) throws {
    for isKnown in [true, false] {
      let run = try run(.readCommitted, isKnown: isKnown)
      defer { run.end() }
      #expect(try run[0].step { try search.count($0["items"]) } == 1)
      try run[1].step { try Insertion.insert.run($0["items"]) }
      #expect(try run[0].step { try search.count($0["items"]) } == 1)
      #expect(try run[1].commit() == nil)
      #expect(try run[0].step { try search.count($0["items"]) } == 2)
      #expect(try run[0].commit() == nil)
    }
  }

  @Test("A document does not begin to match what a serializable block has counted")
  func updatedIntoMatch() throws {
    for isKnown in [true, false] {
      let run = try run(.serializable, isKnown: isKnown)
      defer { run.end() }
      #expect(try run[0].step { try $0["items"].find("[n] = 1").count() } == 1)

      let update = try run[1].start { _ = try $0["items"].update("b", set: ["n": 1]) }
      #expect(update.isBlocked)
      #expect(try run[0].step { try $0["items"].find("[n] = 1").count() } == 1)
      #expect(try run[0].commit() == nil)
      try update.value()
      #expect(try run[1].commit() == nil)
    }
  }

  @Test("A collection that a serializable block did not find is not created by others")
  func missingCollection() throws {
    let reads: [@Sendable (DocumentCollection) throws -> Int] = [
      { try $0.count() }, { try $0.get("c") == nil ? 0 : 1 }, { try $0.find("[n] = 1").count() },
      { try $0.get(rowID: 1) == nil ? 0 : 1 }, { try $0.get(keys: ["c"]).count },
    ]
    for read in reads {
      for isKnown in [true, false] {
        let run = try run(.serializable, isKnown: isKnown)
        defer { run.end() }
        if isKnown { for number in [0, 1] { _ = try run[number].store["none"].count() } }
        #expect(try run[0].step { try read($0["none"]) } == 0)

        let insert = try run[1].start { try $0["none"].insert(["n": 1], key: "c") }
        #expect(insert.isBlocked)
        #expect(try run[0].step { try read($0["none"]) } == 0)
        #expect(try run[0].commit() == nil)
        _ = try insert.value()
        #expect(try run[1].commit() == nil)
        #expect(try read(run.observer["none"]) == 1)
      }
    }
  }

  @Test("A read-committed block finds a collection that others create")
  func missingCollectionReadCommitted() throws {
    for isKnown in [true, false] {
      let run = try run(.readCommitted, isKnown: isKnown)
      defer { run.end() }
      #expect(try run[0].step { try $0["none"].get("c")?.key } == nil)
      try run.observer["none"].insert(["n": 1], key: "c")
      #expect(try run[0].step { try $0["none"].get("c")?.key } == "c")
      #expect(try run[0].step { try $0["none"].count() } == 1)
    }
  }

  @Test(
    "A read-committed query finds values of a type that the field had in no document when the block began"
  )
  func newTypes() throws {
    for isKnown in [true, false] {
      let run = try run(.readCommitted, isKnown: isKnown)
      defer { run.end() }
      #expect(try run[0].step { try $0["items"].find("[n] = 7").count() } == 0)
      try run.observer["items"].insert(["n": [7, 8]])
      try run.observer["items"].insert(["n": ["m": 1]])
      #expect(try run.observer["items"].find("[n] = 7").count() == 1)
      #expect(try run[0].step { try $0["items"].find("[n] = 7").count() } == 1)
      #expect(try run[0].step { try $0["items"].find("NOT ([n] = 7)").delete() } == 3)
      #expect(try run[0].commit() == nil)
    }
  }
}
