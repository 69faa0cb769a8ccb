// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// The schema of a full-text index: a view of the text, an FTS5 table that reads from the view, and the triggers
/// that maintain it. docs/SCHEMA.md describes them.
///
/// FTS5 flushes its buffer at the end of every statement with triggers in a transaction
/// (https://sqlite.org/fts5.html#external_content_tables), so adding documents one at a time costs thirty times
/// as much as adding them in bulk. The writer therefore adds new documents itself, many at once; the insert
/// trigger is only for other programs, whose rows have no revision.
struct FullTextIndexSchema {
  let collection: String
  let index: FullTextIndexDefinition
  /// The name of the FTS5 table.
  let sqlName: String

  /// Candidate names for the FTS5 table; the first unused one is taken.
  static func sqlNames(_ collection: String, _ index: FullTextIndexDefinition) -> some Sequence<
    String
  > {
    let base = "nano_text_\(collection)_\(index.name)"
    return sequence(first: 1) { $0 + 1 }.lazy.map { $0 == 1 ? base : "\(base)_\($0)" }
  }

  /// The suffixes of the index's other definitions and of FTS5's shadow tables.
  static let suffixes = [
    "", "_view", "_insert", "_update", "_delete", "_data", "_idx", "_content", "_docsize",
    "_config",
  ]

  private var table: String { SQLName.quoted(collection) }
  private var textTable: String { SQLName.quoted(sqlName) }
  private var view: String { SQLName.quoted(sqlName + "_view") }
  private var sizes: String { SQLName.quoted(sqlName + "_docsize") }
  private var columns: [String] { index.fields.indices.map(FullTextMatchExpression.column) }
  private var columnList: String { columns.joined(separator: ", ") }

  /// The tokenizer in FTS5's syntax.
  private var tokenizer: String {
    switch index.tokens {
    case .words: "unicode61 remove_diacritics 2"
    case .substrings: "trigram case_sensitive 0"
    }
  }

  /// The options shared by all tables with the same tokenizer.
  func options(content: String) -> String {
    "\(columnList), content = \(SQLName.literal(content)), content_rowid = 'id', "
      + "tokenize = \(SQLName.literal(tokenizer))"
  }

  func create() throws(StoreError) -> String {
    let new = try expressions(of: "NEW").joined(separator: ", ")
    let old = try expressions(of: "OLD").joined(separator: ", ")
    let remove =
      "INSERT INTO \(textTable)(\(textTable), rowid, \(columnList)) VALUES ('delete', OLD.id, \(old));"
    let isIndexed = "EXISTS (SELECT 1 FROM \(sizes) WHERE id = OLD.id)"
    func trigger(_ name: String, _ event: String, when condition: String, _ body: String) -> String
    {
      "CREATE TRIGGER \(SQLName.quoted("\(sqlName)_\(name)")) AFTER \(event) ON \(table) "
        + "WHEN \(condition) BEGIN \(body) END;"
    }
    return """
      CREATE VIEW \(view) AS SELECT \(table).id AS id, \(try viewColumns()) FROM \(table);
      CREATE VIRTUAL TABLE \(textTable) USING fts5(\(options(content: sqlName + "_view")));
      \(fill())
      \(trigger("insert", "INSERT", when: "NEW.revision IS NULL", add(new)))
      \(trigger(
        "update", "UPDATE OF body, id",
        when: "\(isIndexed) AND (OLD.id, \(old)) IS NOT (NEW.id, \(new))", remove + add(new)))
      \(trigger("delete", "DELETE", when: isIndexed, remove))
      """
  }

  func drop() -> String {
    ["insert", "update", "delete"].map {
      "DROP TRIGGER IF EXISTS main.\(SQLName.quoted("\(sqlName)_\($0)"));"
    }.joined() + "DROP TABLE IF EXISTS main.\(textTable);DROP VIEW IF EXISTS main.\(view);"
  }

  /// Adds the text of rows that are not indexed yet and whose row IDs are in a range, the first two parameters.
  var addRange: String {
    "INSERT INTO \(textTable)(rowid, \(columnList)) SELECT id, \(columnList) FROM \(view) AS v "
      + "WHERE id BETWEEN ?1 AND ?2 "
      + "AND NOT EXISTS (SELECT 1 FROM \(sizes) AS s WHERE s.id = v.id)"
  }

  /// Rebuilds the contents. FTS5's own `rebuild` cannot read a view that uses `json_tree`.
  func rebuild() -> String {
    "INSERT INTO \(textTable)(\(textTable)) VALUES ('delete-all');" + fill()
  }

  private func fill() -> String {
    "INSERT INTO \(textTable)(rowid, \(columnList)) SELECT id, \(columnList) FROM \(view);"
  }

