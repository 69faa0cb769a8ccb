// SPDX-License-Identifier: MIT

import NanoEngine
import NanoServerSupport
import NanoStorePostgres
import Testing

@Suite("Delayed entries of a change feed", .postgres)
struct DelayedEntriesTests {
  // Each statement of a write transaction sees a later state than the one before. Sync gives no revision to a change that
  // is neither found nor said to be delayed, so that a replication would end without it.
  @Test(
    "An entry that is settled while a write transaction reads the feed is found or said to be delayed"
  )
  func settledMeanwhile() throws {
    let run = try Interleaving(2, .serializable) { store in
      try store["items"].setChangeTracking(.on)
      for key in ["a", "b"] { try store["items"].save(["n": 1], key: key) }
      try store["items"].delete("b")
      try Self.pause(store)
    }
    defer { run.end() }
    try run[0].step { store in
      _ = try store.sql("SELECT pg_current_xact_id(), pg_advisory_xact_lock(\(Self.lock))")
    }
    try run.observer["items"].save(["n": 2], key: "a")
    let reading = try run[1].startAlone { store in
      try store.writing { writer in
        try writer.feedRows(after: .start, limit: 10, settledOnly: true, in: "items")
      }
    }
    #expect(reading.isBlocked)
    #expect(try run[0].commit() == nil)

    let found = try reading.value()
    #expect(found.isDelayed || found.rows.contains { $0.key?.description == "a" })
  }

  /// The number of the advisory lock that a query of deletions waits for.
  private static let lock = 4_711

  /// Lets each query of the deletions of a feed wait for an advisory lock, in the middle of its statement: even if its
  /// conditions match no row, for example while another test's transaction is older than the deletion. `OFFSET 0` keeps the
  /// conditions from being pushed into the view.
  private static func pause(_ store: Store) throws {
    let found = try store.sql(
      """
      SELECT schemaname, tablename FROM pg_tables WHERE schemaname = current_schema() \
      AND starts_with(tablename, 'nano_deletions_')
      """)
    let names = try #require(found.first)
    let schema = names["schemaname"]?.string ?? ""
    let table = names["tablename"]?.string ?? ""
    try Faults.server().psql(
      """
      SET search_path = \(schema);
      CREATE FUNCTION pause() RETURNS boolean LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_advisory_xact_lock_shared(\(lock)); RETURN true; END';
      ALTER TABLE "\(table)" RENAME TO deletions;
      CREATE VIEW "\(table)" AS SELECT * FROM deletions WHERE pause() OFFSET 0
      """)
  }
}
