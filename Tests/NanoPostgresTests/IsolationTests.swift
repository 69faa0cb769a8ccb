// SPDX-License-Identifier: MIT

import NanoServerSupport
import NanoStorePostgres
import Testing

/// The histories are those of Hermitage (https://github.com/ept/hermitage), with the names of its anomalies.
@Suite("Isolation of write blocks", .postgres)
struct IsolationTests {
  private func run(_ isolation: Isolation, isKnown: Bool) throws -> Interleaving {
    try Interleaving(2, isolation, isKnown: isKnown) { store in
      try store["items"].save(["n": 10], key: "a")
      try store["items"].save(["n": 20], key: "b")
    }
  }

  /// Calls that write the document with the key `a`.
  enum Write: CaseIterable, Sendable {
    case save, saveSeveral, replace, replaceByRowID, update, updateByQuery, apply, delete,
      deleteByQuery, insert

    func run(_ items: DocumentCollection, _ number: Int64) throws {
      let object: DocumentObject = ["n": .int(number)]
      switch self {
      case .save: try items.save(object, key: "a")
      case .saveSeveral:
        _ = try items.save([
          Document(object, key: "a"), Document(object, key: "c"),
        ])
      case .replace: try items.replace(Document(object, key: "a"))
      case .replaceByRowID: try items.update(rowID: 1, set: ["n": .int(number)])
      case .update: try items.update("a", set: ["n": .int(number)])
      case .updateByQuery: try items.find("[n] = 10 OR [n] = 1").update(set: ["n": .int(number)])
      case .apply: try items.apply([.save(object, key: "a")])
      case .delete: try items.delete("a")
      case .deleteByQuery: try items.find("[n] = 10 OR [n] = 1").delete()
      case .insert: _ = try? items.insert(object, key: "a")
      }
    }
  }

  @Test(
    "A write waits for an uncommitted write of the same document (G0)",
    arguments: Isolation.allCases, Write.allCases)
  func dirtyWrite(isolation: Isolation, write: Write) throws {
    for isKnown in [true, false] {
      let run = try run(isolation, isKnown: isKnown)
      defer { run.end() }
      try run[0].step { try $0["items"].save(["n": 1], key: "a") }

      let second = try run[1].start { try write.run($0["items"], 2) }
      #expect(second.isBlocked)
      try run[0].step { try $0["items"].save(["n": 1], key: "b") }
      #expect(try run[0].commit() == nil)
      try second.value()
      try run[1].step { try $0["items"].save(["n": 2], key: "b") }
      #expect(try run[1].commit() == nil)

      let a = try run.number("a")
      switch write {
      case .delete, .deleteByQuery: #expect(a == nil)
      case .insert: #expect(a == 1)
      default: #expect(a == 2)
      }
      #expect(try run.number("b") == 2)
    }
  }

  @Test(
    "A rolled back write is never read (G1a)", arguments: Isolation.allCases, Reading.allCases)
  func abortedRead(isolation: Isolation, reading: Reading) throws {
    for isKnown in [true, false] {
      let run = try run(isolation, isKnown: isKnown)
      defer { run.end() }
      try run[0].step { try $0["items"].save(["n": 101], key: "a") }

      let read = try run[1].start { try reading.number("a", $0["items"]) }
      #expect(read.isBlocked == (isolation == .serializable))
      #expect(try run.number("a") == 10)
      try run[0].rollBack()
      #expect(try read.value() == 10)
      #expect(try run[1].step { try reading.number("a", $0["items"]) } == 10)
      #expect(try run[1].commit() == nil)
    }
  }

  @Test(
    "An intermediate value of a transaction is never read (G1b)", arguments: Isolation.allCases,
    Reading.allCases)
  func intermediateRead(isolation: Isolation, reading: Reading) throws {
    for isKnown in [true, false] {
      let run = try run(isolation, isKnown: isKnown)
      defer { run.end() }
      try run[0].step { try $0["items"].save(["n": 101], key: "a") }

      let read = try run[1].start { try reading.number("a", $0["items"]) }
      #expect(read.isBlocked == (isolation == .serializable))
      #expect(try run.number("a") == 10)
      try run[0].step { try $0["items"].save(["n": 11], key: "a") }
      #expect(try run[0].commit() == nil)
      #expect(try read.value() == (isolation == .serializable ? 11 : 10))
      #expect(try run[1].step { try reading.number("a", $0["items"]) } == 11)
      #expect(try run[1].commit() == nil)
    }
  }

