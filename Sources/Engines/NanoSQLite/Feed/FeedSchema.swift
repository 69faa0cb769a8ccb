// SPDX-License-Identifier: MIT

import GRDB
import NanoSQL

/// The schema definitions of a change feed.
///
/// Each document has its position in a column of its row. The store assigns it in its own statements, and triggers in
/// those of other programs. A deleted row leaves its ID, its key and its class in a table of tombstones. A tombstone
/// does not count while there is a row with its ID, which was inserted again.
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

  /// The position after all others.
  var next: String {
    "1 + max(coalesce((SELECT max(position) FROM \(table) WHERE position IS NOT NULL), 0), "
      + "coalesce((SELECT max(position) FROM \(tombstones)), 0))"
  }

  private func trigger(_ event: String) -> String {
    SQLName.quoted("nano_feed_\(collection)_\(event)")
  }

  /// Tombstones are deleted before they are inserted: an OR IGNORE clause of a statement also applies to its triggers,
  /// but `OR REPLACE` in a trigger does not override it.
  private func bury(_ position: String) -> String {
    """
    DELETE FROM \(tombstones) WHERE id = OLD.id;
        INSERT INTO \(tombstones)(id, position, key, type, deleted)
          SELECT OLD.id, \(position), OLD.key, OLD.type, unixepoch()
    """
  }

  /// Everything except the column. Rows without a position, which are older, are not in the index.
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
    CREATE TRIGGER \(trigger("insert")) AFTER INSERT ON \(table) WHEN NEW.position IS NULL
    BEGIN
      UPDATE \(table) SET position = \(next) WHERE id = NEW.id;
    END;
    CREATE TRIGGER \(trigger("update")) AFTER UPDATE OF id, key, type, version, added, body ON \(table)
      WHEN NEW.position IS OLD.position
    BEGIN
      UPDATE \(table) SET position = \(next) WHERE id = NEW.id;
      \(bury(next)) WHERE OLD.id <> NEW.id;
    END;
    CREATE TRIGGER \(trigger("delete")) AFTER DELETE ON \(table)
    BEGIN
      \(bury("max(\(next), 1 + coalesce(OLD.position, 0))"));
    END;
    """
  }

  var drop: String {
    ["insert", "update", "delete"].map { "DROP TRIGGER IF EXISTS \(trigger($0));" }.joined()
      + "DROP INDEX IF EXISTS \(SQLName.quoted("nano_feed_" + collection));"
      + "DROP TABLE IF EXISTS \(tombstones);"
  }

  /// The columns of an entry, from a row of the collection and from a tombstone.
  private static let rowColumns = "id, coalesce(position, 0) AS position, key, type, revision, NULL"
  private static let tombstoneColumns = "id, position, key, type, NULL, deleted"

  /// Documents without a position, after the row ID `?1`.
  var oldRows: String {
    "SELECT \(Self.rowColumns) FROM \(table) WHERE position IS NULL AND id > ?1 ORDER BY id LIMIT ?2"
  }

  /// Entries after the position `?1` and the row ID `?2`.
  var newRows: String {
    """
    SELECT \(Self.rowColumns) FROM \(table) \
    WHERE position IS NOT NULL AND position >= ?1 AND (position, id) > (?1, ?2) \
    UNION ALL SELECT \(Self.tombstoneColumns) FROM \(tombstones) AS t \
    WHERE position >= ?1 AND (position, id) > (?1, ?2) \
    AND NOT EXISTS (SELECT 1 FROM \(table) AS d WHERE d.id = t.id) \
    ORDER BY 2, 1 LIMIT ?3
    """
  }

  /// The position of the row `?1`.
  var positionOfRow: String {
    """
    SELECT coalesce((SELECT coalesce(position, 0) FROM \(table) WHERE id = ?1), \
    (SELECT position FROM \(tombstones) WHERE id = ?1))
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
