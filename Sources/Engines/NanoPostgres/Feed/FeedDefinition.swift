// SPDX-License-Identifier: MIT

import NanoSQL

/// The objects on the server that keep the change feed of a collection, and its queries.
///
/// The number of an entry is the ID of its transaction plus a constant. A trigger sets it in the document's own row, in
/// the column `nano_feed`, whatever statement writes the document; rows from before tracking have none. Deletions are
/// rows of a table of their own.
struct FeedDefinition {
  /// Qualified and quoted names.
  let table: String
  let deletions: String
  let function: String

  static let column = "nano_feed"
  /// The trigger that numbers documents.
  static let writeTrigger = "nano_feed_write"
  static let triggers = [writeTrigger, "nano_feed_delete", "nano_feed_truncate"]

  /// The number that the current transaction gives its entries.
  static func number(_ base: Int64) -> String { "pg_current_xact_id()::text::bigint + \(base)" }

  /// All transactions with smaller numbers have ended, and their entries are visible. A transaction that commits later
  /// has this number or a larger one.
  static func horizon(_ base: Int64) -> String {
    "(SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint + \(base))"
  }

  func creation(_ base: Int64) -> [PostgresStatement] {
    [
      "ALTER TABLE \(table) ADD COLUMN \(Self.column) bigint",
      "CREATE INDEX ON \(table) (\(Self.column), id) WHERE \(Self.column) IS NOT NULL",
      "CREATE INDEX ON \(table) (id) WHERE \(Self.column) IS NULL",
      """
      CREATE TABLE \(deletions) (id bigint PRIMARY KEY, number bigint NOT NULL, key text COLLATE "C", \
      type text COLLATE "C", deleted bigint NOT NULL)
      """,
      "CREATE INDEX ON \(deletions) (number, id)", functionDefinition(base),
      trigger(Self.writeTrigger, "BEFORE INSERT OR UPDATE", "ROW"),
      trigger("nano_feed_delete", "AFTER DELETE", "ROW"),
      trigger("nano_feed_truncate", "BEFORE TRUNCATE", "STATEMENT"),
      // Also in a session that applies replicated changes.
      "ALTER TABLE \(table) ENABLE ALWAYS TRIGGER nano_feed_write, "
        + "ENABLE ALWAYS TRIGGER nano_feed_delete, ENABLE ALWAYS TRIGGER nano_feed_truncate",
    ].map { .once($0) }
  }

  private func trigger(_ name: String, _ event: String, _ level: String) -> String {
    "CREATE TRIGGER \(name) \(event) ON \(table) FOR EACH \(level) EXECUTE FUNCTION \(function)()"
  }

  /// The trigger function. It runs with the rights of its owner, since a role that may write documents need not have
  /// rights on the table of deletions. A statement that sets the number itself keeps it.
  func functionDefinition(_ base: Int64) -> String {
    Self.triggerFunction(function, functionBody(base))
  }

  /// Returns the definition of a trigger function that runs with the rights of its owner.
  static func triggerFunction(_ name: String, _ body: String) -> String {
    // A literal, since the name of a table may contain the tag of a dollar-quoted text.
    """
    CREATE OR REPLACE FUNCTION \(name)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER \
    SET search_path = pg_catalog, pg_temp AS \(SQLName.literal(body, .postgres))
    """
  }

  private func functionBody(_ base: Int64) -> String {
    let row = "OLD.id, \(Self.number(base)), OLD.key, OLD.type, \(Self.now)"
    return """
      BEGIN \
      IF TG_OP = 'TRUNCATE' THEN \
      INSERT INTO \(deletions) SELECT id, \(Self.number(base)), key, type, \(Self.now) FROM \(table) \
      \(Self.replacing); RETURN NULL; END IF; \
      IF TG_OP = 'DELETE' THEN INSERT INTO \(deletions) VALUES (\(row)) \(Self.replacing); RETURN NULL; END IF; \
      IF TG_OP = 'UPDATE' THEN \
      IF NEW.\(Self.column) IS DISTINCT FROM OLD.\(Self.column) THEN RETURN NEW; END IF; \
      IF NEW.revision = OLD.revision THEN NEW.revision := OLD.revision + 1; END IF; \
      IF NEW.id <> OLD.id THEN INSERT INTO \(deletions) VALUES (\(row)) \(Self.replacing); END IF; \
      END IF; \
      NEW.\(Self.column) := \(Self.number(base)); RETURN NEW; END
      """
  }

