// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Names, keys, and size limits")
struct NamesAndLimitsTests {
  let store: Store
  init() throws { store = try anyStore() }

  static let badNames = [
    "", "nano_paths", "NANO_x", "sqlite_schema", "SQLite_x", "a\0b",
    String(repeating: "x", count: 501),
  ]

  @Test(
    "A collection with an invalid name reads as empty and is never created", arguments: badNames)
  func badCollections(name: String) throws {
    let bad = store[name]
    #expect(code { try bad.save(["n": 1], key: "k") } == .invalidName)
    #expect(code { try bad.insert([["n": 1]]) } == .invalidName)
    #expect(code { try bad.createIndex("n") } == .invalidName)
    #expect(code { try store.createCollection(name) } == .invalidName)
    #expect(try bad.count() == 0)
    #expect(try bad.get("k") == nil)
    #expect(try bad.delete("k") == false)
    #expect(try bad.drop() == false)
    #expect(try store.collections().isEmpty)
  }

  @Test("Observed paths spell field names exactly as the documents do")
  func observedNames() throws {
    let odd = store["odd"]
    try odd.insert(["q\"t": 1, "b\\s": 2, "$d": 3, "\u{1}": ["x.y": 4]])
    try odd.insert(["é": "one form"])
    try odd.insert(["e\u{301}": 5])

    let paths = try odd.observedPaths()

    #expect(
      Set(paths.map { Array($0.path.utf8) })
        == Set(
          [
            "\"q\"\"t\"", "b\\s", "$d", "\u{1}", "\u{1}.\"x.y\"", "é", "e\u{301}",
          ].map { Array($0.utf8) }))
    #expect(paths.first { $0.path.utf8.elementsEqual("é".utf8) }?.types == .string)
    #expect(paths.first { $0.path.utf8.elementsEqual("e\u{301}".utf8) }?.types == .int)
  }

  @Test("Lists of names have the same order in every file encoding")
  func orderOfNames() throws {
    var configuration = SQLiteConfiguration()
    configuration.encoding = .utf16
    for store in [store, try Store(.memory, engine: configuration)] {
      for name in ["z", "ключ", "Å", "a"] {
        try store.setMetadata(1, name)
        try store["c\(name)"].createIndex("n", name: name)
        try store["ca"].createIndex("n", name: name)
        try store["ca"].createFullTextIndex("t", name: "t" + name)
      }
      #expect(try store.metadataNames() == ["a", "z", "Å", "ключ"])
      #expect(try store.collections().map(\.name) == ["ca", "cz", "cÅ", "cключ"])
      #expect(try store["ca"].indexes().map(\.name) == ["a", "z", "Å", "ключ"])
      #expect(try store["ca"].fullTextIndexes().map(\.name) == ["ta", "tz", "tÅ", "tключ"])
      let tables = try store.tables().filter { $0.kind == .collection }.map(\.name)
      #expect(tables == ["ca", "cz", "cÅ", "cключ"])
    }
  }

  @Test(
    "A collection name can contain any other characters", .sqlite,
    arguments: [
      "a b", "a\"b", "a'b", "a.b", "é", "SELECT", "日本", "a;--", "%_", "x[y]", "\u{1F600}", "\\",
    ])
  func oddCollections(name: String) throws {
    let odd = store[name]
    try odd.save(["n": 1, "tags": ["x"]], key: "k")
    try odd.createIndex("n", unique: true)
    try odd.createIndex("tags", unique: true, elements: true)
    try odd.insert(["n": 2, "tags": ["y"]])
    #expect(code { try odd.insert(["n": 2]) } == .uniqueViolation)
    #expect(code { try odd.insert(["tags": ["y"]]) } == .uniqueViolation)
    #expect(code { try odd.insert(["n": 9], key: "k") } == .duplicateKey)
    #expect(try odd.find(Field("tags") == "x").keys() == ["k"])
    try odd.deleteAll()
    #expect(try odd.insert(["n": 3]).rowID == 3)
    #expect(try store.verify().isEmpty)
    #expect(try odd.drop())
    #expect(try store.sql("SELECT count(*) AS n FROM nano_indexes")[0]["n"] == 0)
  }

  @Test("Names that differ only in ASCII case refer to one collection, even within a transaction")
  func cases() throws {
    try store["People"].save(["n": 1], key: "a")
    try store["people"].save(["n": 2], key: "b")
    try store.write {
      #expect(try store["PEOPLE"].count() == 2)
      try store["People"].save(["n": 3], key: "b")
      try store["people"].save(["tags": [1]], key: "c")
      #expect(try store["PEOPLE"].delete("c"))
      // The row ID of the last document, deleted under a different spelling, is not reused.
      #expect(try store["People"].save(["n": 4], key: "d").rowID == 4)
    }
    #expect(try store.collections().map(\.name) == ["People"])
    #expect(try store["pEOPLE"].find().keys() == ["a", "b", "d"])
    try store["É"].save(["n": 1], key: "a")
    try store["é"].save(["n": 2], key: "a")
    #expect(try store["É"].get("a")?["n"] == 1)
    #expect(try store.verify().isEmpty)
  }

  @Test("Index and metadata names that are empty, too long, or contain NUL are rejected")
  func otherNames() throws {
    for name in ["", "a\0b", String(repeating: "x", count: 501)] {
      #expect(code { try store["a"].createIndex("n", name: name) } == .invalidName)
      #expect(code { try store.setMetadata(1, name) } == .invalidName)
      #expect(try store.metadata(name) == nil)
    }
    try store.setMetadata(["a": 1], "it's \"odd\"")
    #expect(try store.metadata("it's \"odd\"") == ["a": 1])
    try store.setMetadata(nil, "it's \"odd\"")
    #expect(try store.metadata("it's \"odd\"") == nil)
  }

  @Test("A key that is empty, too long, or contains NUL is rejected by every call", .sqlite)
  func keys() throws {
    for key in ["", "a\0b", String(repeating: "k", count: 1_000_001)] {
      #expect(code { try store["a"].insert(["n": 1], key: key) } == .invalidKey)
      #expect(code { try store["a"].save(["n": 1], key: key) } == .invalidKey)
      #expect(code { _ = try store["a"].get(key) } == .invalidKey)
      #expect(code { _ = try store["a"].get(keys: ["x", key]) } == .invalidKey)
      #expect(code { try store["a"].update(key, set: ["n": 1]) } == .invalidKey)
      #expect(code { try store["a"].delete(key) } == .invalidKey)
      #expect(code { try store["a"].delete(keys: ["x", key]) } == .invalidKey)
      #expect(code { _ = try Document(["n": 1], key: key) } == .invalidKey)
      #expect(try store["a"].find(Condition.key(.equalTo, key)).count() == 0)
    }
    #expect(try store.collections().isEmpty)
    let long = String(repeating: "k", count: 1_000_000)
    try store["a"].save(["n": 1], key: long)
    #expect(try store["a"].get(long)?["n"] == 1)
  }

  @Test(
    "A document over the size limit is rejected by every call, and existing documents are unchanged"
  )
  func documentSize() throws {
    #expect(store.maximumDocumentSize == 1_000_000_000)
    store.maximumDocumentSize = 100
    let large: DocumentObject = ["text": .string(String(repeating: "x", count: 200))]
    try store["a"].save(["n": 1], key: "k")

    let error = error { try store["a"].insert(large) }
    #expect(error?.code == .documentTooLarge)
    #expect(error?[.limit] == "100 bytes")
    #expect(code { try store["a"].save(large, key: "k") } == .documentTooLarge)
    #expect(code { try store["a"].insert([["n": 2], large]) } == .documentTooLarge)
    #expect(
      code { try store["a"].update("k", set: ["t": large["text"] ?? 0]) } == .documentTooLarge)
    #expect(code { try store["a"].find().update(set: ["t": large["text"] ?? 0]) } != nil)
    store.saveInterval = 10
    #expect(code { try store["a"].save(large, key: "k") } == .documentTooLarge)
    #expect(!store.hasUnsavedChanges)

    #expect(try store["a"].get("k")?.object() == ["n": 1])
    store.maximumDocumentSize = .max
    #expect(store.maximumDocumentSize == 1_000_000_000)
    try store["a"].save(large, key: "k")
  }

  @Test("An error in a batch reports the document's position")
  func batchPosition() throws {
    try store["a"].createIndex("n", unique: true)
    let error = error { try store["a"].insert([["n": 1], ["n": 2], ["n": 1]]) }
    #expect(error?[.position] == "document 3 of the batch")
    #expect(try store["a"].count() == 0)
  }

  @Test("A store that rejects periods rejects them in keys, and in field names at every level")
  func periods() throws {
    let objects = store["objects"]
    try objects.save(["n": 1], key: "old.key")
    try objects.save(["n": ["o.p": 1]], key: "old")
    store.allowsPeriodsInNames = false

    let rejected: [(DocumentObject, String, StoreError.Code)] = [
      (["n": 1], "a.b", .invalidKey), (["n": 1], ".", .invalidKey),
      (["a.b": 1], "k", .invalidName), (["a": [["b.c": 1]]], "k", .invalidName),
    ]
    for (fields, key, expected) in rejected {
      #expect(code { try objects.save(fields, key: key) } == expected)
      #expect(code { try objects.insert(fields, key: key) } == expected)
      #expect(code { try objects.insert([Document(fields, key: key)]) } == expected)
      #expect(code { try objects.apply([.save(fields, key: key)]) } == expected)
    }
    #expect(code { try objects.replace(Document(["n": 2], key: "old.key")) } == .invalidKey)
    #expect(code { try objects.update("old.key", set: ["n": 2]) } == .invalidKey)
    #expect(code { try objects.update("old", set: ["m": 2]) } == .invalidName)
    #expect(
      code { try objects.find(.key(.equalTo, "old.key")).update(set: ["n": 2]) } == .invalidKey)
    let bag = Bag(in: store)
    try bag.add(Document(["n": 1], key: "a.b"), in: "objects")
    #expect(code { try bag.save() } == .invalidKey)
    store.saveInterval = 10
    #expect(code { try objects.save(["n": 1], key: "a.b") } == .invalidKey)
    store.saveInterval = 1

    #expect(try objects.get("old.key")?["n"] == 1)
    #expect(try objects.fetch().map(\.key) == ["old.key", "old"])
    #expect(try objects.insert(["n": 1]).key != nil)
    #expect(try objects.delete("old.key"))
    store.allowsPeriodsInNames = true
    try objects.save(["a.b": 1], key: "a.b")
  }

  @Test("A nil that Swift reads as a null value removes metadata, like any other nil")
  func removedMetadata() throws {
    let value: DocumentValue = "dark"
    for isOff in [false, true] {
      try store.setMetadata(isOff ? nil : value, "theme")
      #expect(try store.metadata("theme") == (isOff ? .none : .some(value)))
      #expect(try store.metadataNames() == (isOff ? [] : ["theme"]))
    }
    try store.setMetadata(value, "theme")
    try store.setMetadata(.null, "theme")
    #expect(try store.metadataNames().isEmpty)
    try store.setMetadata(["inner": .null], "theme")
    try store.setMetadata(nil, "theme")
    #expect(try store.metadata("theme") == nil)
  }
}
