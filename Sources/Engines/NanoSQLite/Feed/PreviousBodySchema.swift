// SPDX-License-Identifier: MIT

import NanoSQL

/// The schema definitions that keep the body that a document had before its next update.
///
/// A trigger copies the row before it is changed, whichever program changes it, unless one is kept. It does not
/// change the row of a deleted document, but marks it: a new document may get the same row ID.
///
/// The body is not in the column in which a document has it, so that a recovery from damaged pages does not mistake
/// a kept body for a document.
struct PreviousBodySchema {
  private let collection: String
  private let table: String

  init(_ collection: String) {
    self.collection = collection
    table = SQLName.quoted(collection)
  }

  /// The name of the table of kept bodies.
  var name: String { "nano_previous_" + collection }
  private var bodies: String { SQLName.quoted(name) }

  /// The trigger that keeps bodies. A collection keeps them as long as it exists.
  var triggerName: String { "nano_previous_\(collection)_update" }
  private var deletionTrigger: String { SQLName.quoted("nano_previous_\(collection)_delete") }

  /// Bodies are kept before the update: a trigger of another program that updates the row again may run before all
  /// other triggers after the update (https://www.sqlite.org/lang_createtrigger.html leaves the order undefined).
  ///
  /// There is no OR IGNORE: an OR clause of a statement also applies to its triggers, and overrides theirs.
  var create: String {
    """
    CREATE TABLE \(bodies) (
      id INTEGER PRIMARY KEY,
      deleted INTEGER NOT NULL DEFAULT 0,
      key,
      type TEXT,
      version INTEGER,
      added INTEGER,
      revision INTEGER,
      body TEXT NOT NULL
    );
    CREATE TRIGGER \(SQLName.quoted(triggerName)) BEFORE UPDATE OF id, key, type, version, body ON \(table)
      WHEN NEW.id <> OLD.id OR NEW.key IS NOT OLD.key OR NEW.type IS NOT OLD.type
        OR NEW.version IS NOT OLD.version OR NEW.body IS NOT OLD.body
    BEGIN
      DELETE FROM \(bodies) WHERE id = OLD.id AND deleted;
      INSERT INTO \(bodies)(id, key, type, version, added, revision, body)
        SELECT OLD.id, OLD.key, OLD.type, OLD.version, OLD.added, OLD.revision, OLD.body
        WHERE NEW.id = OLD.id AND NOT EXISTS (SELECT 1 FROM \(bodies) WHERE id = OLD.id);
      UPDATE \(bodies) SET deleted = 1 WHERE id = OLD.id AND NEW.id <> OLD.id;
    END;
    CREATE TRIGGER \(deletionTrigger) AFTER DELETE ON \(table)
    BEGIN
      UPDATE \(bodies) SET deleted = 1 WHERE id = OLD.id;
    END;
    """
  }

  var drop: String {
    "DROP TRIGGER IF EXISTS \(SQLName.quoted(triggerName));"
      + "DROP TRIGGER IF EXISTS \(deletionTrigger);" + "DROP TABLE IF EXISTS \(bodies);"
  }

  private static let columns = "id, key, type, version, added, revision, body"

  /// The kept body of the row `?1`, unless it is that of a former document with the row's ID.
  var ofRow: String {
    "SELECT \(Self.columns) FROM \(bodies) WHERE id = ?1 "
      + "AND NOT (deleted AND EXISTS (SELECT 1 FROM \(table) WHERE id = ?1))"
  }

  /// All kept bodies after a row ID, at most `?1`.
  func all(after rowID: Int64?) -> String {
    "SELECT \(Self.columns) FROM \(bodies)\(rowID.map { " WHERE id > \($0)" } ?? "") ORDER BY id LIMIT ?1"
  }

  /// Whether the row `?1` has a kept body.
  var hasRow: String { "SELECT 1 FROM \(bodies) WHERE id = ?1 AND NOT deleted" }

  /// Removes the kept body of the row `?1`.
  var remove: String { "DELETE FROM \(bodies) WHERE id = ?1" }

  /// Replaces the kept body of the row `?1` by `?2`.
  var replace: String { "UPDATE \(bodies) SET body = ?2 WHERE id = ?1" }
}
