// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// The schema definitions of the expirations of a collection.
///
/// They are in a separate table, with the row IDs of the documents that expire. The rows of documents and the
/// statements that write them stay the same, and expired documents are found without reading them. The store sets
/// expirations in its own statements. Triggers apply the collection's rule to rows of other programs, which have no
/// revision.
struct ExpirySchema {
  private let collection: String
  private let table: String

  init(_ collection: String) {
    self.collection = collection
    table = SQLName.quoted(collection)
  }

  static let prefix = "nano_expirations_"
  private var name: String { Self.prefix + collection }
  /// The quoted name of the table of expirations.
  var expirations: String { SQLName.quoted(name) }

  private func trigger(_ event: String) -> String {
    SQLName.quoted("nano_expire_\(collection)_\(event)")
  }

  var create: String {
    """
    CREATE TABLE \(expirations) (
      id INTEGER PRIMARY KEY,
      expires INTEGER NOT NULL
    );
    CREATE INDEX \(SQLName.quoted("nano_expire_" + collection)) ON \(expirations)(expires);
    CREATE TRIGGER \(trigger("delete")) AFTER DELETE ON \(table)
    BEGIN
      DELETE FROM \(expirations) WHERE id = OLD.id;
    END;
    CREATE TRIGGER \(trigger("move")) AFTER UPDATE OF id ON \(table) WHEN NEW.id <> OLD.id
    BEGIN
      DELETE FROM \(expirations) WHERE id = NEW.id;
      UPDATE \(expirations) SET id = NEW.id WHERE id = OLD.id;
    END;
    """
  }

  /// The triggers that apply a rule to rows of other programs.
  func createTriggers(_ rule: ExpirationRule) -> String {
    """
    CREATE TRIGGER \(trigger("insert")) AFTER INSERT ON \(table) WHEN NEW.revision IS NULL
    BEGIN
      \(apply(rule))
    END;
    CREATE TRIGGER \(trigger("update")) AFTER UPDATE OF key, type, version, added, body ON \(table)
      WHEN NEW.revision IS OLD.revision
    BEGIN
      \(apply(rule))
    END;
    """
  }

  var dropTriggers: String {
    ["insert", "update"].map { "DROP TRIGGER IF EXISTS main.\(trigger($0));" }.joined()
  }

  var drop: String {
    dropTriggers
      + ["delete", "move"].map { "DROP TRIGGER IF EXISTS main.\(trigger($0));" }.joined()
      + "DROP TABLE IF EXISTS main.\(expirations);"
  }

  /// The row is deleted before it is inserted: an OR IGNORE clause of a statement also applies to its triggers.
  private func apply(_ rule: ExpirationRule) -> String {
    """
    DELETE FROM \(expirations) WHERE id = NEW.id;
      INSERT INTO \(expirations)(id, expires)
        SELECT NEW.id, time FROM (SELECT \(time(rule)) AS time) WHERE time IS NOT NULL;
    """
  }

  /// The expiration of a row of another program. A body in another spelling has the value of a field at the same path;
  /// a date has milliseconds until the row is adopted.
  private func time(_ rule: ExpirationRule) -> String {
    switch rule {
    case .after(let duration):
      return "CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + \(duration.inMicroseconds)"
    case .field(let path, let duration):
      guard let literal = FieldExpression.literal(path) else { return "NULL" }
      let date = "NEW.body -> \(literal) ->> '$.\"$date\"'"
      // julianday() also accepts other texts, such as 'now'.
      let text =
        "CASE WHEN json_valid(NEW.body) THEN CASE WHEN (\(date)) GLOB \(Self.datePattern) "
        + "THEN \(date) END END"
      return "CAST((julianday(\(text)) - 2440587.5) * 86400000 + 0.5 AS INTEGER) * 1000 "
        + "+ \(duration.inMicroseconds)"
    }
  }

  private static let datePattern = "'" + "dddd-dd-ddTdd:dd:dd*".replacing("d", with: "[0-9]") + "'"

  /// The condition for a row of the collection's table that has not expired at a time.
  func isVisible(_ time: String) -> String {
    "NOT EXISTS (SELECT 1 FROM \(expirations) AS nano_e WHERE nano_e.id = \(table).id AND nano_e.expires <= \(time))"
  }

  /// Whether any document has expired at the time `?`.
  var hasExpired: String { "SELECT EXISTS (SELECT 1 FROM \(expirations) WHERE expires <= ?)" }

  /// The earliest documents that have expired at the time `?1`, at most `?2`, after the first `?3`. Entries of rows that
  /// `OR REPLACE` deleted have no document.
  var expiredDocuments: String {
    "SELECT e.id, d.key, d.id IS NOT NULL FROM \(expirations) AS e LEFT JOIN \(table) AS d ON d.id = e.id "
      + "WHERE e.expires <= ?1 ORDER BY e.expires, e.id LIMIT ?2 OFFSET ?3"
  }

  /// The earliest expiration after the time `?`.
  var earliest: String { "SELECT min(expires) FROM \(expirations) WHERE expires > ?" }

  /// The expiration of the row `?`.
  var ofRow: String { "SELECT expires FROM \(expirations) WHERE id = ?" }

  /// Sets the expiration `?2` of the row `?1`, if it exists.
  var set: String {
    "INSERT INTO \(expirations)(id, expires) SELECT id, ?2 FROM \(table) WHERE id = ?1 "
      + "ON CONFLICT (id) DO UPDATE SET expires = excluded.expires"
  }

  var clear: String { "DELETE FROM \(expirations) WHERE id = ?1" }

  /// The expiration of the document whose key or row ID is `?1`, if it has expired at the time `?2`.
  func expiredRow(_ identity: Identity) -> String {
    "SELECT d.id FROM \(table) AS d JOIN \(expirations) AS e ON e.id = d.id "
      + "WHERE d.\(identity.isKey ? "key" : "id") = ?1 AND e.expires <= ?2"
  }
}
