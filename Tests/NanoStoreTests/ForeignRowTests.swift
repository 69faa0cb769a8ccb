// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

/// Uses SQL to write rows the way other programs do.
@Suite("Rows of other programs", .sqlite, .timeLimit(.minutes(10)))
struct ForeignRowTests {
  private let scratch: Scratch
  private let store: Store

  init() throws {
    scratch = try Scratch()
    store = try Store.file(scratch.file("a.db"))
    try store["c"].insert(["n": 1], key: "first")
  }

  private func insertForeign(_ body: String, key: String? = nil) throws {
    try store.execute(
      "INSERT INTO c(key, body) VALUES (?, ?)", key.map { DocumentValue.string($0) } ?? .null, body)
  }

  private func setLargestRevision() throws {
    try Store.file(scratch.file("a.db")) { $0.allowsInternalWrites = true }.using {
      _ = try $0.execute("UPDATE c SET revision = \(Int64.max)")
    }
  }

  @Test("A row that could not be adopted is found by its fields after the store has changed it")
  func changedForeignRow() throws {
    let c = store["c"]
    try c.setIndexing(.everything)
    try store.execute("INSERT INTO c(id, body, added) VALUES (7, '{\"a\":1,\"b\":2}', 'today')")
    #expect(try c.find(Field("a") == 1).count() == 1)
    #expect(try c.get(rowID: 7)?.added == nil)

    try c.update(rowID: 7, set: ["b": 3])

    #expect(try c.find(Field("a") == 1).rowIDs() == [7])
    #expect(try c.find(Field("b") == 3).rowIDs() == [7])
    #expect(try c.get(rowID: 7)?.added == nil)
    #expect(try store.verify() == [])
  }

  @Test(
    "A row that cannot be adopted is found and changed by its key, in whatever form that was written",
    arguments: ["'0199a1b2-0000-7000-8000-000000000001'", "7"])
  func foreignKey(literal: String) throws {
    let c = store["c"]
    let key = literal.replacing("'", with: "")
    func insertStuck() throws {
      try store.execute("INSERT INTO c(key, body, added) VALUES (\(literal), '{\"a\":1}', 'today')")
    }
    try insertStuck()
    #expect(try c.get(key)?["a"] == 1)
    try c.update(key, set: ["a": 2])
    #expect(try c.get(key)?["a"] == 2)
    #expect(try c.delete(key))
    #expect(try c.get(key) == nil)

    try insertStuck()
    #expect(code { try c.insert(["a": 3], key: key) } == .duplicateKey)
    try c.save(["a": 4], key: key)
    #expect(try c.get(key)?["a"] == 4)
    #expect(try c.count() == 2)

    try c.delete(key)
    try insertStuck()
    let rowID = try #require(try c.get(key)?.rowID)
    try c.update(rowID: rowID, set: ["a": 5])
    #expect(try c.get(key)?["a"] == 5)
    #expect(try store.verify() == [])
  }

  @Test(
    "An update of a row whose key belongs to another row when the transaction begins throws an error"
  )
  func keyOfTwoRows() throws {
    let c = store["c"]
    try c.insert(["n": 2], key: "7")
    try store.execute("INSERT INTO c(key, body) VALUES (7, '{\"n\":3}')")
    try store.write {
      try c.delete("7")
      #expect(code { try c.update("7", set: ["n": 4]) } == .notFound)
    }
    #expect(try c.get("7")?["n"] == 3)
  }

  @Test("A document keeps a key that is a floating-point number when its file is recovered")
  func recoveredNumericKey() throws {
    try store.execute(
      "INSERT INTO c(key, body) VALUES (1e20, '{\"n\":2}'), (0.1 + 0.2, '{\"n\":3}')")
    let keys = try store["c"].find().keys()
    #expect(keys.count == 3)
    try store.close()

    _ = try Store.recover(from: scratch.file("a.db"), to: scratch.file("r.db"))

    let recovered = try Store.file(scratch.file("r.db"))
    #expect(try recovered["c"].find().keys() == keys)
  }

