// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// The server objects that store the expirations of a collection, and the statements that use them.
///
/// Expirations are in a separate table, with the row IDs of the documents that expire, so that the table of documents
/// and the statements that write it stay the same. A trigger removes the expiration of a deleted document.
struct ExpiryDefinition {
  /// Qualified and quoted names.
  let table: String
  let expirations: String
  let function: String

  static let triggers = ["nano_expiry_delete", "nano_expiry_truncate"]

  var creation: [PostgresStatement] {
    [
      "CREATE TABLE \(expirations) (id bigint PRIMARY KEY, expires bigint NOT NULL)",
      "CREATE INDEX ON \(expirations) (expires)", functionDefinition,
      "CREATE TRIGGER nano_expiry_delete AFTER DELETE ON \(table) FOR EACH ROW EXECUTE FUNCTION \(function)()",
      "CREATE TRIGGER nano_expiry_truncate AFTER TRUNCATE ON \(table) FOR EACH STATEMENT "
        + "EXECUTE FUNCTION \(function)()",
      // Also in a session that applies replicated changes.
      "ALTER TABLE \(table) ENABLE ALWAYS TRIGGER nano_expiry_delete, "
        + "ENABLE ALWAYS TRIGGER nano_expiry_truncate",
    ].map { .once($0) }
  }

  /// It runs with the rights of its owner, since a role that may delete documents need not have rights on the table.
  private var functionDefinition: String {
    FeedDefinition.triggerFunction(function, functionBody)
  }

  private var functionBody: String {
    """
    BEGIN IF TG_OP = 'TRUNCATE' THEN DELETE FROM \(expirations); \
    ELSE DELETE FROM \(expirations) WHERE id = OLD.id; END IF; RETURN NULL; END
    """
  }

  /// Removes what another program left behind.
  var removal: [PostgresStatement] {
    Self.triggers.map {
      .once("DROP TRIGGER IF EXISTS \($0) ON \(table)")
    } + cleanup
  }

  /// Removes what a dropped table leaves.
  var cleanup: [PostgresStatement] {
    [
      .once("DROP TABLE IF EXISTS \(expirations)"), .once("DROP FUNCTION IF EXISTS \(function)()"),
    ]
  }

  /// The condition for a document that has not expired at a time.
  func isVisible(at time: Int64) -> PostgresSQL {
    "NOT EXISTS (SELECT FROM \(expirations) AS e WHERE e.id = \(table).id AND e.expires <= "
      + .value(.int(time)) + ")"
  }

  /// Sets expirations of documents, which the transaction has locked.
  ///
  /// - Parameter unlessExpiredAt: Leaves out those that have expired at this time, if any.
  func set(
    _ times: [(rowID: Int64, time: Int64)], unlessExpiredAt time: Int64?
  ) -> PostgresStatement {
    PostgresStatement(
      """
      INSERT INTO \(expirations) (id, expires) SELECT u.id, u.expires FROM unnest($1::bigint[], $2::bigint[]) \
      AS u(id, expires) WHERE EXISTS (SELECT FROM \(table) AS t WHERE t.id = u.id) \
      AND NOT EXISTS (SELECT FROM \(expirations) AS e WHERE e.id = u.id AND e.expires <= $3) \
      ON CONFLICT (id) DO UPDATE SET expires = excluded.expires
      """,
      [.ints(times.map { $0.rowID }), .ints(times.map { $0.time }), .int(time ?? .min)])
  }

  /// - Parameter unlessExpiredAt: As in ``set(_:unlessExpiredAt:)``.
  func clear(_ rowIDs: [Int64], unlessExpiredAt time: Int64?) -> PostgresStatement {
    PostgresStatement(
      "DELETE FROM \(expirations) WHERE id = ANY($1) AND expires > $2",
      [.ints(rowIDs.map { $0 }), .int(time ?? .min)])
  }

  /// Deletes the earliest expired documents that no other transaction has locked, and returns their IDs and keys.
  func sweep(at time: Int64, limit: Int) -> PostgresStatement {
    delete(
      PostgresSQL("e.expires <= ") + .value(.int(time)) + " ORDER BY e.expires LIMIT "
        + .value(.int(Int64(limit))), " SKIP LOCKED")
  }

