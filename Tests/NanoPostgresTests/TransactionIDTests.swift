// SPDX-License-Identifier: MIT

import NanoServerSupport
import NanoStorePostgres
import Testing

// Sync relies on it: revisions are numbered by the IDs of their transactions.
@Suite("Transactions that lock a collection first", .postgres)
struct TransactionIDTests {
  /// The ID of the transaction that runs on the calling thread, or of one of its own.
  private static func id(_ store: Store) throws -> Int {
    let rows = try store.sql("SELECT pg_current_xact_id()::text::bigint AS id")
    return try #require(rows.first?["id"]?.int)
  }

  @Test(
    "A transaction that waits for the lock of a collection has a later ID than one that begins meanwhile",
    arguments: [true, false], ["items", "missing"])
  func order(isKnown: Bool, collection: String) throws {
    let run = try Interleaving(2, .serializable, isKnown: isKnown) { store in
      try store["items"].save(["n": 1], key: "a")
    }
    defer { run.end() }
    try run[0].step { try $0.prepareToUse([collection]) }
    let waiting = try run[1].start { store in
      try store.prepareToUse([collection])
      try store[collection].save(["n": 2], key: "b")
      return try Self.id(store)
    }
    #expect(waiting.isBlocked)
    let first = try run[0].step { store in
      try store[collection].save(["n": 2], key: "a")
      return try Self.id(store)
    }
    let meanwhile = try Self.id(run.observer)
    #expect(try run[0].commit() == nil)
    let second = try waiting.value()
    #expect(try run[1].commit() == nil)
    #expect(first < meanwhile)
    #expect(meanwhile < second)
  }

  @Test("The row that a transaction leaves behind is as old as its commit, not as its beginning")
  func age() throws {
    let configuration = Faults.configuration()
    let store = try TestDatabase.store(configuration)
    defer { try? store.close() }
    var time: String?
    try store.write {
      try store["items"].save(["n": 1], key: "a")
      time = try store.sql("SELECT clock_timestamp()::text AS t").first?["t"]?.string
    }
    let began = try #require(time)
    let later = try Faults.server().psql(
      """
      SELECT count(*) FROM \(configuration.schema).nano_transactions WHERE applied > '\(began)'
      """)
    #expect(later == "1")
  }

  @Test("A transaction that waits for the lock of the metadata has a later ID, too")
  func metadata() throws {
    let run = try Interleaving(2, .serializable)
    defer { run.end() }
    try run[0].step { try $0.setMetadata(1, "a") }
    let waiting = try run[1].start { store in
      try store.setMetadata(2, "a")
      return try Self.id(store)
    }
    #expect(waiting.isBlocked)
    let meanwhile = try Self.id(run.observer)
    #expect(try run[0].commit() == nil)
    #expect(try waiting.value() > meanwhile)
    #expect(try run[1].commit() == nil)
  }
}
