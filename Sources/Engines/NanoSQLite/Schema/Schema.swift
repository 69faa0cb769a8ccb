// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// The schema definitions in the file. docs/SCHEMA.md describes every table and column.
enum Schema {
  /// The format of a new file; stored in `PRAGMA user_version`.
  static let formatVersion: Int64 = 1

  /// The format of a file that has had a change feed.
  static let feedFormatVersion: Int64 = 2

  /// The format of a file that has had decimals, attachments, expirations or kept bodies, and the newest that this version reads.
  static let newestFormatVersion: Int64 = 3

  /// `NANO`; stored in `PRAGMA application_id`, by which tools such as `file` identify the format.
  static let applicationID: Int64 = 0x4E41_4E4F

  /// The names of the internal tables that every store has.
  static let internalNames: Set<String> = [
    "nano_collections", "nano_indexes", "nano_index_ledger", "nano_paths", "nano_metadata",
  ]

  static let internalTables = """
    CREATE TABLE nano_collections (
      name TEXT PRIMARY KEY COLLATE NOCASE,
      identity TEXT NOT NULL,
      high_water INTEGER NOT NULL DEFAULT 0,
      generation INTEGER NOT NULL DEFAULT 0,
      indexing TEXT NOT NULL DEFAULT 'declared',
      parts INTEGER NOT NULL DEFAULT 0,
      settings TEXT NOT NULL DEFAULT '{}'
    ) WITHOUT ROWID;
    CREATE TABLE nano_indexes (
      collection TEXT NOT NULL COLLATE NOCASE,
      name TEXT NOT NULL,
      kind TEXT NOT NULL,
      is_unique INTEGER NOT NULL,
      columns TEXT NOT NULL,
      sql_name TEXT NOT NULL,
      origin TEXT NOT NULL,
      reason TEXT,
      filled INTEGER,
      PRIMARY KEY (collection, name)
    ) WITHOUT ROWID;
    CREATE TABLE nano_index_ledger (
      collection TEXT NOT NULL COLLATE NOCASE,
      subject TEXT NOT NULL,
      state TEXT NOT NULL,
      PRIMARY KEY (collection, subject)
    ) WITHOUT ROWID;
    CREATE TABLE nano_paths (
      collection TEXT NOT NULL COLLATE NOCASE,
      path TEXT NOT NULL,
      types INTEGER NOT NULL,
      attribute INTEGER NOT NULL,
      PRIMARY KEY (collection, path)
    ) WITHOUT ROWID;
    CREATE TABLE nano_metadata (
      name TEXT PRIMARY KEY,
      value TEXT NOT NULL
    ) WITHOUT ROWID;
    """

  /// The names of a collection's table, indexes and triggers.
  static func names(ofCollection name: String) -> [String] {
    [name, keyIndexName(name), foreignName(name), highWaterName(name)]
  }

  /// Returns a query for the indexes and triggers of a collection's table, each with its type and name.
  static func definitions(ofCollection name: String) -> SQLFragment {
    SQLFragment(
      "SELECT type || ' ' || name FROM \(all) "
        + "WHERE tbl_name = ? COLLATE NOCASE AND type IN ('index', 'trigger')", [.text(name)])
  }

  /// Returns the results of that query for a collection that has only these indexes.
  static func ownDefinitions(
    ofCollection name: String, indexes: some Sequence<String>
  ) -> Set<ExactName> {
    let indexes = [keyIndexName(name), foreignName(name)] + indexes
    let triggers = [foreignName(name), highWaterName(name)]
    return Set(
      indexes.map { ExactName("index " + $0) } + triggers.map { ExactName("trigger " + $0) })
  }

  /// The definitions in the file, and the temporary ones of a connection.
  private static let all =
    "(SELECT * FROM sqlite_schema UNION ALL SELECT * FROM sqlite_temp_schema)"

  /// A query for the triggers of other programs.
  static let otherTriggers =
    "SELECT 1 FROM \(all) WHERE type = 'trigger' AND name NOT LIKE 'nano\\_%' ESCAPE '\\'"

  private static func keyIndexName(_ collection: String) -> String { "nano_key_" + collection }
  /// The name of both an index and a trigger.
  private static func foreignName(_ collection: String) -> String { "nano_foreign_" + collection }
  private static func highWaterName(_ collection: String) -> String {
    "nano_high_water_" + collection
  }