  /// Adds the new row. If the row is already indexed, it was replaced without a trigger, as by OR REPLACE, and
  /// its old text is gone: only a full rebuild is correct then.
  private func add(_ new: String) -> String {
    "INSERT INTO \(textTable)(\(textTable)) SELECT 'delete-all' "
      + "WHERE EXISTS (SELECT 1 FROM \(sizes) WHERE id = NEW.id); "
      + "INSERT INTO \(textTable)(rowid, \(columnList)) SELECT v.id, \(columnList) "
      + "FROM (SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM \(sizes))) CROSS JOIN \(view) AS v "
      + "WHERE v.id <> NEW.id; "
      + "INSERT INTO \(textTable)(rowid, \(columnList)) VALUES (NEW.id, \(new));"
  }

  /// Returns a query that compares the indexed text of two bodies, its parameters.
  func sameEntries() throws(StoreError) -> String {
    let first = try expressions(of: "a").joined(separator: ", ")
    let second = try expressions(of: "b").joined(separator: ", ")
    return
      "SELECT (\(first)) IS (\(second)) FROM (SELECT ?1 AS body) AS a, (SELECT ?2 AS body) AS b"
  }

  private func viewColumns() throws(StoreError) -> String {
    zip(try expressions(of: table), columns).map { "\($0) AS \($1)" }.joined(separator: ", ")
  }

  private func expressions(of row: String) throws(StoreError) -> [String] {
    var all: [String] = []
    for path in index.fields { all.append(try expression(path, of: row)) }
    return all
  }

  /// Returns an expression for all text at a path joined into one, NULL if there is none. Arrays are traversed
  /// only where the document has one along the path.
  private func expression(_ path: FieldPath, of row: String) throws(StoreError) -> String {
    let body = "\(row).body"
    let readable = readable(body)
    let walk = try PathWalk(path, in: readable, index: index.name)
    let separator =
      "char("
      + FullTextScope.separator.unicodeScalars.map { "\($0.value)" }
      .joined(separator: ", ") + ")"
    let list =
      "(SELECT group_concat(\(walk.last).value, \(separator)) FROM \(walk.tables) "
      + "WHERE \(walk.condition) AND \(walk.last).type = 'text')"
    guard let literal = FieldExpression.literal(path),
      let text = FieldExpression.extract(path, from: readable)
    else { throw PathWalk.notIndexable(path, index.name) }
    let entered = (1..<path.components.count).map { count in
      let prefix = path[0..<count]
      return "json_type(\(body), \(FieldExpression.literal(prefix) ?? "")) = 'array'"
    }
    let otherwise =
      entered.isEmpty ? "" : " ELSE CASE WHEN \(entered.joined(separator: " OR ")) THEN \(list) END"
    return "CASE json_type(\(body), \(literal)) WHEN 'text' THEN \(text) "
      + "WHEN 'array' THEN \(list)\(otherwise) END"
  }

  /// Returns the body without NULs in strings, at which SQLite's JSON functions would end the string. Escaped
  /// backslashes are rewritten first, so that the text `\u0000` after one is not mistaken for a NUL.
  private func readable(_ body: String) -> String {
    let scalar = FullTextMatchExpression.replacement(forNULIn: index.tokens)
    let escape = #"\u"# + String(scalar.value + 0x10000, radix: 16).dropFirst()
    return #"CASE WHEN instr(\#(body), '\u0000') THEN replace(replace(\#(body), '\\', '\u005c'), "#
      + #"'\u0000', '\#(escape)') ELSE \#(body) END"#
  }
}

extension FullTextIndexSchema {
  /// Returns whether the index contains text of rows that no longer exist.
  func hasOrphans(_ connection: SQLiteConnection) throws -> Bool {
    try connection.first(
      SQLFragment("SELECT 1 FROM \(sizes) WHERE id NOT IN (SELECT id FROM \(table)) LIMIT 1")
    ) { _ in true } ?? false
  }

  /// Builds a second index from the current documents, and returns the number of entries that differ.
  func difference(_ connection: SQLiteConnection) throws -> Int64 {
    let check = "nano_check"
    try connection.execute(
      """
      CREATE VIRTUAL TABLE temp.\(check) USING fts5(\(options(content: "")));
      CREATE VIRTUAL TABLE temp.\(check)_terms USING fts5vocab(temp, \(check), instance);
      CREATE VIRTUAL TABLE temp.\(check)_stored USING fts5vocab(main, \(textTable), instance);
      """)
    defer {
      for name in ["\(check)_stored", "\(check)_terms", check] {
        try? connection.execute("DROP TABLE IF EXISTS temp.\(name)")
      }
    }
    try connection.execute(
      "INSERT INTO temp.\(check)(rowid, \(columnList)) SELECT id, \(columnList) FROM \(view)")
    let entries = "SELECT term, doc, col, \"offset\" FROM temp.\(check)"
    return try connection.first(
      SQLFragment(
        "SELECT (SELECT count(*) FROM (\(entries)_stored EXCEPT \(entries)_terms)) "
          + "+ (SELECT count(*) FROM (\(entries)_terms EXCEPT \(entries)_stored)) "
          + "+ (SELECT count(*) FROM (SELECT id FROM \(table) EXCEPT SELECT id FROM \(sizes))) "
          + "+ (SELECT count(*) FROM (SELECT id FROM \(sizes) EXCEPT SELECT id FROM \(table)))")
    ) { $0.int(0) } ?? 0
  }
}
