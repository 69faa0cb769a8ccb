// SPDX-License-Identifier: MIT

import NanoServerSupport
import NanoStorePostgres
import NanoTesting
import Testing

/// A transaction keeps, and locks individually, 1,000 documents.
@Suite("Transactions with more than 1,000 documents on PostgreSQL", .postgres)
struct ManyDocumentsTests {
  private let store: Store
  private let keys = (0..<1_500).map { "\($0)" }
  private var items: DocumentCollection { store["items"] }

  init() throws { store = try TestDatabase.store(Faults.configuration()) }

  private func fill() throws {
    _ = try items.apply(keys.map { DocumentWrite.insert(["n": 0], key: $0) })
    // Its metadata is then known to the next call.
    #expect(try items.count() == keys.count)
  }

  @Test("A block gets all documents that it has read")
  func reading() throws {
    defer { try? store.close() }
    try fill()

    let (read, found) = try store.write {
      (try items.get(keys: keys).count, try keys.filter { try items.get($0) != nil }.count)
    }

    #expect(read == keys.count)
    #expect(found == keys.count)
  }

  @Test("A batch replaces, saves and deletes all documents")
  func batches() throws {
    defer { try? store.close() }
    try fill()

    try items.apply(keys.map { DocumentWrite.replace(["n": 1], key: $0, revision: 1) })
    #expect(try items.find("[n] = 1").count() == keys.count)
    try items.apply(keys.map { DocumentWrite.save(["n": 2], key: $0) })
    #expect(try items.find("[n] = 2").count() == keys.count)
    try items.apply(keys.map { DocumentWrite.delete(key: $0) })

    #expect(try items.count() == 0)
    #expect(try store.verify().isEmpty)
  }

  @Test("A block gets all documents that it has inserted")
  func inserting() throws {
    defer { try? store.close() }
    try items.save(["n": 0], key: "first")

    let found = try store.write {
      // Locks the collection, so that missing documents are known to be missing.
      _ = try items.count()
      for key in keys {
        if try items.get(key) == nil { try items.save(["n": 1], key: key) }
      }
      return try keys.filter { try items.get($0)?["n"] == 1 }.count
    }

    #expect(found == keys.count)
    #expect(try items.count() == keys.count + 1)
  }

  @Test("The collection is locked, and not each key")
  func locks() throws {
    defer { try? store.close() }
    try fill()

    let locks = try store.write {
      _ = try items.get(keys: keys)
      return try store.sql(
        """
        SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
        """
      ).first?["n"]?.int
    }

    #expect(locks ?? .max < 10)
  }
}