  /// Returns the definition of a collection's table.
  ///
  /// A document written by another program has no revision or keeps its old one. The trigger and the partial
  /// index identify such documents, so that nothing is inferred from a path catalog that does not cover them, or
  /// from the row's previous content. Row IDs are never reused, because a last row that is deleted, or whose ID
  /// is changed, leaves its ID in `high_water`.
  static func collection(_ name: String) -> String {
    let table = SQLName.quoted(name)
    let foreign = SQLName.quoted(foreignName(name))
    return """
      CREATE TABLE \(table) (
        id INTEGER PRIMARY KEY,
        key,
        type TEXT,
        version INTEGER,
        added INTEGER,
        revision INTEGER,
        body TEXT NOT NULL
      );
      CREATE UNIQUE INDEX \(SQLName.quoted(keyIndexName(name))) ON \(table)(key)
        WHERE key IS NOT NULL;
      CREATE INDEX \(foreign) ON \(table)(id)
        WHERE revision IS NULL;
      CREATE TRIGGER \(foreign)
        AFTER UPDATE OF id, key, type, version, added, body ON \(table)
        WHEN NEW.revision IS OLD.revision
      BEGIN
        UPDATE \(table) SET revision = NULL WHERE id = NEW.id;
        UPDATE nano_collections SET high_water = OLD.id
          WHERE OLD.id > NEW.id AND name = \(SQLName.literal(name)) AND high_water < OLD.id;
      END;
      CREATE TRIGGER \(SQLName.quoted(highWaterName(name))) AFTER DELETE ON \(table)
        WHEN OLD.id > coalesce((SELECT max(id) FROM \(table)), 0)
      BEGIN
        UPDATE nano_collections SET high_water = OLD.id
          WHERE name = \(SQLName.literal(name)) AND high_water < OLD.id;
      END;
      """
  }
}

extension IndexDefinition.Kind {
  /// The second word of the names of the kind's definitions in SQLite.
  var sqlPrefix: String {
    switch self {
    case .fields: "index"
    case .elements: "elements"
    }
  }

  /// Whether the entries are in a side table that triggers maintain, rather than in an index of SQLite.
  var hasSideTable: Bool {
    switch self {
    case .fields: false
    case .elements: true
    }
  }
}

/// The schema definitions that create and drop an index.
struct IndexSchema {
  let collection: String
  let index: IndexDefinition
  /// The name of SQLite's index, or of the side table for an index on elements.
  let sqlName: String
  /// The fields in which a decimal ever occurred. They have two terms, by which decimals are sorted.
  var decimals: Set<FieldPath> = []

  /// Candidate names. Several indexes may produce the same name, because SQLite's names are case-insensitive:
  /// the first unused one is taken and stored in `nano_indexes`.
  static func sqlNames(_ collection: String, _ index: IndexDefinition) -> some Sequence<String> {
    let base = "nano_\(index.kind.sqlPrefix)_\(collection)_\(index.name)"
    return sequence(first: 1) { $0 + 1 }.lazy.map { $0 == 1 ? base : "\(base)_\($0)" }
  }

  /// The suffixes of the other definitions of an index on elements.
  static let suffixes = ["", "_id", "_insert", "_update", "_delete"]

  private var table: String { SQLName.quoted(collection) }

  func create() throws(StoreError) -> String {
    switch index.kind {
    case .fields:
      var terms: [String] = []
      for column in index.columns {
        guard let expressions = expressions(column.path) else {
          throw PathWalk.notIndexable(column.path, index.name)
        }
        terms += expressions.map { $0 + (column.descending ? " DESC" : "") }
      }
      return "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(SQLName.quoted(sqlName)) "
        + "ON \(table)(\(terms.joined(separator: ", ")));"
    case .elements: return try createElements(index.columns[0].path)
    }
  }

  func drop() -> String {
    switch index.kind {
    case .fields: return "DROP INDEX IF EXISTS main.\(SQLName.quoted(sqlName));"
    case .elements:
      return ["insert", "update", "delete"].map {
        "DROP TRIGGER IF EXISTS main.\(SQLName.quoted(sqlName + "_" + $0));"
      }.joined() + "DROP TABLE IF EXISTS main.\(SQLName.quoted(sqlName));"
    }
  }

  /// Returns the terms of a field; `nil` if it cannot be indexed.
  func expressions(_ path: FieldPath, from column: String = "body") -> [String]? {
    guard decimals.contains(path) else {
      return FieldExpression.extract(path, from: column).map { [$0] }
    }
    return DecimalExpression(path, from: column).map { [$0.number, $0.side] }
  }

  /// Returns the definitions of an index on elements with its triggers, without entries for the existing
  /// documents.
  func begin() throws(StoreError) -> String {
    try createElements(index.columns[0].path, filling: false)
  }

  /// Adds the elements of documents whose row IDs are above the first parameter and not above the second.
  /// Documents written since the index was begun are already in it.
  func fillRange() throws(StoreError) -> String {
    let source = "(SELECT id, body FROM \(table) WHERE id > ?1 AND id <= ?2) AS d, "
    // Sorted, because unsorted entries would each dirty a different page.
    return "INSERT OR IGNORE INTO \(SQLName.quoted(sqlName))(value, id) "
      + (try elements(index.columns[0].path, of: "d", source: source)) + " ORDER BY 1, 2"
  }

