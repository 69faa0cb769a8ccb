// SPDX-License-Identifier: MIT

import GRDB
import NanoSQL

/// The schema definitions of a change feed.
///
/// Each entry has a number. That of a new document is its row ID, so that inserting costs nothing: row IDs and the
/// numbers of updates and deletions increase together. An updated document has its number in the column `position`.
/// The store assigns it in its own statements, and triggers in those of other programs. A document that another
/// program inserts has a row ID that may be less than numbers in use; it gets a number when a store adopts it. There
/// is no trigger for insertions, with which SQLite would copy the rows of each statement to a temporary table. Negative
/// row IDs are not numbers, nor are the largest ones.
///
/// A deleted row leaves its ID, its key and its class in a table of tombstones. A tombstone does not count while there
/// is a row with its ID and a number, which was inserted again. While that row has no number, it is a later entry, and may
/// be another document: SQLite gives the ID of the last row again.
struct FeedSchema {
  private let collection: String
  private let table: String

  init(_ collection: String) {
    self.collection = collection
    table = SQLName.quoted(collection)
  }

  /// The states of the feeds. Exists once a collection was tracked.
  static let internalTable = "nano_feeds"
  static let createInternalTable = """
    CREATE TABLE IF NOT EXISTS nano_feeds (
      collection TEXT PRIMARY KEY COLLATE NOCASE,
      timeline INTEGER NOT NULL,
      origin INTEGER,
      pruned INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID;
    """

  /// The column that a table has once it was tracked.
  static let column = "position"
  var addColumn: String { "ALTER TABLE \(table) ADD COLUMN \(Self.column) INTEGER;" }

  private var tombstoneName: String { "nano_tombstones_" + collection }
  var tombstones: String { SQLName.quoted(tombstoneName) }

  /// The first row ID that is not a number: after the largest one, there would be no next number. Entries have a few
  /// numbers beyond it if the row ID before it is used.
  static let numberLimit: Int64 = 1 << 62

  /// The number after all others.
  var next: String {
    "1 + max(coalesce((SELECT max(id) FROM \(table) WHERE id < \(Self.numberLimit)), 0), "
      + "coalesce((SELECT max(position) FROM \(table) WHERE position IS NOT NULL), 0), "
      + "coalesce((SELECT max(position) FROM \(tombstones)), 0))"
  }

  private func trigger(_ event: String) -> String {
    SQLName.quoted("nano_feed_\(collection)_\(event)")
  }

  /// A tombstone that the ID has from an earlier row is changed, so that the new number exceeds its number, which readers may
  /// have passed. Not with `OR REPLACE`, which does not override the OR IGNORE clause of a statement that fires the trigger.
  private func bury(_ position: String, if condition: String = "1") -> String {
    """
    UPDATE \(tombstones)
          SET position = \(position), key = OLD.key, type = OLD.type, deleted = unixepoch()
          WHERE id = OLD.id AND \(condition);
        INSERT INTO \(tombstones)(id, position, key, type, deleted)
          SELECT OLD.id, \(position), OLD.key, OLD.type, unixepoch()
          WHERE \(condition) AND NOT EXISTS (SELECT 1 FROM \(tombstones) WHERE id = OLD.id)
    """
  }

  /// Everything except the column. Most rows have no position, and are not in the index.
  var create: String {
    """
    CREATE TABLE \(tombstones) (
      id INTEGER PRIMARY KEY,
      position INTEGER NOT NULL,
      key,
      type TEXT,
      deleted INTEGER NOT NULL
    );
    CREATE INDEX \(SQLName.quoted("nano_feed_\(tombstoneName)")) ON \(tombstones)(position);
    CREATE INDEX \(SQLName.quoted("nano_feed_" + collection)) ON \(table)(position)
      WHERE position IS NOT NULL;
    CREATE TRIGGER \(trigger("update")) AFTER UPDATE OF id, key, type, version, added, body ON \(table)
      WHEN NEW.position IS OLD.position
    BEGIN
      UPDATE \(table) SET position = \(next) WHERE id = NEW.id;
      DELETE FROM \(tombstones) WHERE id = OLD.id AND OLD.id = NEW.id;
      \(bury(next, if: "OLD.id <> NEW.id"));
    END;
    CREATE TRIGGER \(trigger("delete")) AFTER DELETE ON \(table)
    BEGIN
      \(bury("max(\(next), 1 + OLD.id * (OLD.id < \(Self.numberLimit)), 1 + coalesce(OLD.position, 0))"));
    END;
    """
  }