  private static let now = "floor(extract(epoch FROM clock_timestamp()))::bigint"
  private static let replacing =
    "ON CONFLICT (id) DO UPDATE SET number = excluded.number, key = excluded.key, "
    + "type = excluded.type, deleted = excluded.deleted"

  /// Removes the feed from a table that stays.
  var removal: [PostgresStatement] {
    Self.triggers.map {
      .once("DROP TRIGGER IF EXISTS \($0) ON \(table)")
    } + [.once("ALTER TABLE \(table) DROP COLUMN IF EXISTS \(Self.column)")] + cleanup
  }

  /// Removes what a dropped table leaves.
  var cleanup: [PostgresStatement] {
    [
      .once("DROP TABLE IF EXISTS \(deletions)"), .once("DROP FUNCTION IF EXISTS \(function)()"),
    ]
  }
}

extension FeedDefinition {
  /// Selects the documents from before tracking, after a row ID: `id, number, key, type, revision, deleted`.
  func untracked(after rowID: Int64, limit: Int) -> PostgresStatement {
    PostgresStatement(
      """
      SELECT id, 0::bigint, key, type, revision, NULL::bigint FROM \(table) \
      WHERE \(Self.column) IS NULL AND id > $1 ORDER BY id LIMIT $2
      """, [.int(rowID), .int(Int64(limit))])
  }

  /// Selects the entries after a number and a row ID, in the same columns.
  ///
  /// - Parameter horizon: The expression for the number that all entries are below; `nil` for all entries.
  func rows(
    after number: Int64, _ rowID: Int64, limit: Int, below horizon: String?
  ) -> PostgresStatement {
    let (column, settled) = (Self.column, horizon.map { " AND \(Self.column) < \($0)" } ?? "")
    let settledDeletions = horizon.map { " AND d.number < \($0)" } ?? ""
    return PostgresStatement(
      """
      SELECT * FROM ((SELECT id, \(column) AS number, key, type, revision, NULL::bigint AS deleted FROM \(table) \
      WHERE (\(column), id) > ($1, $2) AND \(column) IS NOT NULL\(settled) ORDER BY \(column), id LIMIT $3) \
      UNION ALL (SELECT d.id, d.number, d.key, d.type, NULL::bigint, d.deleted FROM \(deletions) AS d \
      WHERE (d.number, d.id) > ($1, $2)\(settledDeletions) \
      AND NOT EXISTS (SELECT FROM \(table) AS t WHERE t.id = d.id) ORDER BY d.number, d.id LIMIT $3)) AS entries \
      ORDER BY number, id LIMIT $3
      """, [.int(number), .int(rowID), .int(Int64(limit))])
  }

  /// Selects whether there are entries that are not settled.
  func isDelayed(_ base: Int64) -> PostgresStatement {
    let horizon = Self.horizon(base)
    return PostgresStatement(
      """
      SELECT EXISTS (SELECT FROM \(table) WHERE \(Self.column) >= \(horizon) AND \(Self.column) IS NOT NULL) \
      OR EXISTS (SELECT FROM \(deletions) WHERE number >= \(horizon))
      """)
  }

  /// Selects `id, key` of the deleted documents that had one of these row IDs.
  func formerKeys(ofRows rowIDs: [Int64]) -> PostgresStatement {
    PostgresStatement(
      "SELECT id, key FROM \(deletions) WHERE id = ANY($1)", [.ints(rowIDs.map { $0 })])
  }

  /// Selects the number of the entry of a row.
  func number(ofRow rowID: Int64) -> PostgresStatement {
    PostgresStatement(
      """
      SELECT coalesce(\(Self.column), 0) FROM \(table) WHERE id = $1 UNION ALL \
      SELECT number FROM \(deletions) WHERE id = $1 LIMIT 1
      """, [.int(rowID)])
  }
}
