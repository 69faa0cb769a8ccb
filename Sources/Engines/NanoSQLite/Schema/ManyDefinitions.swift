// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// Creates the tables of many collections in time proportional to their number.
///
/// For each definition, SQLite reads the whole schema again (`OP_ParseSchema`), walks all known tables
/// (`sqlite3FkClearTriggerCache`), and searches hash tables of at most 64 buckets (`SQLITE_MALLOC_SOFT_LIMIT`), so
/// 10,000 collections would take minutes. Therefore the rows of the schema are set aside in a temporary table after
/// every few collections, and put back in the end: https://sqlite.org/pragma.html#pragma_writable_schema permits both.
/// All of it is part of one transaction, so that no other connection sees it and a failure undoes it.
struct ManyDefinitions {
  let connection: SQLiteConnection

  /// The number of collections from which on the method is worth its overhead, and between two times that it sets
  /// definitions aside. Arbitrary.
  static let groupSize = 64

  /// Whether the schema may be set aside. A statement that is running, or a full-text index with pending entries,
  /// would refer to tables that SQLite forgets meanwhile.
  func arePossible(_ names: [String]) throws -> Bool {
    return try !connection.hasRunningStatements && !hasVirtualTables && !areInUse(names)
      && isSchemaWritable
  }

  private var hasVirtualTables: Bool {
    get throws {
      try connection.first(
        SQLFragment("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage = 0")
      ) { _ in true } ?? false
    }
  }

  /// Whether a definition has a name that one of the collections needs. SQLite would not notice it while definitions
  /// are set aside, and reports it otherwise.
  private func areInUse(_ names: [String]) throws -> Bool {
    var needed: Set<ExactName> = []
    for name in names { needed.formUnion(Schema.names(ofCollection: name).map(\.folded)) }
    return try connection.with(SQLFragment("SELECT name FROM sqlite_schema")) { row in
      while try row.step() {
        if let name = row.text(0), needed.contains(name.folded) { return true }
      }
      return false
    }
  }

  /// SQLite can be configured to forbid changes of the schema (`SQLITE_DBCONFIG_DEFENSIVE`).
  private var isSchemaWritable: Bool {
    get throws {
      try connection.execute("PRAGMA writable_schema = ON")
      defer { try? connection.execute("PRAGMA writable_schema = OFF") }
      return (try? connection.execute("EXPLAIN DELETE FROM main.sqlite_schema")) != nil
    }
  }

  /// Creates the tables. If it throws, the caller must undo the whole of it.
  func create(_ names: [String]) throws {
    guard let last = names.last else { return }
    try connection.execute("PRAGMA writable_schema = ON")
    defer { try? connection.execute("PRAGMA writable_schema = OFF") }
    try connection.execute(
      "CREATE TEMP TABLE nano_definitions "
        + "(number INTEGER PRIMARY KEY, type, name, tbl_name, rootpage, sql)")
    var count = 0
    for name in names.dropLast() {
      if count.isMultiple(of: Self.groupSize) { try setAside() }
      try connection.execute(Schema.collection(name))
      count += 1
    }
    try setAside()
    try connection.execute(
      """
      INSERT INTO main.sqlite_schema(type, name, tbl_name, rootpage, sql)
        SELECT type, name, tbl_name, rootpage, sql FROM temp.nano_definitions ORDER BY number;
      DROP TABLE temp.nano_definitions;
      PRAGMA writable_schema = RESET;
      """)
    // A change by the usual way, because only after one does SQLite read the schema again if the transaction is
    // rolled back.
    try connection.execute(Schema.collection(last))
  }

  private func setAside() throws {
    try connection.interruption?.check()
    // RESET makes SQLite forget the tables, and also forbids changes of the schema.
    try connection.execute(
      """
      INSERT INTO temp.nano_definitions(type, name, tbl_name, rootpage, sql)
        SELECT type, name, tbl_name, rootpage, sql FROM main.sqlite_schema ORDER BY rowid;
      DELETE FROM main.sqlite_schema;
      PRAGMA writable_schema = RESET;
      PRAGMA writable_schema = ON;
      """)
  }
}
