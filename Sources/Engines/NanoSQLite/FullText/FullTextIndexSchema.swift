// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// The definitions that make a text index: a view of the texts, a table of FTS5 that reads them there, and
/// the triggers that keep it. docs/SCHEMA.md describes them.
///
/// FTS5 gives up what it has gathered at the end of every statement with triggers in a transaction
/// (https://sqlite.org/fts5.html#external_content_tables), so that one by one documents cost thirty times
/// as much as together. Our writer therefore adds new documents by itself, many at once; the trigger is for
/// other programs, whose rows have no revision.
struct FullTextIndexSchema {
  let collection: String
  let index: FullTextIndexDefinition
  /// The name of the table of FTS5.
  let sqlName: String

  /// Names that tell what they are for; the first that is free is taken.
  static func sqlNames(_ collection: String, _ index: FullTextIndexDefinition) -> some Sequence<
    String
  > {
    let base = "nano_text_\(collection)_\(index.name)"
    return sequence(first: 1) { $0 + 1 }.lazy.map { $0 == 1 ? base : "\(base)_\($0)" }
  }

  /// What stands behind the name in those of its other definitions and of FTS5's own tables.
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

  /// The tokenizer, as FTS5 takes it.
  private var tokenizer: String {
    switch index.tokens {
    case .words: "unicode61 remove_diacritics 2"
    case .substrings: "trigram case_sensitive 0"
    }
  }

  /// The options that every table with the same tokens has.
  func options(content: String) -> String {
    "\(columnList), content = \(SQLName.literal(content)), content_rowid = 'id', "
      + "tokenize = \(SQLName.literal(tokenizer))"
  }

  func create() throws(StoreError) -> String {
    let new = try expressions(of: "NEW").joined(separator: ", ")
    let old = try expressions(of: "OLD").joined(separator: ", ")
    let remove =
      "INSERT INTO \(textTable)(\(textTable), rowid, \(columnList)) VALUES ('delete', OLD.id, \(old));"
    let isKnown = "EXISTS (SELECT 1 FROM \(sizes) WHERE id = OLD.id)"
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
        when: "\(isKnown) AND (OLD.id, \(old)) IS NOT (NEW.id, \(new))", remove + add(new)))
      \(trigger("delete", "DELETE", when: isKnown, remove))
      """
  }

  func drop() -> String {
    ["insert", "update", "delete"].map {
      "DROP TRIGGER IF EXISTS \(SQLName.quoted("\(sqlName)_\($0)"));"
    }.joined() + "DROP TABLE IF EXISTS \(textTable);DROP VIEW IF EXISTS \(view);"
  }

  /// Adds the texts of rows whose ids lie in a range, the first two parameters, and that it does not have.
  var addRange: String {
    "INSERT INTO \(textTable)(rowid, \(columnList)) SELECT id, \(columnList) FROM \(view) AS v "
      + "WHERE id BETWEEN ?1 AND ?2 "
      + "AND NOT EXISTS (SELECT 1 FROM \(sizes) AS s WHERE s.id = v.id)"
  }

  /// Makes the contents anew. FTS5's own `rebuild` reads no view in which `json_tree` stands.
  func rebuild() -> String {
    "INSERT INTO \(textTable)(\(textTable)) VALUES ('delete-all');" + fill()
  }

  private func fill() -> String {
    "INSERT INTO \(textTable)(rowid, \(columnList)) SELECT id, \(columnList) FROM \(view);"
  }

  /// Adds the new row. One that it has already was replaced without a trigger, as OR REPLACE does, and its
  /// old texts are gone: only making everything anew is right then.
  private func add(_ new: String) -> String {
    "INSERT INTO \(textTable)(\(textTable)) SELECT 'delete-all' "
      + "WHERE EXISTS (SELECT 1 FROM \(sizes) WHERE id = NEW.id); "
      + "INSERT INTO \(textTable)(rowid, \(columnList)) SELECT v.id, \(columnList) "
      + "FROM (SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM \(sizes))) CROSS JOIN \(view) AS v "
      + "WHERE v.id <> NEW.id; "
      + "INSERT INTO \(textTable)(rowid, \(columnList)) VALUES (NEW.id, \(new));"
  }

  /// A query that says whether two bodies, its parameters, have the same texts.
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

  /// The texts that a path reaches as one text, NULL if there are none. Arrays are walked only where one
  /// is in the way.
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

  /// The body without NULs in texts, at which SQLite's JSON functions end a text. Escaped backslashes are
  /// written otherwise first, so that one of them does not make a NUL of the text `\u0000`.
  private func readable(_ body: String) -> String {
    let scalar = FullTextMatchExpression.replacement(forNULIn: index.tokens)
    let escape = #"\u"# + String(scalar.value + 0x10000, radix: 16).dropFirst()
    return #"CASE WHEN instr(\#(body), '\u0000') THEN replace(replace(\#(body), '\\', '\u005c'), "#
      + #"'\u0000', '\#(escape)') ELSE \#(body) END"#
  }
}

extension FullTextIndexSchema {
  /// Whether it has texts of rows that are gone.
  func hasOrphans(_ connection: SQLiteConnection) throws -> Bool {
    try connection.first(
      SQLFragment("SELECT 1 FROM \(sizes) WHERE id NOT IN (SELECT id FROM \(table)) LIMIT 1")
    ) { _ in true } ?? false
  }

  /// Makes a second index of the documents as they are, and counts in how many entries the two differ.
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
