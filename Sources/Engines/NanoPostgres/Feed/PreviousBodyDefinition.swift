// SPDX-License-Identifier: MIT

import NanoDocument

/// The objects on the server that keep the body that a document had before its next update.
///
/// A trigger copies the row before it is changed, whichever program changes it, unless one is kept. It marks the row of
/// a deleted document, since a new one may get the same row ID.
struct PreviousBodyDefinition {
  /// Qualified and quoted names.
  let table: String
  let bodies: String
  let function: String

  /// The trigger that keeps bodies. A collection keeps them as long as it exists.
  private static let trigger = "nano_previous_update"
  private static let triggers = [trigger, "nano_previous_delete", "nano_previous_truncate"]

  var creation: [PostgresStatement] {
    // Equal values of jsonb may have different texts, such as 1 and 1.0. Only such values are compared as text.
    let changes =
      (["OLD.id <> NEW.id"]
      + ["key", "type", "version", "source", "body", "body::text"]
      .map { "OLD.\($0) IS DISTINCT FROM NEW.\($0)" }).joined(separator: " OR ")
    let execute = "EXECUTE FUNCTION \(function)()"
    return [
      """
      CREATE TABLE \(bodies) (id bigint PRIMARY KEY, key text COLLATE "C", type text COLLATE "C", version bigint, \
      added bigint NOT NULL, revision bigint NOT NULL, body jsonb NOT NULL, source text, \
      deleted boolean NOT NULL DEFAULT false)
      """, functionDefinition,
      "CREATE TRIGGER nano_previous_update AFTER UPDATE ON \(table) FOR EACH ROW WHEN (\(changes)) \(execute)",
      "CREATE TRIGGER nano_previous_delete AFTER DELETE ON \(table) FOR EACH ROW \(execute)",
      "CREATE TRIGGER nano_previous_truncate AFTER TRUNCATE ON \(table) FOR EACH STATEMENT \(execute)",
      // Also in a session that applies replicated changes.
      "ALTER TABLE \(table) "
        + Self.triggers.map { "ENABLE ALWAYS TRIGGER \($0)" }.joined(separator: ", "),
    ].map { .once($0) }
  }

  /// It runs with the rights of its owner, since a role that may write documents need not have rights on the table.
  private var functionDefinition: String {
    FeedDefinition.triggerFunction(function, functionBody)
  }

  private var functionBody: String {
    """
    BEGIN \
    IF TG_OP = 'TRUNCATE' THEN UPDATE \(bodies) SET deleted = true WHERE NOT deleted; RETURN NULL; END IF; \
    IF TG_OP = 'UPDATE' AND NEW.id = OLD.id THEN \
    DELETE FROM \(bodies) WHERE id = OLD.id AND deleted; \
    INSERT INTO \(bodies) (id, key, type, version, added, revision, body, source) VALUES (OLD.id, OLD.key, OLD.type, \
    OLD.version, OLD.added, OLD.revision, OLD.body, OLD.source) ON CONFLICT (id) DO NOTHING; \
    ELSE UPDATE \(bodies) SET deleted = true WHERE id = OLD.id; END IF; \
    RETURN NULL; END
    """
  }

  /// Removes them from a table that stays.
  var removal: [PostgresStatement] {
    Self.triggers.map { .once("DROP TRIGGER IF EXISTS \($0) ON \(table)") } + cleanup
  }

  /// Removes what a dropped table leaves.
  var cleanup: [PostgresStatement] {
    [.once("DROP TABLE IF EXISTS \(bodies)"), .once("DROP FUNCTION IF EXISTS \(function)()")]
  }

  /// Selects whether the collection keeps bodies.
  var exists: PostgresStatement {
    PostgresStatement(
      """
      SELECT EXISTS (SELECT FROM pg_catalog.pg_trigger WHERE tgrelid = to_regclass($1)::oid \
      AND tgname = '\(Self.trigger)' AND tgenabled <> 'D')
      """, [.text(table)])
  }

  /// Selects whether some of the triggers are missing although there is a table of kept bodies. Both are read from one
  /// snapshot, which the name of a table is not.
  var isIncomplete: PostgresStatement {
    let names = Self.triggers.map { "'\($0)'" }.joined(separator: ", ")
    return .once(
      """
      SELECT EXISTS (SELECT FROM pg_catalog.pg_class WHERE oid = to_regclass($1)::oid) \
      AND (SELECT count(*) FROM pg_catalog.pg_trigger WHERE tgrelid = to_regclass($2)::oid AND tgname IN (\(names)) AND tgenabled <> 'D') <> \(Self.triggers.count)
      """, [.text(bodies), .text(table)])
  }

  /// Selects the kept body of a row, unless it is that of a former document with the row's ID.
  func ofRow(_ rowID: Int64) -> PostgresStatement {
    PostgresStatement(
      """
      SELECT \(PostgresQueryCompiler.columns) FROM \(bodies) WHERE id = $1 \
      AND NOT (deleted AND EXISTS (SELECT FROM \(table) AS t WHERE t.id = $1))
      """, [.int(rowID)])
  }

  /// Selects all kept bodies after a row ID.
  func all(after rowID: Int64?, limit: Int) -> PostgresStatement {
    let columns = PostgresQueryCompiler.columns
    guard let rowID else {
      return PostgresStatement(
        "SELECT \(columns) FROM \(bodies) ORDER BY id LIMIT $1", [.int(Int64(limit))])
    }
    return PostgresStatement(
      "SELECT \(columns) FROM \(bodies) WHERE id > $1 ORDER BY id LIMIT $2",
      [.int(rowID), .int(Int64(limit))])
  }

  func remove(_ rowIDs: [Int64]) -> PostgresStatement {
    PostgresStatement("DELETE FROM \(bodies) WHERE id = ANY($1)", [.ints(rowIDs.map { $0 })])
  }

  func replace(_ rowID: Int64, _ body: PostgresValue, source: PostgresValue) -> PostgresStatement {
    ("UPDATE \(bodies) SET body = " + .value(body) + ", source = " + .value(source)
      + " WHERE id = " + .value(.int(rowID))).statement
  }
}

extension PostgresCollection {
  /// The names of the objects that keep previous bodies, whether or not they exist.
  var previousBodies: PreviousBodyDefinition {
    let hash: String = PostgresNames.hash(folded.text)
    return PreviousBodyDefinition(
      table: table, bodies: names.qualified("nano_previous_" + hash),
      function: names.qualified("nano_keep_" + hash))
  }
}