  /// Removes all numbers. The index of those that are left makes it fast.
  var clearPositions: String {
    "UPDATE \(table) SET position = NULL WHERE position IS NOT NULL;"
  }

  /// Assigns numbers to rows whose IDs are none. A statement for each range, so that it is searched by the row ID.
  var numberOtherRowIDs: String {
    ["id >= \(Self.numberLimit)", "id < 0"].map {
      "UPDATE \(table) SET position = \(next) WHERE \($0) AND position IS NULL;"
    }.joined()
  }

  var drop: String {
    ["update", "delete"].map { "DROP TRIGGER IF EXISTS main.\(trigger($0));" }.joined()
      + "DROP INDEX IF EXISTS main.\(SQLName.quoted("nano_feed_" + collection));"
      + "DROP TABLE IF EXISTS main.\(tombstones);"
  }

  /// Entries after the number `?1` and the row ID `?2`: documents whose number is their row ID.
  var newDocuments: String {
    """
    SELECT id, id, key, type, revision, NULL FROM \(table) \
    WHERE position IS NULL AND revision IS NOT NULL AND id >= ?1 AND (id, id) > (?1, ?2) \
    ORDER BY id LIMIT ?3
    """
  }

  /// The same for updated documents.
  var updatedDocuments: String {
    """
    SELECT id, position, key, type, revision, NULL FROM \(table) \
    WHERE position IS NOT NULL AND position >= ?1 AND (position, id) > (?1, ?2) \
    ORDER BY position, id LIMIT ?3
    """
  }

  /// The same for deleted documents.
  var deletedDocuments: String {
    """
    SELECT id, position, key, type, NULL, deleted FROM \(tombstones) AS t \
    WHERE position >= ?1 AND (position, id) > (?1, ?2) \
    AND NOT EXISTS (SELECT 1 FROM \(table) AS d WHERE d.id = t.id AND NOT (\(Self.isUnnumbered))) \
    ORDER BY position, id LIMIT ?3
    """
  }

  /// The key of the deleted document that had the row ID `?1`.
  var formerKey: String { "SELECT key FROM \(tombstones) WHERE id = ?1" }

  private static let isUnnumbered = "revision IS NULL AND position IS NULL"

  var countOfUnnumbered: String { "SELECT count(*) FROM \(table) WHERE \(Self.isUnnumbered)" }

  /// Entries without a number after the row ID `?1`.
  var unnumberedDocuments: String {
    "SELECT id, 0, key, type, NULL, NULL FROM \(table) WHERE \(Self.isUnnumbered) AND id > ?1 ORDER BY id LIMIT ?2"
  }

  /// The number of the row `?1`.
  var numberOfRow: String {
    """
    SELECT coalesce((SELECT CASE WHEN \(Self.isUnnumbered) THEN \(Int64.max) ELSE coalesce(position, id) END \
    FROM \(table) WHERE id = ?1), (SELECT position FROM \(tombstones) WHERE id = ?1))
    """
  }
}

extension FeedSchema {
  /// Begins new timelines in a backup: if the store is restored from it, readers have seen changes that it lacks, whose
  /// positions will be assigned again.
  static func beginTimelines(_ backup: DatabaseQueue) throws {
    try backup.writeWithoutTransaction { db in
      guard try db.tableExists(internalTable) else { return }
      try db.execute(
        sql: """
          UPDATE nano_feeds SET origin = timeline, timeline = 1 + (random() & 4503599627370494)
          """)
    }
  }
}
