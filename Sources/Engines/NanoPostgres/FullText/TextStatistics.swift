// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// The server objects that store the statistics of a collection that ranks need: the number of its documents and of
/// their tokens.
///
/// Counting them would take longer than the search. Triggers, which also run for other programs, add a row with the
/// changes of both numbers for each statement, so that writers do not wait for each other; the numbers are the sums of
/// the rows. Rows are merged from time to time. `mark` is random: the exclusive or of all marks identifies a state of
/// the documents.
struct TextStatistics {
  /// Qualified and quoted names.
  let table: String
  let function: String
  /// The table of the documents.
  let documents: String
  let index: PostgresTextIndex

  /// - Returns: `nil` for an index without statistics.
  init?(_ index: PostgresTextIndex, _ collection: PostgresCollection, _ names: PostgresNames) {
    guard let name = index.statistics else { return nil }
    table = names.qualified(name)
    function = names.qualified(name)
    documents = collection.table
    self.index = index
  }

  /// Selects the number of documents, that of their tokens, the state, and the number of rows.
  var totals: PostgresStatement {
    PostgresStatement(
      """
      SELECT coalesce(sum(documents), 0)::bigint, coalesce(sum(tokens), 0)::bigint, bit_xor(mark), count(*) \
      FROM \(table)
      """)
  }

  /// Selects the same from the documents, for an index without statistics or some of the documents; the state is NULL.
  static func scan(
    _ index: PostgresTextIndex, _ collection: PostgresCollection, _ condition: PostgresSQL? = nil
  ) -> PostgresStatement {
    let sql = PostgresSQL(
      "SELECT count(*), coalesce(sum(\(index.lengthColumn)), 0)::bigint, NULL::bigint, 0::bigint "
        + "FROM \(collection.table)")
    return (condition.map { sql + " WHERE " + $0 } ?? sql).statement
  }

  /// Creates the table unless it exists, and creates or replaces the function and triggers. Writers of the documents
  /// wait until the transaction ends; readers do not.
  var creation: [PostgresStatement] {
    [
      """
      CREATE TABLE IF NOT EXISTS \(table) (documents bigint NOT NULL, tokens bigint NOT NULL, mark bigint NOT NULL)
      """,
      functionDefinition,
      trigger("INSERT", "REFERENCING NEW TABLE AS nano_new"),
      trigger("UPDATE", "REFERENCING OLD TABLE AS nano_old NEW TABLE AS nano_new"),
      trigger("DELETE", "REFERENCING OLD TABLE AS nano_old"), trigger("TRUNCATE", ""),
    ].map { .once($0) }
  }

  /// Counts the documents as they are. The table stays the same: a reader that has waited for a new one would find no
  /// rows in it, since its snapshot is older.
  var counting: [PostgresStatement] {
    [
      // Otherwise, rows that are being merged would remain.
      "LOCK TABLE \(table) IN SHARE ROW EXCLUSIVE MODE", "DELETE FROM \(table)",
      """
      INSERT INTO \(table) SELECT count(*), coalesce(sum(\(index.lengthColumn)), 0), \(Self.mark) FROM \(documents)
      """,
    ].map { .once($0) }
  }

  private static let mark = "hashtextextended(gen_random_uuid()::text, 0)"

  private static let events = ["INSERT", "UPDATE", "DELETE", "TRUNCATE"]
  var triggers: [String] { Self.events.map(triggerName) }

  private func triggerName(_ event: String) -> String {
    "\(index.column)_\(event.lowercased())"
  }

  private func trigger(_ event: String, _ tables: String) -> String {
    "CREATE OR REPLACE TRIGGER \(triggerName(event)) AFTER \(event) ON \(documents) \(tables) "
      + "FOR EACH STATEMENT EXECUTE FUNCTION \(function)()"
  }

  /// The trigger function. It runs with the rights of its owner, like that of a change feed.
  private var functionDefinition: String {
    FeedDefinition.triggerFunction(function, functionBody)
  }

  private var functionBody: String {
    let (column, length) = (index.column, index.lengthColumn)
    return """
      DECLARE d bigint; n bigint; BEGIN \
      IF TG_OP = 'INSERT' THEN SELECT count(*), coalesce(sum(\(length)), 0) INTO d, n FROM nano_new; \
      ELSIF TG_OP = 'DELETE' THEN SELECT - count(*), - coalesce(sum(\(length)), 0) INTO d, n FROM nano_old; \
      ELSIF TG_OP = 'UPDATE' THEN \
      SELECT count(*), coalesce(sum(w.\(length)), 0) - coalesce(sum(o.\(length)), 0) INTO d, n \
      FROM nano_old AS o FULL JOIN nano_new AS w ON w.id = o.id \
      WHERE o.\(column) IS DISTINCT FROM w.\(column) OR o.\(length) IS DISTINCT FROM w.\(length); \
      IF d <> 0 THEN INSERT INTO \(table) VALUES (0, n, \(Self.mark)); END IF; RETURN NULL; \
      ELSE DELETE FROM \(table); d := 0; n := 0; \
      INSERT INTO \(table) VALUES (0, 0, \(Self.mark)); END IF; \
      IF d <> 0 THEN INSERT INTO \(table) VALUES (d, n, \(Self.mark)); END IF; RETURN NULL; END
      """
  }

  /// Removes the objects from a table that stays.
  var removal: [PostgresStatement] {
    triggers.map { .once("DROP TRIGGER IF EXISTS \($0) ON \(documents)") } + cleanup
  }

  /// Removes what a dropped table leaves.
  var cleanup: [PostgresStatement] {
    [.once("DROP TABLE IF EXISTS \(table)"), .once("DROP FUNCTION IF EXISTS \(function)()")]
  }

  /// Selects the names of all tables of statistics.
  static func tables(_ names: PostgresNames) -> PostgresStatement {
    PostgresStatement(
      """
      SELECT definition::jsonb ->> 'statistics' FROM \(names.qualified("nano_indexes")) \
      WHERE kind = 'text' AND definition::jsonb ->> 'statistics' IS NOT NULL
      """)
  }

  /// Merges the rows of a table of statistics. Rows that others add or merge at the same time are left to the next
  /// time.
  static func merging(_ table: String) -> PostgresStatement {
    PostgresStatement(
      """
      WITH gone AS (DELETE FROM \(table) RETURNING documents, tokens, mark) \
      INSERT INTO \(table) SELECT sum(documents), sum(tokens), bit_xor(mark) FROM gone HAVING count(*) > 0
      """)
  }
}