  @Test("A bulk update reaches documents whose row IDs are as far apart as possible")
  func farRowIDs() throws {
    let c = store["c"]
    try store.execute("INSERT INTO c(id, body) VALUES (-1, '{}'), (\(Int64.max), '{}')")
    try c.find().update(set: ["m": 1])
    #expect(try Set(c.find(Field("m") == 1).rowIDs()) == [-1, 1, .max])
    #expect(try store.verify() == [])
  }

  @Test(
    "A decimal that equals a number of a unique index does not keep the collection from being used")
  func equalDecimal() throws {
    let c = store["c"]
    try c.createIndex("price", unique: true)
    try c.insert(["price": 12], key: "a")
    try insertForeign(#"{"price":{"$numberDecimal":"12"}}"#, key: "b")
    for n in 20..<30 { try insertForeign(#"{"price":{"$numberDecimal":"\#(n)"}}"#) }
    try c.insert(["price": 13], key: "c")
    #expect(try c.find(Field("price") == 25).count() == 1)
    try c.update("a", set: ["n": 2])
    #expect(try c.find(Field("price") == 12).keys().sorted() == ["a", "b"])

    #expect(try c.delete("b"))
    try c.insert(["price": .decimal(DecimalValue(Decimal(14)))], key: "d")
    #expect(try c.find(Field("price") == 12).keys() == ["a"])
    #expect(try c.find(Field("price") == 14).keys() == ["d"])
    #expect(try store.verify() == [])
  }

  @Test("A live query reports a row of another program once, and its adoption not at all")
  func adoption() async throws {
    let c = store["c"]
    var updates = c.find().sorted(by: "n").updates().differences().makeAsyncIterator()
    _ = try await updates.next()

    try insertForeign(#" {"n":2,"\u00e4":1e2}"#, key: "0199a1b2-0000-7000-8000-000000000001")
    #expect(try await updates.next()?.difference.inserted == [1])
    try await c.insert(["n": 3])
    let adopted = try #require(try await updates.next())
    #expect(adopted.difference.inserted == [2] && adopted.difference.changed.isEmpty)
    #expect(adopted.documents[1].revision != nil)

    try await store.execute(#"UPDATE c SET body = '{"n": 2, "x": 1}' WHERE id = 2"#)
    #expect(try await updates.next()?.difference.changed.map(\.to) == [1])
    try await c.insert(["n": 4])
    #expect(try await updates.next()?.difference.changed.isEmpty == true)
    try await c.update("0199a1b2-0000-7000-8000-000000000001", set: ["x": 2])
    #expect(try await updates.next()?.difference.changed.map(\.to) == [1])
  }

  @Test("A document of another program is copied into another collection in stored form")
  func copiedDocument() throws {
    try insertForeign(#"{ "\u00e4" : 1 }"#, key: "spelled")
    try insertForeign(#"{"a":1,"a":2}"#, key: "twice")
    let other = try Store.file(scratch.file("b.db"))
    let spelled = try #require(try store["c"].get("spelled"))
    try other["c"].insert(spelled)
    #expect(try other.sql("SELECT body FROM c")[0]["body"] == #"{"ä":1}"#)
    let twice = try #require(try store["c"].get("twice"))
    #expect(code { try other["c"].insert(twice) } == .corruptDocument)
    #expect(code { try other["c"].insert([twice]) } == .corruptDocument)
    #expect(try other["c"].count() == 1)
  }

  @Test("A copy brings rows into stored form, and names a row that has none")
  func copiedStore() throws {
    try store["c"].createIndex("ä", unique: true)
    try insertForeign(#"{ "\u00e4" : 1 }"#, key: "0199a1b2-0000-7000-8000-000000000001")
    let target = try Store.file(scratch.file("b.db"))
    #expect(try store.copy(to: target).isEqual)
    #expect(try target.verify() == [])
    #expect(try target["c"].find(Field("ä") == 1).count() == 1)
    #expect(try target["c"].get("0199a1b2-0000-7000-8000-000000000001") != nil)

    try insertForeign(#"{"a":1,"a":2}"#, key: "twice")
    let failure = error { try store.copy(to: target, CopyOptions(replacing: true)) }
    #expect(failure?.code == .corruptDocument)
    #expect(failure?[.collection] == "c" && failure?[.rowID] == "3")
  }

  @Test("Recovery brings rows of other programs into stored form, and keeps those without one")
  func recovered() throws {
    try store["c"].createIndex("ä")
    try insertForeign(#"{ "\u00e4" : 1 }"#, key: "spelled")
    try insertForeign(#"{"b":1,"b":2,"\u00e4":1}"#, key: "twice")
    try store.close()
    _ = try Store.recover(from: scratch.file("a.db"), to: scratch.file("b.db"))
    let saved = try Store.file(scratch.file("b.db"))
    #expect(
      try saved.sql("SELECT body FROM c ORDER BY id").map { $0["body"] } == [
        #"{"n":1}"#, #"{"ä":1}"#, #"{"b":1,"b":2,"\u00e4":1}"#,
      ])
    #expect(try saved["c"].find(Field("ä") == 1).keys() == ["spelled", "twice"])
    #expect(try saved.verify().count == 1)
  }

  @Test(
    "A document with the largest revision can be written in every way, and gets a different one")
  func largestRevision() throws {
    let c = store["c"]
    let writes: [() throws -> Document] = [
      { try c.update("first", set: ["n": 2]) },
      { try c.save(["n": 2], key: "first") },
      { try c.replace(Document(["n": 2], key: "first"), ifRevision: Int64.max) },
      {
        store.saveInterval = 10
        defer { store.saveInterval = 1 }
        try c.save(["n": 2], key: "first")
        let buffered = try #require(try c.get("first"))
        try store.flush()
        return buffered
      },
    ]
    for write in writes {
      try setLargestRevision()
      #expect(try write().revision != Int64.max)
      let revision = try #require(try c.get("first")?.revision)
      #expect(revision > 0 && revision < .max)
      let updated = try c.update("first", set: ["n": 3])
      #expect(updated.revision == revision + 1)
      #expect(try c.get("first")?.revision == revision + 1)
    }
    #expect(
      try store.sql("SELECT DISTINCT typeof(revision) AS t FROM c").map { $0["t"] } == ["integer"])
    #expect(try store.verify() == [])
  }

  @Test("The largest revision is not continued by the statement for many replaced documents")
  func largestRevisionOfMany() throws {
    let c = store["c"]
    try c.insert((0..<50).map { ["n": .int($0)] })
    try setLargestRevision()

    try store.write { for id in try c.find().rowIDs() { try c.update(rowID: id, set: ["x": 1]) } }

    #expect(
      try store.sql("SELECT DISTINCT typeof(revision) AS t FROM c").map { $0["t"] } == ["integer"])
    #expect(
      try store.sql("SELECT count(*) AS n FROM c WHERE revision < \(Int64.max)").first?["n"] == 51)
  }

  @Test("A __rowid__ field in JSON text is an ordinary field, and updates do not change it")
  func rowIDField() throws {
    let c = store["c"]
    try c.insert(json: #"{"__rowid__":99,"n":5}"#, key: "a")
    try c.save(json: #"{"n":6,"__rowid__":"x"}"#, key: "b")
    #expect(try c.get("a")?.object() == ["__rowid__": 99, "n": 5])
    #expect(try c.get("a")?["__rowid__"] == 2)
    #expect(try c.find(#"["__rowid__"] = 99"#).keys() == ["a"])
    #expect(try c.update("a", set: ["n": 7]).object() == ["__rowid__": 99, "n": 7])
    #expect(try c.update("b", set: ["__rowid__": 4]).object() == ["n": 6, "__rowid__": "x"])
  }
}
