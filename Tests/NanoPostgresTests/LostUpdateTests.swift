// SPDX-License-Identifier: MIT

import NanoServerSupport
import NanoStorePostgres
import Testing

@Suite("Lost updates", .postgres)
struct LostUpdateTests {
  private func run(_ isolation: Isolation, isKnown: Bool) throws -> Interleaving {
    try Interleaving(2, isolation, isKnown: isKnown) { store in
      try store["items"].save(["n": 0], key: "a")
      try store["items"].save(["n": 0], key: "b")
    }
  }

  /// Calls that replace the document with the key `a`.
  enum Writing: CaseIterable, Sendable {
    case save, replace, updateByRowID

    func write(_ number: Int, _ items: DocumentCollection) throws {
      let object: DocumentObject = ["n": .int(Int64(number))]
      switch self {
      case .save: try items.save(object, key: "a")
      case .replace: try items.replace(Document(object, key: "a"))
      case .updateByRowID: try items.update(rowID: 1, set: ["n": .int(Int64(number))])
      }
    }
  }

  @Test(
    "Two serializable blocks increment a number twice", arguments: Reading.allCases,
    Writing.allCases)
  func serializable(reading: Reading, writing: Writing) throws {
    for isKnown in [true, false] {
      let run = try run(.serializable, isKnown: isKnown)
      defer { run.end() }
      let first = try run[0].step { try reading.number("a", $0["items"]) } ?? -1

      let second = try run[1].start { try reading.number("a", $0["items"]) ?? -1 }
      #expect(second.isBlocked)
      try run[0].step { try writing.write(first + 1, $0["items"]) }
      #expect(try run[0].commit() == nil)
      let number = try second.value()
      #expect(number == 1)
      try run[1].step { try writing.write(number + 1, $0["items"]) }
      #expect(try run[1].commit() == nil)
      #expect(try run.number("a") == 2)
    }
  }

  @Test(
    "Of two read-committed blocks that increment a number, one is lost",
    arguments: Reading.allCases,
    Writing.allCases)
  func readCommitted(reading: Reading, writing: Writing) throws {
    for isKnown in [true, false] {
      let run = try run(.readCommitted, isKnown: isKnown)
      defer { run.end() }
      let numbers = try [0, 1].map { number in
        try run[number].step { try reading.number("a", $0["items"]) ?? -1 }
      }
      #expect(numbers == [0, 0])
      for number in [0, 1] {
        try run[number].step { try writing.write(numbers[number] + 1, $0["items"]) }
        #expect(try run[number].commit() == nil)
      }
      #expect(try run.number("a") == 1)
    }
  }

  @Test("A write with the revision that was read loses nothing in a read-committed block")
  func revision() throws {
    for isKnown in [true, false] {
      let run = try run(.readCommitted, isKnown: isKnown)
      defer { run.end() }
      let read = try [0, 1].map { try run[$0].step { try #require(try $0["items"].get("a")) } }
      let codes = try [0, 1].map { number in
        let code = try run[number].step { store in
          var document = read[number]
          document["n"] = 1
          return Faults.code {
            try store["items"].replace(document, ifRevision: document.revision)
          }
        }
        #expect(try run[number].commit() == nil)
        return code
      }
      #expect(codes == [nil, .revisionConflict])
      #expect(try run.number("a") == 1)
    }
  }

  /// Calls that change one field of the documents with the key `a`.
  enum Update: CaseIterable, Sendable {
    case byKey, byRowID, byQuery

    func set(_ path: FieldPath, _ items: DocumentCollection) throws {
      switch self {
      case .byKey: try items.update("a", set: [path: 1])
      case .byRowID: try items.update(rowID: 1, set: [path: 1])
      case .byQuery: #expect(try items.find("[n] = 0").update(set: [path: 1]) == 2)
      }
    }
  }

  @Test(
    "Concurrent updates of different fields lose none, with either isolation",
    arguments: Isolation.allCases, Update.allCases)
  func fields(isolation: Isolation, update: Update) throws {
    for isKnown in [true, false] {
      let run = try run(isolation, isKnown: isKnown)
      defer { run.end() }
      try run[0].step { try update.set("x", $0["items"]) }

      let second = try run[1].start { try update.set("y", $0["items"]) }
      #expect(second.isBlocked)
      #expect(try run[0].commit() == nil)
      try second.value()
      #expect(try run[1].commit() == nil)

      let document = try run.observer["items"].get("a")
      #expect(document?["x"] == 1)
      #expect(document?["y"] == 1)
    }
  }

  @Test(
    "A read-committed update of documents that another transaction deletes counts only the others")
  func updatedAfterDelete() throws {
    for isKnown in [true, false] {
      let run = try run(.readCommitted, isKnown: isKnown)
      defer { run.end() }
      try run[0].step { _ = try $0["items"].delete("a") }

      let update = try run[1].start { try $0["items"].find("[n] = 0").update(set: ["n": 1]) }
      #expect(update.isBlocked)
      #expect(try run[0].commit() == nil)
      #expect(try update.value() == 1)
      #expect(try run[1].commit() == nil)
      #expect(try run.number("a") == nil)
      #expect(try run.number("b") == 1)
    }
  }

  @Test(
    "A deletion by a query removes from bags what it deletes and nothing else, with either isolation",
    arguments: Isolation.allCases)
  func deletedFromBags(isolation: Isolation) throws {
    for isKnown in [true, false] {
      let run = try Interleaving(2, isolation, isKnown: isKnown) { store in
        let items = store["items"]
        let bag = try store.bag(named: "both")
        try bag.add(items.save(["n": 0], key: "a"))
        try bag.add(items.save(["n": 1], key: "b"))
        try bag.save()
      }
      defer { run.end() }
      try run[0].step {
        try $0["items"].update("a", set: ["n": 1])
        try $0["items"].update("b", set: ["n": 0])
      }

      let deletion = try run[1].start { try $0["items"].find("[n] = 0").delete() }
      #expect(deletion.isBlocked)
      #expect(try run[0].commit() == nil)
      #expect(try deletion.value() == 1)
      #expect(try run[1].commit() == nil)

      let bag = try #require(try run.observer.bags(named: "both").first)
      #expect(try run.number("a") == 1)
      #expect(try run.number("b") == nil)
      #expect(try bag.documents().map(\.key) == ["a"])
    }
  }
}