  /// Deletes documents that have expired, and returns their IDs and keys. Waits for transactions that have locked them.
  ///
  /// - Parameter condition: Names the columns of a document with the prefix `t`.
  func remove(_ condition: PostgresSQL, at time: Int64) -> PostgresStatement {
    // In the order of ``sweep(at:limit:)``, so that two transactions do not wait for each other.
    delete(
      condition + " AND e.expires <= " + .value(.int(time)) + " ORDER BY e.expires, e.id", "")
  }

  /// The documents that expire, as `t`, with their expirations, as `e`.
  private var documents: String { "\(expirations) AS e JOIN \(table) AS t ON t.id = e.id" }

  /// Locks both rows: the server checks the condition again only for rows that it locks, and the transaction that it
  /// waits for may extend the expiration.
  private func delete(_ condition: PostgresSQL, _ wait: String) -> PostgresStatement {
    let start: PostgresSQL =
      "WITH due AS (SELECT t.id FROM \(documents) WHERE "
    let end: PostgresSQL =
      " FOR UPDATE OF t, e\(wait)) DELETE FROM \(table) AS t USING due WHERE t.id = due.id "
      + "RETURNING t.id, t.key"
    return (start + condition + end).statement
  }

  /// Selects whether there are expired documents, including those that other transactions have locked.
  func hasExpired(at time: Int64) -> PostgresStatement {
    // Without the order, the plan for any time reads all expirations: it assumes that many have passed. The server
    // ignores an order in EXISTS.
    PostgresStatement(
      """
      SELECT coalesce((SELECT true FROM \(documents) \
      WHERE e.expires <= $1 ORDER BY e.expires LIMIT 1), false)
      """, [.int(time)])
  }

  /// Selects the IDs and keys of documents, and whether they have expired. Includes those that other transactions have
  /// locked.
  ///
  /// - Parameter condition: Names the columns of a document without a prefix.
  func states(_ condition: PostgresSQL, at time: Int64) -> PostgresStatement {
    let start: PostgresSQL = "SELECT id, key, NOT "
    return (start + isVisible(at: time) + " FROM \(table) WHERE " + condition).statement
  }

  /// Locks documents, and selects their IDs.
  ///
  /// - Parameters:
  ///   - condition: Names the columns of a document without a prefix.
  ///   - time: Leaves out documents that have expired at this time, as far as is committed; nil for none.
  func lock(_ condition: PostgresSQL, at time: Int64?) -> PostgresStatement {
    var sql: PostgresSQL = "SELECT id FROM \(table) WHERE " + condition
    if let time { sql += " AND " + isVisible(at: time) }
    return (sql + " ORDER BY key, id FOR UPDATE").statement
  }

  func ofRows(_ rowIDs: [Int64]) -> PostgresStatement {
    PostgresStatement(
      "SELECT id, expires FROM \(expirations) WHERE id = ANY($1)", [.ints(rowIDs.map { $0 })])
  }

  /// Selects the earliest expiration of a document: an expiration without one cannot be swept.
  func earliest(after time: Int64?) -> PostgresStatement {
    PostgresStatement(
      "SELECT e.expires FROM \(documents) WHERE e.expires > $1 ORDER BY e.expires LIMIT 1",
      [.int(time ?? .min)])
  }
}

extension PostgresCollection {
  /// The objects of the collection's expirations, if documents of it may expire.
  var expiry: ExpiryDefinition? { hasExpirations ? expiryObjects : nil }

  /// Their names, whether or not they exist.
  var expiryObjects: ExpiryDefinition {
    let hash: String = PostgresNames.hash(folded.text)
    return ExpiryDefinition(
      table: table, expirations: names.qualified("nano_expirations_" + hash),
      function: names.qualified("nano_expiry_" + hash))
  }

  /// The field of the catalog's settings that marks a collection in which documents may expire.
  static let expirationsField = "expirations"

  /// The condition that leaves out documents that have expired at a time.
  func isVisible(at time: Int64?) -> PostgresSQL? {
    time.flatMap { time in expiry.map { $0.isVisible(at: time) } }
  }
}