  @Test("Two transactions do not read each other's writes (G1c)", arguments: Isolation.allCases)
  func circularInformation(isolation: Isolation) throws {
    for isKnown in [true, false] {
      let run = try run(isolation, isKnown: isKnown)
      defer { run.end() }
      try run[0].step { try $0["items"].save(["n": 11], key: "a") }
      try run[1].step { try $0["items"].save(["n": 22], key: "b") }

      let first = try run[0].start { try $0["items"].get("b")?["n"]?.int }
      let second = try run[1].start { try $0["items"].get("a")?["n"]?.int }
      let errors = try [run[0].commit(), run[1].commit()].compactMap(\.self)

      switch isolation {
      case .readCommitted:
        #expect(errors.isEmpty)
        #expect(try first.value() == 20)
        #expect(try second.value() == 10)
      case .serializable:
        // Each waits for the other one, and the server rolls one of them back.
        #expect(errors.map(\.isRetryable) == [true])
        let values = try [run.number("a"), run.number("b")]
        #expect(values == [11, 20] || values == [10, 22])
      }
    }
  }

  @Test(
    "What a serializable block has read does not change (P2, read skew)",
    arguments: Reading.allCases)
  func repeatableRead(reading: Reading) throws {
    for isKnown in [true, false] {
      let run = try run(.serializable, isKnown: isKnown)
      defer { run.end() }
      #expect(try run[0].step { try reading.number("a", $0["items"]) } == 10)

      let write = try run[1].start { store in
        try store["items"].save(["n": 12], key: "a")
        try store["items"].save(["n": 18], key: "b")
      }
      #expect(write.isBlocked)
      #expect(try run[0].step { try reading.number("b", $0["items"]) } == 20)
      #expect(try run[0].step { try reading.number("a", $0["items"]) } == 10)
      #expect(try run[0].commit() == nil)
      try write.value()
      #expect(try run[1].commit() == nil)
      #expect(try [run.number("a"), run.number("b")] == [12, 18])
    }
  }

  @Test(
    "A read-committed block sees what others commit between its reads", arguments: Reading.allCases)
  func nonrepeatableRead(reading: Reading) throws {
    for isKnown in [true, false] {
      let run = try run(.readCommitted, isKnown: isKnown)
      defer { run.end() }
      #expect(try run[0].step { try reading.number("a", $0["items"]) } == 10)

      try run[1].step { store in
        try store["items"].save(["n": 12], key: "a")
        try store["items"].save(["n": 18], key: "b")
      }
      #expect(try run[0].step { try reading.number("b", $0["items"]) } == 20)
      #expect(try run[1].commit() == nil)
      #expect(try run[0].step { try reading.number("b", $0["items"]) } == 18)
      #expect(try run[0].step { try reading.number("a", $0["items"]) } == 12)
      #expect(try run[0].commit() == nil)
    }
  }

  @Test(
    "A read block sees one snapshot, and neither waits nor makes others wait",
    arguments: Reading.allCases)
  func snapshot(reading: Reading) throws {
    for isKnown in [true, false] {
      let run = try run(.serializable, isKnown: isKnown)
      defer { run.end() }
      try run[0].step { try $0["items"].save(["n": 12], key: "a") }
      try run.observer.read {
        let items = run.observer["items"]
        #expect(try reading.number("a", items) == 10)
        try run[0].step { try $0["items"].save(["n": 18], key: "b") }
        #expect(try run[0].commit() == nil)
        #expect(try reading.number("b", items) == 20)
        #expect(try reading.number("a", items) == 10)
      }
      #expect(try [run.number("a"), run.number("b")] == [12, 18])
    }
  }
}

/// Calls that read the number of a document.
enum Reading: CaseIterable, Sendable {
  case get, getSeveral, getByRowID, query, values

  func number(_ key: String, _ items: DocumentCollection) throws -> Int? {
    switch self {
    case .get: try items.get(key)?["n"]?.int
    case .getSeveral: try items.get(keys: [key]).first?["n"]?.int
    case .getByRowID: try items.get(rowID: key == "a" ? 1 : 2)?["n"]?.int
    case .query: try items.find(.key(.equalTo, key)).first()?["n"]?.int
    case .values: try items.find(.key(.equalTo, key)).aggregate([.sum("n")]).first?.int
    }
  }
}

extension Interleaving {
  /// Returns the committed number of a document.
  func number(_ key: String) throws -> Int? { try observer["items"].get(key)?["n"]?.int }
}
