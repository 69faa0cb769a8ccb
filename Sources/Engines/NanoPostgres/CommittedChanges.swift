// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// What other engines and programs committed since a snapshot.
///
/// Each transaction of an engine inserts a row with its ID and the names of the changed collections. The feed of a
/// collection has the changed documents, also of other programs.
struct CommittedChanges {
  let core: PostgresCore
  /// The number of the engine, whose own commits are left out.
  let writer: Int64
  /// The text of the server's snapshot.
  let snapshot: String

  /// A collection whose changes are tracked.
  struct Tracked {
    var name: ExactName
    var objects: FeedDefinition
    var base: Int64
  }

  func tracked(_ connection: PostgresConnection) throws -> [Tracked] {
    let catalog = core.names.qualified("nano_collections")
    let rows = try connection.run(
      PostgresStatement(
        "SELECT folded, table_name, feed FROM \(catalog) WHERE feed IS NOT NULL ORDER BY folded"))
    return try (0..<rows.count).map { row in
      let folded = ExactName(rows.text(row, 0))
      return Tracked(
        name: folded,
        objects: FeedDefinition(
          table: core.names.qualified(rows.text(row, 1)),
          deletions: core.names.qualified(PostgresNames.deletions(of: folded)),
          function: core.names.qualified(PostgresNames.feedFunction(of: folded))),
        base: PostgresFeed(try CollectionLoader.object(rows.text(row, 2))).base)
    }
  }

  private var table: String { core.names.qualified("nano_transactions") }

  /// Selects the current snapshot, whether a transaction may have changed everything, a changed collection, and whether
  /// any document of it may have changed. Rows that were restored from a dump may have IDs that this server has not
  /// reached.
  var transactions: PostgresStatement {
    PostgresStatement(
      """
      SELECT pg_current_snapshot()::text, t.id IS NOT NULL AND t.changed IS NULL, c.name, c.is_whole \
      FROM (SELECT 1) AS one LEFT JOIN \(table) AS t ON t.xid >= pg_snapshot_xmin($1::text::pg_snapshot) \
      AND t.xid < pg_snapshot_xmax(pg_current_snapshot()) \
      AND NOT pg_visible_in_snapshot(t.xid, $1::text::pg_snapshot) AND t.writer IS DISTINCT FROM $2 \
      LEFT JOIN LATERAL (SELECT u.name, count(*) > 1 AS is_whole FROM unnest(t.changed) AS u(name) \
      GROUP BY u.name) AS c ON true ORDER BY t.stamp
      """, [.text(snapshot), .int(writer)])
  }

  /// Selects the changed documents of a tracked collection: row ID, whether it was deleted, whether it is new.
  func rows(_ tracked: Tracked) -> PostgresStatement {
    let (objects, column) = (tracked.objects, FeedDefinition.column)
    func isNew(_ number: String) -> String {
      """
      \(number) >= pg_snapshot_xmin($1::text::pg_snapshot)::text::bigint + $3 \
      AND NOT pg_visible_in_snapshot((\(number) - $3)::text::xid8, $1::text::pg_snapshot) \
      AND NOT EXISTS (SELECT FROM \(table) AS own WHERE own.writer = $2 \
      AND own.xid = (\(number) - $3)::text::xid8)
      """
    }
    return PostgresStatement(
      """
      (SELECT id, false, revision = 1 FROM \(objects.table) WHERE \(column) IS NOT NULL AND \(isNew(column)) \
      LIMIT \(Commit.maximumRows + 1)) UNION ALL (SELECT id, true, false FROM \(objects.deletions) AS d \
      WHERE \(isNew("number")) AND NOT EXISTS (SELECT FROM \(objects.table) AS t WHERE t.id = d.id) \
      LIMIT \(Commit.maximumRows + 1))
      """, [.text(snapshot), .int(writer), .int(tracked.base)])
  }

  func commits(
    _ transactions: PostgresResult, _ tracked: [Tracked], _ rows: ArraySlice<PostgresResult>
  ) -> [Commit] {
    var changed: [ExactName: [Int64: Change.Kind]] = [:]
    for (tracked, rows) in zip(tracked, rows) {
      for row in 0..<rows.count {
        changed[tracked.name, default: [:]][rows.int(row, 0)] =
          rows.bool(row, 1) ? .deleted : rows.bool(row, 2) ? .inserted : .updated
      }
    }
    var commits: [Commit] = []
    var whole: Set<ExactName> = []
    for row in 0..<transactions.count {
      if transactions.bool(row, 1) { commits.append(.everything) }
      guard let name = transactions.optionalText(row, 2).map({ ExactName($0) }) else { continue }
      // Once is enough; its rows are reported if they are all that changed.
      guard transactions.bool(row, 3) || changed[name] == nil, whole.insert(name).inserted else {
        continue
      }
      commits.append(Commit([Change(name.text, nil)]))
    }
    for (name, rows) in changed where !whole.contains(name) {
      commits.append(Commit([Change(name.text, rows.count > Commit.maximumRows ? nil : rows)]))
    }
    return commits
  }
}
