// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Transactions")
struct TransactionTests {
  let store: Store
  let notes: DocumentCollection
  init() throws {
    store = try anyStore()
    notes = store["notes"]
  }
  struct Oops: Error {}

  @Test("A transaction that throws is rolled back, and a nested one rolls back only itself")
  func rollback() throws {
    #expect(throws: Oops.self) {
      try store.write {
        try notes.save(["n": 1], key: "a")
        throw Oops()
      }
    }
    #expect(try notes.count() == 0)
    #expect(try store.collections().isEmpty)

    try store.write {
      try notes.save(["n": 1], key: "a")
      try? store.write {
        try notes.save(["m": 2], key: "b")
        throw Oops()
      }
      #expect(try notes.count() == 1)
    }
    #expect(try notes.find().keys() == ["a"])
    #expect(try notes.observedPaths().map(\.path) == ["n"])
    #expect(try store.verify().isEmpty)
  }

  @Test("Concurrent writes each return their own result")
  func coalescing() async throws {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for index in 0..<200 {
        group.addTask { [notes] in
          do {
            try await notes.insert(["n": .int(Int64(index))], key: "k\(index % 150)")
            return true
          } catch let error as StoreError where error.code == .duplicateKey {
            return false
          }
        }
      }
      let results = try await group.reduce(into: []) { $0.append($1) }
      #expect(results.filter { $0 }.count == 150)
    }
    #expect(try await notes.count() == 150)
  }

  @Test("Nested transactions are savepoints at any depth")
  func nesting() throws {
    try store.write {
      try notes.save(["n": 1], key: "a")
      try store.write {
        try notes.save(["n": 2], key: "b")
        try? store.write {
          try notes.save(["m": 3], key: "c")
          try notes.createIndex("n")
          try store.createCollection("other")
          try store.write { _ = try notes.delete("a") }
          throw Oops()
        }
        #expect(try notes.find().keys() == ["a", "b"])
      }
    }
    #expect(try notes.find().keys() == ["a", "b"])
    #expect(try notes.indexes().isEmpty)
    #expect(try store.collections().map(\.name) == ["notes"])
    #expect(try store.verify().isEmpty)
  }

  @Test("A failed call in a transaction rolls back only itself", .sqlite)
  func failingCalls() throws {
    try notes.save(["tags": [1, 2]], key: "a")
    try notes.save(["tags": [2]], key: "b")
    try store.write {
      try notes.save(["n": 1], key: "c")
      #expect(code { try notes.createIndex("tags", unique: true) } == .uniqueViolation)
      #expect(code { try notes.insert([["n": 2], ["d": Self.late]]) } != nil)
      #expect(code { try notes.find().update(set: ["n.m": 1]) } == .typeMismatch)
      try notes.createIndex("tags")
    }
    #expect(try notes.count() == 3)
    #expect(try notes.find(Field("tags") == 2).keys() == ["a", "b"])
    #expect(try notes.find(Field("n.m").exists).count() == 0)
    #expect(try store.verify().isEmpty)
  }
  static let late = DocumentValue.date(Date(timeIntervalSince1970: 300_000_000_000))

  @Test("Writes are visible in their transaction, and to other stores after the commit")
  func isolation() throws {
    let scratch = try Scratch()
    let (one, two) = try (Store.file(scratch.file("a.db")), Store.file(scratch.file("a.db")))
    try one["a"].save(["n": 1], key: "k")
    try one.write {
      try one["a"].save(["n": 2], key: "k")
      #expect(try one["a"].get("k")?["n"] == 2)
      #expect(try one["a"].find(Field("n") == 2).count() == 1)
      #expect(try two["a"].get("k")?["n"] == 1)
    }
    #expect(try two["a"].get("k")?["n"] == 2)
  }

  @Test("A read transaction keeps its snapshot while others write, and cannot write")
  func snapshot() throws {
    let scratch = try Scratch()
    let (one, two) = try (Store.file(scratch.file("a.db")), Store.file(scratch.file("a.db")))
    try one["a"].save(["n": 1], key: "k")
    try one.read {
      #expect(try one["a"].count() == 1)
      try two["a"].save(["n": 2], key: "k")
      try two["a"].save(["n": [3]], key: "l")
      try two["a"].createIndex("n", elements: true)
      #expect(try one["a"].get("k")?["n"] == 1)
      #expect(try one["a"].find(Field("n") == 3).count() == 0)
      #expect(try one["a"].indexes().isEmpty)
      #expect(code { try one["a"].save(["n": 4], key: "k") } == .readOnly)
      #expect(code { try one.write {} } == .readOnly)
      #expect(code { try one.execute("DELETE FROM a") } == .readOnly)
      #expect(code { try one["a"].createIndex("n") } == .readOnly)
      #expect(code { try one.setMetadata(1, "m") } == .readOnly)
    }
    #expect(try one["a"].get("k")?["n"] == 2)
    #expect(try one["a"].find(Field("n") == 3).count() == 1)
  }

  @Test("A result of SQL has its columns even without rows")
  func columns() throws {
    let rows = try store.sql("SELECT 1 AS one, 'x' AS text WHERE 1 = 0")
    #expect(rows.isEmpty && rows.columns == ["one", "text"])
    let row = try store.sql("SELECT 1 AS one")
    #expect(row.columns == ["one"] && row.count == 1 && row.first?["one"] == 1)
  }

  @Test("SQL can neither begin nor end a transaction, and runs one statement at a time", .sqlite)
  func statements() throws {
    try notes.save(["n": 1], key: "a")
    for text in [
      "BEGIN", "  commit", "/* x */ ROLLBACK", "-- x\nSAVEPOINT a", "End", "RELEASE a",
      "--\u{301}\nBEGIN", "/*\u{301}*/COMMIT", "\u{FEFF}BEGIN", ";;BEGIN", "/* /* */ COMMIT",
    ] {
      #expect(code { _ = try store.sql(text) } == .invalidArgument)
      #expect(code { try store.execute(text) } == .invalidArgument)
    }
    #expect(code { try store.execute("DELETE FROM notes; SELECT 1") } == .invalidArgument)
    #expect(code { _ = try store.sql("DELETE FROM notes") } == .readOnly)
    #expect(code { _ = try store.sql("") } == .database)
    #expect(code { _ = try store.sql("SELEC") } == .database)
    #expect(code { _ = try store.sql("SELECT ?") } == .invalidArgument)
    #expect(try store.sql("SELECT 1; -- nothing more").count == 1)
    #expect(try store.sql("/* /* */ SELECT 1").count == 1)
    #expect(try notes.count() == 1)
  }

  @Test("SQL between writes is visible to the queries that follow", .sqlite)
  func mixedWithSQL() throws {
    try notes.save(["tag": "x"], key: "a")
    try notes.createIndex("tag", elements: false)
    try store.write {
      try notes.save(["n": 1], key: "b")
      try store.execute("INSERT INTO notes(body) VALUES ('{\"tag\":[\"x\"]}')")
      #expect(try notes.find(Field("tag") == "x").count() == 2)
      try notes.save(["tag": ["x", "y"]], key: "c")
      #expect(try notes.find(Field("tag") == "x").count() == 3)
    }
    #expect(try notes.find(Field("tag") == "x").count() == 3)
    #expect(try store.verify().isEmpty)
  }
}