  private func createElements(_ path: FieldPath, filling: Bool = true) throws(StoreError) -> String
  {
    let side = SQLName.quoted(sqlName)
    let key = index.isUnique ? "value" : "value, id"
    let conflict = index.isUnique ? "INSERT" : "INSERT OR IGNORE"
    func fill(
      _ row: String, from source: String = "", order: String = ""
    ) throws(StoreError) -> String {
      "\(conflict) INTO \(side)(value, id) \(try elements(path, of: row, source: source))\(order);"
    }
    // An OR IGNORE or OR REPLACE clause of a statement also applies to its triggers, but not to an explicit
    // RAISE(ABORT). Entries of rows that OR REPLACE deleted are removed first.
    func rejectDuplicates() throws(StoreError) -> String {
      guard index.isUnique else { return "" }
      let values = "SELECT value FROM (\(try elements(path, of: "NEW", source: "")))"
      return "DELETE FROM \(side) WHERE value IN (\(values)) "
        + "AND NOT EXISTS (SELECT 1 FROM \(table) WHERE \(table).id = \(side).id); "
        + "SELECT RAISE(ABORT, \(SQLName.literal("UNIQUE constraint failed: \(sqlName).value"))) "
        + "WHERE EXISTS (SELECT 1 FROM \(side) WHERE value IN (\(values)) AND id <> NEW.id); "
    }
    func trigger(_ name: String, _ event: String, _ body: String) -> String {
      "CREATE TRIGGER \(SQLName.quoted(sqlName + "_" + name)) AFTER \(event) ON \(table) "
        + "BEGIN \(body) END;"
    }
    let remove = "DELETE FROM \(side) WHERE id = OLD.id;"
    // INSERT OR REPLACE deletes the old row without firing the delete trigger.
    let replace = "DELETE FROM \(side) WHERE id = NEW.id;"
    return """
      CREATE TABLE \(side) (value, id INTEGER NOT NULL, PRIMARY KEY (\(key))) WITHOUT ROWID;
      \(filling ? try fill("d", from: "\(table) AS d, ", order: " ORDER BY 1, 2") : "")
      CREATE INDEX \(SQLName.quoted(sqlName + "_id")) ON \(side)(id);
      \(trigger("insert", "INSERT", replace + (try rejectDuplicates()) + (try fill("NEW"))))
      \(trigger("update", "UPDATE OF body, id", remove + (try rejectDuplicates()) + (try fill("NEW"))))
      \(trigger("delete", "DELETE", remove))
      """
  }

  /// Returns a query that counts the superfluous and missing entries of the side table.
  func elementDifference() throws(StoreError) -> String {
    let expected = try elements(index.columns[0].path, of: "d", source: "\(table) AS d, ")
    let stored = "SELECT value, id FROM \(SQLName.quoted(sqlName))"
    return "SELECT (SELECT count(*) FROM (\(stored) EXCEPT \(expected))) "
      + "+ (SELECT count(*) FROM (\(expected) EXCEPT \(stored)))"
  }

  /// Returns a query that compares the entries of two bodies, its parameters.
  func sameEntries() throws(StoreError) -> String {
    switch index.kind {
    case .fields:
      func terms(_ body: String) -> String {
        index.columns.flatMap { expressions($0.path, from: body) ?? [] }
          .joined(separator: ", ")
      }
      return "SELECT (\(terms("?1"))) IS (\(terms("?2")))"
    case .elements:
      let (first, second) = (try elements(ofBody: "?1"), try elements(ofBody: "?2"))
      return "SELECT NOT EXISTS (\(first) EXCEPT \(second)) "
        + "AND NOT EXISTS (\(second) EXCEPT \(first))"
    }
  }

  /// Returns a query for another row that has an entry of a body. The parameters are the body and the row ID to
  /// exclude.
  func otherRows() throws(StoreError) -> String {
    switch index.kind {
    case .fields:
      let terms = index.columns.flatMap { column -> [String] in
        guard let stored = expressions(column.path),
          let given = expressions(column.path, from: "?1")
        else { return [] }
        return zip(stored, given).map { "\($0) = \($1)" }
      }
      return
        "SELECT id FROM \(table) WHERE id <> ?2 AND \(terms.joined(separator: " AND ")) LIMIT 1"
    case .elements:
      let values = "SELECT value FROM (\(try elements(ofBody: "?1")))"
      return "SELECT id FROM \(SQLName.quoted(sqlName)) "
        + "WHERE id <> ?2 AND value IN (\(values)) LIMIT 1"
    }
  }

  private func elements(ofBody body: String) throws(StoreError) -> String {
    try elements(
      index.columns[0].path, of: "d", source: "(SELECT \(body) AS body, 0 AS id) AS d, ")
  }

  private func elements(
    _ path: FieldPath, of row: String, source: String
  ) throws(StoreError) -> String {
    let walk = try PathWalk(path, in: "\(row).body", index: index.name)
    let value =
      decimals.contains(path)
      ? DecimalExpression.element(walk.last) + " AS value" : "\(walk.last).value"
    return "SELECT DISTINCT \(value), \(row).id FROM \(source)\(walk.tables) "
      + "WHERE \(walk.condition)"
  }
}
