// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Large batches")
struct LargeBatchTests {
  private let store: Store
  private let people: DocumentCollection

  init() throws {
    store = try anyStore()
    people = store["people"]
  }

  private func documents(
    _ count: Int, _ change: (Int) -> DocumentObject? = { _ in nil }
  ) throws -> [Document] {
    try (0..<count).map { n in
      try Document(change(n) ?? ["n": .int(Int64(n))], key: "k\(n)")
    }
  }

  @Test(
    "Each document has the row ID that was returned for it", arguments: [59, 60, 61, 80, 81, 1234])
  func rowIDs(count: Int) throws {
    let ids = try people.insert(documents(count))

    #expect(ids == Array(1...Int64(count)))
    for n in [0, count / 2, count - 1] {
      #expect(try people.get(rowID: ids[n])?["n"] == .int(Int64(n)))
      #expect(try people.get("k\(n)")?.rowID == ids[n])
    }
    #expect(try store.verify().isEmpty)
  }

  @Test("The row ID of a deleted document is not reused")
  func highWater() throws {
    try people.insert(documents(100))
    try people.deleteAll()

    let ids = try people.insert(documents(200))

    #expect(ids == Array(101...300))
  }

  @Test("A batch can mix documents with and without keys, with types, and of any size")
  func mixed() throws {
    let long = String(repeating: "x", count: 300_000)
    let objects = (0..<200).map { n -> DocumentObject in
      n % 50 == 7 ? ["n": .int(Int64(n)), "text": .string(long)] : ["n": .int(Int64(n))]
    }
    let documents = try objects.enumerated().map { n, object in
      try Document(object, key: n % 3 == 0 ? "k\(n)" : nil, type: n % 70 == 0 ? "Special" : nil)
    }

    try people.insert(documents)

    let stored = try people.fetch()
    #expect(stored.map { $0["n"] } == objects.map { $0["n"] })
    #expect(stored.map(\.type) == documents.map(\.type))
    #expect(stored[157]["text"]?.string?.utf8.count == 300_000)
    #expect(try store.verify().isEmpty)
  }

  @Test(
    "A rejected document is named, and nothing is stored", arguments: [61, 79, 150, 199])
  func rejected(at n: Int) throws {
    var batch = try documents(200)
    batch[n] = try Document(["again": true], key: "k13")

    let error = error { try people.insert(batch) }

    #expect(error?.code == .duplicateKey)
    #expect(error?[.key] == "k13")
    #expect(error?[.position] == "document \(n + 1) of the batch")
    #expect(try people.count() == 0)
  }

  @Test("After a rejected batch, the transaction continues without it")
  func insideTransaction() throws {
    try store.write {
      try people.insert(["n": -1], key: "before")
      #expect(
        code { try people.insert(documents(150) + documents(1)) } == .duplicateKey)
      #expect(try people.count() == 1)
      try people.insert(documents(150))
    }

    #expect(try people.count() == 151)
    #expect(try people.observedPaths().map(\.path.description) == ["n"])
    #expect(try store.verify().isEmpty)
  }

  @Test("Of two errors, the one of the earlier document is reported")
  func firstError() throws {
    let late = Date.distantFuture.addingTimeInterval(1e12)
    var batch = try documents(200)
    batch[170] = try Document([:], key: "k3")
    batch[175] = try Document(["d": .date(late)], key: "late")

    let error = error { try people.insert(batch) }

    #expect(error?.code == .duplicateKey)
    #expect(error?[.position] == "document 171 of the batch")
  }

  @Test("Code that runs during a batch sees the documents before it")
  func visible() throws {
    let people = people
    let objects = (0..<150).lazy.map { n -> DocumentObject in
      ["n": .int(Int64(n)), "before": .int(Int64((try? people.count()) ?? -1))]
    }

    try people.insert(objects)

    #expect(try people.fetch().allSatisfy { $0["n"] == $0["before"] })
  }

  @Test("A document that is rejected when other code reads the collection fails the batch")
  func rejectedDuringRead() throws {
    struct ReadingDocument: DocumentRepresentable {
      let n: Int
      let people: DocumentCollection
      func write(to writer: inout JSONWriter) {
        if n == 133 { _ = try? people.count() }
        // Documents 1 and 130 have the same value in a unique field.
        writer.literal(#"{"n":"#)
        writer.integer(Int64(n == 130 ? 1 : n))
        writer.literal("}")
      }
      init(n: Int, people: DocumentCollection) { (self.n, self.people) = (n, people) }
      init(reading reader: inout JSONReader) throws(StoreError) {
        throw reader.missingField("people")
      }
    }
    try people.createIndex("n", unique: true)

    let error = error {
      try people.insert((0..<200).map { ReadingDocument(n: $0, people: people) })
    }

    #expect(error?.code == .uniqueViolation)
    #expect(error?[.position] == "document 131 of the batch")
    #expect(try people.count() == 0)
  }

  @Test("A nested batch is written before the documents that follow")
  func nested() throws {
    let (people, store) = (people, store)
    let objects = (0..<150).lazy.map { n -> DocumentObject in
      if n == 100 { _ = try? store["others"].insert((0..<90).map { ["m": .int($0)] }) }
      if n == 110 { _ = try? people.insert(["n": -1], key: "between") }
      return ["n": .int(Int64(n))]
    }

    let ids = try people.insert(objects)

    #expect(try people.get("between")?.rowID == 111)
    #expect(ids == Array(1...110) + Array(112...151))
    #expect(try store["others"].count() == 90)
    #expect(try store.verify().isEmpty)
  }

  @Test(
    "A custom trigger works for a batch as it does for single documents", .sqlite,
    arguments: ["", "TEMP"])
  func triggers(_ kind: String) throws {
    try people.insert(["n": -1])
    try store.execute(
      """
      CREATE \(kind) TRIGGER mine AFTER INSERT ON people WHEN NEW.id % 10 = 0
      BEGIN INSERT INTO people(body) VALUES ('{"mine":true}'); END
      """)

    let ids = try people.insert(documents(150))

    for (n, id) in ids.enumerated() {
      #expect(try people.get(rowID: id)?["n"] == .int(Int64(n)))
    }
  }

  @Test("The fields of a rejected document do not count toward the limit of known fields")
  func rejectedMap() throws {
    try people.insert(["n": 1], key: "k")
    var map = DocumentObject()
    for number in 0..<1_100 { map["u\(number)"] = .int(1) }

    try store.write {
      #expect(code { try people.insert(map, key: "k") } == .duplicateKey)
      try people.insert(["tags": ["a", "b"]], key: "l")
    }
    try people.createIndex("tags")

    #expect(try people.observedPaths().map(\.path) == ["n", "tags", "tags[]"])
    #expect(try people.find(Field("tags").contains("b")).keys() == ["l"])
    #expect(try store.verify().isEmpty)
  }

  @Test("A document that a custom trigger keeps despite its error is found by its fields", .sqlite)
  func keepingTrigger() throws {
    try people.insert(["n": -1])
    try store.execute(
      "CREATE TRIGGER mine AFTER INSERT ON people BEGIN SELECT RAISE(FAIL, 'no'); END")

    try store.write {
      #expect(throws: StoreError.self) { try people.insert(["n": 1, "tags": ["kept"]]) }
    }

    #expect(try people.count() == 2)
    #expect(try people.observedPaths().map(\.path) == ["n", "tags", "tags[]"])
    #expect(try people.find(Field("tags").contains("kept")).count() == 1)
    #expect(try store.verify().isEmpty)
  }
}
