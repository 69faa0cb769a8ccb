// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Testing

// Each statement of a write transaction sees a later state than the one before, and the state that a reader sees may be older
// than the objects that its statements name.
@Suite("What happens between two statements", .postgres)
struct RacingStatementTests {
  @Test(
    "Content is not deleted that another transaction refers to in a collection that it creates meanwhile"
  )
  func newCollection() throws {
    let content = Data("content".utf8)
    let run = try Interleaving(2, .serializable) { store in
      try store.write {
        try store["items"].save(["n": 1], key: "a")
        try store["items"].attach(.data(content), named: "file", to: "a")
      }
      try store["items"].attachments(of: "a").remove("file")
    }
    defer { run.end() }
    try run[0].step { store in
      try store["new"].save(["n": 1], key: "b")
      try store["new"].attach(.data(content), named: "file", to: "b")
    }
    let compaction = try run[1].startAlone { try $0.compact(attachmentLease: .zero) }
    #expect(compaction.isBlocked)
    #expect(try run[0].commit() == nil)
    try compaction.value()

    let attachments = run.observer["new"].attachments(of: "b")
    let found = try attachments.data("file")
    #expect(found == content)
  }

  @Test("A search that waits for a text index that is created again finds the documents")
  func textIndex() throws {
    let run = try Interleaving(2, .serializable) { store in
      try store["items"].createFullTextIndex("t", name: "text")
      for key in ["a", "b"] { try store["items"].save(["t": "gin"], key: key) }
    }
    defer { run.end() }
    // It knows the index.
    #expect(try run[1].store["items"].search("gin").count() == 2)
    try run[0].step { store in
      _ = try store["items"].dropIndex("text")
      try store["items"].createFullTextIndex("t", name: "text")
    }
    let search = try run[1].startAlone { try $0["items"].search("gin").fetch().count }
    #expect(search.isBlocked)
    #expect(try run[0].commit() == nil)

    #expect(try search.value() == 2)
    #expect(try run.observer.verify().isEmpty)
  }

  @Test("A document that prevents an insert in a block is not deleted before the block ends")
  func duplicateKey() throws {
    let run = try Interleaving(2, .serializable) { store in
      try store["items"].save(["n": 1], key: "a")
    }
    defer { run.end() }
    let code = try run[0].step { store in
      Faults.code { try store["items"].insert(["n": 2], key: "a") }
    }
    #expect(code == .duplicateKey)
    let deletion = try run[1].startAlone { try $0["items"].delete("a") }
    #expect(deletion.isBlocked)
    #expect(try run[0].step { try $0["items"].get("a")?["n"] } == 1)
    #expect(try run[0].commit() == nil)
    #expect(try deletion.value())
  }

  @Test("A block saves a document that it has read while a writer with its key waits for it")
  func saveOfLocked() throws {
    let run = try Interleaving(2, .serializable) { store in
      try store["items"].createIndex("n", unique: true)
      try store["items"].save(["n": 1], key: "a")
    }
    defer { run.end() }
    try run[0].step { _ = try $0["items"].get("a") }
    let save = try run[1].startAlone { store in
      try store.write { _ = try store["items"].save(["n": 2], key: "a") }
    }
    #expect(save.isBlocked)
    try run[0].step { _ = try $0["items"].save(["n": 3], key: "a") }
    #expect(try run[0].commit() == nil)
    try save.value()
    #expect(try run.observer["items"].get("a")?["n"] == 2)
  }

  @Test(
    "A document that was deleted and inserted again is not replaced by an update of the former one")
  func otherRow() throws {
    let engine = try TestDatabase.engine()
    defer { try? engine.close() }
    let key = try DocumentKey("a")
    var rowIDs: [Int64] = []
    for number in 1...2 as ClosedRange<Int64> {
      try engine.write(nil) { writer in
        _ = try writer.delete(.key(key), from: "items")
        try GeneratedDocument(["n": .int(number)], key: key).new {
          rowIDs.append(try writer.save($0, into: "items"))
        }
      }
    }
    func replace(_ rowID: Int64) throws -> Bool? {
      try GeneratedDocument(["n": 3], key: key).new { new in
        var new = new
        (new.rowID, new.replacedRevision) = (rowID, 1)
        return try engine.replace(key: key, with: new, in: "items", nil)
      }
    }
    #expect(try replace(rowIDs[0]) == false)
    #expect(try replace(rowIDs[1]) == true)
  }

  @Test("Compaction leaves out a table that is gone")
  func droppedTable() throws {
    let configuration = Faults.configuration()
    let store = try TestDatabase.store(configuration)
    defer { try? store.close() }
    for name in ["gone", "kept"] { try store[name].save(["n": 1], key: "a") }
    try Faults.server().psql("DROP TABLE \(configuration.schema).gone")

    #expect(throws: Never.self) { try store.compact() }
    #expect(try store["kept"].count() == 1)
  }
}
