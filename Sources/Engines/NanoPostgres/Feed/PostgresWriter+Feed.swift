// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

extension PostgresWriter {
  func setTracking(_ state: FeedState?, of collection: String) throws {
    let table = try tableForWriting(collection, isWhole: true)
    guard (state == nil) != (table.collection.feed == nil) else { return }
    let objects = table.collection.feedObjects(names)
    guard let state else {
      _ = try session.run(objects.removal)
      // Readers that wait for entries of the feed receive an error.
      table.noteAll()
      return try store(nil, table)
    }
    guard table.collection.layout != .distributed else {
      throw StoreError(
        .unsupported, "A distributed collection does not track changes",
        [.capability: "changeTracking", .collection: collection])
    }
    // All numbers are at least 1, also those of transactions that are already running. What another program left behind
    // would make the creation fail.
    let base = 1 - (try transactionIDs().oldest)
    _ = try session.run(objects.removal + objects.creation(base))
    try store(PostgresFeed(state, base: base, table: try tableID(table)), table)
    // The feed does not have the documents that changed before, of which observers may not have been notified. Readers
    // that wait for entries are reset.
    table.noteAll()
  }

  /// Returns the ID of the transaction, and that of the oldest one that is running: it may write to the collection once
  /// this transaction has released its lock.
  func transactionIDs() throws -> (current: Int64, oldest: Int64) {
    let ids = try session.run(
      PostgresStatement(
        """
        SELECT pg_current_xact_id()::text::bigint, \
        pg_snapshot_xmin(pg_current_snapshot())::text::bigint
        """))
    return (ids.int(0, 0), ids.int(0, 1))
  }

  func tableID(_ table: WriterTable) throws -> Int64 {
    try session.run(
      PostgresStatement("SELECT to_regclass($1)::oid::bigint", [.text(table.collection.table)])
    ).int(0, 0)
  }

  func store(_ feed: PostgresFeed?, _ table: WriterTable) throws {
    _ = try session.run(
      PostgresStatement(
        "UPDATE \(names.qualified("nano_collections")) SET feed = $2 WHERE folded = $1",
        [
          .exact(table.collection.folded),
          feed.map { .text($0.object.storedText) } ?? .null,
        ]))
    try redefine(table)
  }

  func setFeedRows(_ rows: [FeedRow], of collection: String) throws {
    guard let table = try table(collection, isWhole: true), var feed = table.collection.feed else {
      return
    }
    noteWrite()
    let objects = table.collection.feedObjects(names)
    let (current, oldest) = try transactionIDs()
    var last = current + feed.base
    var highest: Int64 = 0
    var statements: [PostgresStatement] = []
    for row in rows {
      let number: Int64
      switch row.place {
      case .number(let given):
        try PostgresFeed.requireNumber(given, collection)
        number = given
      case .unnumbered: number = last + 1
      }
      last = max(last, number)
      highest = max(highest, number)
      statements.append(
        row.deleted.map { objects.deletion(row, number, $0) }
          ?? objects.numbering(row.rowID, number))
    }
    if highest >= oldest + feed.base {
      // Later entries have larger numbers, whichever transaction writes them.
      feed.base = highest + 1 - oldest
      statements.append(.once(objects.functionDefinition(feed.base)))
    }
    _ = try session.run(statements)
    table.known.removeAll()
    if feed != table.collection.feed { try store(feed, table) }
  }

  func pruneTombstones(before time: Int64, in collection: String) throws -> Int {
    guard let table = try table(collection, isWhole: true), var feed = table.collection.feed else {
      return 0
    }
    // The last entry stays, so that a reader that has seen it is not taken for one of a newer store.
    let deletions = table.collection.feedObjects(names).deletions
    let result = try session.run(
      PostgresStatement(
        """
        WITH gone AS (DELETE FROM \(deletions) WHERE deleted < $1 \
        AND number < (SELECT max(number) FROM \(deletions)) RETURNING number) \
        SELECT count(*), max(number) FROM gone
        """, [.int(time)]))
    guard result.int(0, 0) > 0 else { return 0 }
    noteWrite()
    // Other stores may not have read yet which documents were deleted.
    table.noteUnlistedChange()
    feed.state.pruned = max(feed.state.pruned, result.int(0, 1))
    try store(feed, table)
    return Int(result.int(0, 0))
  }
}

extension FeedDefinition {
  fileprivate func numbering(_ rowID: Int64, _ number: Int64) -> PostgresStatement {
    PostgresStatement(
      "UPDATE \(table) SET \(Self.column) = nullif($2, 0) WHERE id = $1 "
        + "AND \(Self.column) IS DISTINCT FROM nullif($2, 0)", [.int(rowID), .int(number)])
  }

  fileprivate func deletion(_ row: FeedRow, _ number: Int64, _ time: Int64) -> PostgresStatement {
    PostgresStatement(
      """
      INSERT INTO \(deletions) (id, number, key, type, deleted) VALUES ($1, $2, $3, $4, $5) \
      ON CONFLICT (id) DO UPDATE SET number = excluded.number, key = excluded.key, \
      type = excluded.type, deleted = excluded.deleted
      """,
      [
        .int(row.rowID), .int(number), row.key.map { .text($0.description) } ?? .null,
        row.type.map { .text($0) } ?? .null, .int(time),
      ])
  }
}
