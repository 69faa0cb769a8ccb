// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// Begins new timelines of feeds that were restored from a dump: the server counts its transactions differently, and
/// the dump may be older than what readers have seen.
struct FeedRenewal {
  let core: PostgresCore

  /// A role without rights to change the store leaves the feeds as they are; reading one then throws an error.
  func run() throws {
    let catalog = core.names.qualified("nano_collections")
    let rows = try core.pool.withConnection { connection in
      try connection.run(
        .once("SELECT name, table_name, feed FROM \(catalog) WHERE feed IS NOT NULL"))
    }
    for row in 0..<rows.count {
      let feed = PostgresFeed(try CollectionLoader.object(rows.text(row, 2)))
      let table = core.names.qualified(rows.text(row, 1))
      let found = try core.pool.withConnection { connection in
        try connection.run(.once("SELECT to_regclass($1)::oid::bigint", [.text(table)]))
      }
      // Another program may have dropped the table, which only calls on the collection report.
      guard let tableID = found.optionalInt(0, 0), tableID != feed.table else { continue }
      let session = PostgresSession(core.pool, .writing, settings: core.writeSettings, nil)
      defer { session.end() }
      let writer = PostgresWriter(core, session, .serializable)
      do {
        try writer.renewFeed(of: rows.text(row, 0))
        try writer.commit()
      } catch let error as StoreError where error.code == .notPermitted || error.code == .readOnly {
        return
      }
    }
  }
}

extension PostgresWriter {
  /// Begins a new timeline of a feed whose table is not the one it was created with.
  fileprivate func renewFeed(of collection: String) throws {
    guard let table = try table(collection, isWhole: true), var feed = table.collection.feed else {
      return
    }
    let oid = try tableID(table)
    guard oid != feed.table else { return }
    noteWrite()
    let objects = table.collection.feedObjects(names)
    let last = try session.run(
      PostgresStatement(
        """
        SELECT greatest((SELECT max(\(FeedDefinition.column)) FROM \(objects.table)), \
        (SELECT max(number) FROM \(objects.deletions)), 0)
        """)
    ).int(0, 0)
    feed.state = FeedState(
      timeline: FeedState.newTimeline(), origin: feed.state.timeline, pruned: feed.state.pruned)
    feed.table = oid
    try PostgresFeed.requireNumber(last, collection)
    feed.base = last + 1 - (try transactionIDs().oldest)
    _ = try session.run(.once(objects.functionDefinition(feed.base)))
    try store(feed, table)
  }
}
