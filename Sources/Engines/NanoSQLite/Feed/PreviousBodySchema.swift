// SPDX-License-Identifier: MIT

import NanoSQL

/// The schema definitions that keep the body that a document had before its next update.
///
/// A trigger copies the row before it is changed, whichever program changes it, to the end of a log. The writer moves
/// the rows of the log to a table by row ID from time to time, and before it looks for one: writing each of them to its
/// place at once would write two more pages in each commit, of which one is split every few rows.
///
/// The log may have several bodies of a document, of which the first counts. The deletion of a document, or a change of
/// its row ID, is marked in the table and, unless it is empty, in the log: the body remains, but not as that of a new
/// document with the same row ID.
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
  /// The name of the log.
  var logName: String { "nano_former_" + collection }
  private var log: String { SQLName.quoted(logName) }

  /// The trigger that keeps bodies. A collection keeps them as long as it exists.
  var triggerName: String { "nano_previous_\(collection)_update" }
  private var deletionTrigger: String { SQLName.quoted("nano_previous_\(collection)_delete") }

  /// Bodies are kept before the update: a trigger of another program that updates the row again may run before all
  /// other triggers after the update (https://www.sqlite.org/lang_createtrigger.html leaves the order undefined).
  ///
  /// Nothing in the triggers can violate a constraint: an OR clause of a statement also applies to its triggers.
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
    CREATE TABLE \(log) (
      number INTEGER PRIMARY KEY,
      id INTEGER NOT NULL,
      key,
      type TEXT,
      version INTEGER,
      added INTEGER,
      revision INTEGER,
      body TEXT
    );
    CREATE TRIGGER \(SQLName.quoted(triggerName)) BEFORE UPDATE OF id, key, type, version, body ON \(table)
      WHEN NEW.id <> OLD.id OR NEW.key IS NOT OLD.key OR NEW.type IS NOT OLD.type
        OR NEW.version IS NOT OLD.version OR NEW.body IS NOT OLD.body
    BEGIN
      INSERT INTO \(log)(id, key, type, version, added, revision, body)
        SELECT OLD.id, OLD.key, OLD.type, OLD.version, OLD.added, OLD.revision, OLD.body
        WHERE NEW.id = OLD.id AND NOT EXISTS (SELECT 1 FROM \(bodies) WHERE id = OLD.id AND NOT deleted);
      UPDATE \(bodies) SET deleted = 1 WHERE id = OLD.id AND NEW.id <> OLD.id;
      INSERT INTO \(log)(id) SELECT OLD.id WHERE NEW.id <> OLD.id AND EXISTS (SELECT 1 FROM \(log));
    END;
    CREATE TRIGGER \(deletionTrigger) AFTER DELETE ON \(table)
    BEGIN
      UPDATE \(bodies) SET deleted = 1 WHERE id = OLD.id;
      INSERT INTO \(log)(id) SELECT OLD.id WHERE EXISTS (SELECT 1 FROM \(log));
    END;
    """
  }

  var drop: String {
    "DROP TRIGGER IF EXISTS main.\(SQLName.quoted(triggerName));"
      + "DROP TRIGGER IF EXISTS main.\(deletionTrigger);"
      + "DROP TABLE IF EXISTS main.\(bodies); DROP TABLE IF EXISTS main.\(log);"
  }
}

/// The table of kept bodies.
extension PreviousBodySchema {
  private static let attributes = "key, type, version, added, revision, body"

  /// The kept body of the row `?1`.
  var ofRow: String { "SELECT id, \(Self.attributes) FROM \(bodies) WHERE id = ?1" }

  /// Whether the kept body of the row `?1` is that of a deleted document.
  var isDeleted: String { "SELECT deleted FROM \(bodies) WHERE id = ?1" }

  /// The IDs of at most `?2` rows with kept bodies after the row ID `?1`, ascending.
  var rowIDs: String {
    """
    SELECT id FROM \(bodies) WHERE id > ?1 UNION \
    SELECT id FROM \(log) WHERE id > ?1 AND body IS NOT NULL ORDER BY id LIMIT ?2
    """
  }

  /// Whether a document has the row ID `?1`.
  var hasDocument: String { "SELECT 1 FROM \(table) WHERE id = ?1" }

  /// Removes the kept body of the row `?1`.
  var remove: String { "DELETE FROM \(bodies) WHERE id = ?1" }

  /// Replaces the kept body of the row `?1` by `?2`.
  var replace: String { "UPDATE \(bodies) SET body = ?2 WHERE id = ?1" }
}

/// The log.
extension PreviousBodySchema {
  /// The largest number in the log, NULL if it is empty.
  var lastNumber: String { "SELECT max(number) FROM \(log)" }

  /// The numbers, row IDs and kinds of all rows of the log, or of those of the row `?1`.
  func events(ofOneRow: Bool) -> String {
    "SELECT number, id, body IS NULL FROM \(log)\(ofOneRow ? " WHERE id = ?1" : "") ORDER BY id, number"
  }

  /// The body that the log has under the number `?1`.
  var logged: String { "SELECT id, \(Self.attributes) FROM \(log) WHERE number = ?1" }

  /// Moves the body with the number `?1` to the table, unless that has one.
  var move: String {
    let assignments = Self.attributes.split(separator: ", ").map { "\($0) = excluded.\($0)" }
    return """
      INSERT INTO \(bodies)(id, \(Self.attributes)) \(logged) \
      ON CONFLICT (id) DO UPDATE SET deleted = 0, \(assignments.joined(separator: ", ")) WHERE deleted
      """
  }

  /// Marks the kept body of the row `?1` as that of a deleted document.
  var markDeleted: String { "UPDATE \(bodies) SET deleted = 1 WHERE id = ?1" }

  var clearLog: String { "DELETE FROM \(log)" }

  /// Removes what the log has of the row `?1`.
  var removeLogged: String { "DELETE FROM \(log) WHERE id = ?1" }
}
