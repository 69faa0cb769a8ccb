// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// What a connection knows of one collection: its statements' texts, its indexes, its paths.
final class CollectionTable {
  let description: CollectionDescription
  var indexes: [IndexDefinition]
  var elementTables: [String: String]
  let paths: PathTrie
  private let sortsTextByCodePoint: Bool
  /// Counts changes of indexes and paths; the file's is newer if another connection changed them.
  var generation: Int64
  /// Whether rows stand in the table that another program wrote and the paths do not know.
  var hasForeignRows = false
  /// The id for the next row, if it must not be left to SQLite: the last row was removed.
  var nextRowID: Int64?

  let getByKey: String
  let getByRowID: String
  let insert: String
  let save: String
  let replaceByKey: String
  let replaceByRowID: String
  let removeByKey: String
  let removeByRowID: String
  let rowIDOfKey: String
  /// The largest id ever removed, the largest there is, and whether foreign rows are there.
  let rowIDState: String

  init(
    _ description: CollectionDescription, generation: Int64, indexes: [IndexDefinition],
    elementTables: [String: String], paths: PathTrie, sortsTextByCodePoint: Bool
  ) {
    self.description = description
    self.generation = generation
    self.indexes = indexes
    self.elementTables = elementTables
    self.paths = paths
    self.sortsTextByCodePoint = sortsTextByCodePoint
    let table = SQLName.quoted(description.name)
    let columns = QueryCompiler.documentColumns
    getByKey = "SELECT \(columns) FROM \(table) WHERE key = ?1"
    getByRowID = "SELECT \(columns) FROM \(table) WHERE id = ?1"
    insert =
      "INSERT INTO \(table)(id, key, type, version, added, revision, body) "
      + "VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6)"
    let changes =
      "type = excluded.type, version = excluded.version, body = excluded.body, "
      + "revision = coalesce(revision, 0) + 1"
    save = "\(insert) ON CONFLICT (key) WHERE key IS NOT NULL DO UPDATE SET \(changes)"
    let replace =
      "UPDATE \(table) SET type = ?2, version = ?3, body = ?4, "
      + "revision = coalesce(revision, 0) + 1 WHERE "
    replaceByKey = replace + "key = ?1"
    replaceByRowID = replace + "id = ?1"
    removeByKey = "DELETE FROM \(table) WHERE key = ?1"
    removeByRowID = "DELETE FROM \(table) WHERE id = ?1"
    rowIDState =
      "SELECT high_water, (SELECT coalesce(max(id), 0) FROM \(table)), "
      + "EXISTS (SELECT 1 FROM \(table) WHERE revision IS NULL) "
      + "FROM nano_collections WHERE name = ?"
    rowIDOfKey = "SELECT id FROM \(table) WHERE key = ?1"
  }

  /// What may be concluded when a query is compiled: nothing of the paths, while rows are there that
  /// they do not know.
  var facts: CollectionFacts {
    let paths = paths
    let isKnown = !hasForeignRows
    return CollectionFacts(
      table: description.name, indexes: indexes, elementTables: elementTables,
      sortsTextByCodePoint: sortsTextByCodePoint, observed: { isKnown ? paths.facts(at: $0) : nil })
  }
}

extension SQLiteConnection {
  /// The table of a collection as the current snapshot has it; nil if there is no such collection.
  func table(_ name: String) throws -> CollectionTable? {
    let state = try first(
      SQLFragment(
        "SELECT name, identity, generation FROM nano_collections WHERE name = ?", [.text(name)])
    ) { row in
      (
        CollectionDescription(
          name: row.text(0) ?? name,
          identity: CollectionIdentity(rawValue: row.text(1) ?? "") ?? .key), row.int(2)
      )
    }
    guard let (description, generation) = state else {
      tables[name] = nil
      return nil
    }
    if let known = tables[name], known.generation == generation, known.description == description {
      return known
    }
    let table = try load(description, generation)
    tables[name] = table
    return table
  }

  /// As ``table(_:)``, and finds out whether the paths know every row.
  func tableForQuery(_ name: String) throws -> CollectionTable? {
    guard let table = try table(name) else { return nil }
    table.hasForeignRows = try hasForeignRows(table.description.name)
    return table
  }

  func hasForeignRows(_ table: String) throws -> Bool {
    try first(
      SQLFragment("SELECT 1 FROM \(SQLName.quoted(table)) WHERE revision IS NULL LIMIT 1")
    ) { _ in true } ?? false
  }

  private func load(
    _ description: CollectionDescription, _ generation: Int64
  ) throws -> CollectionTable {
    let rows = try all(
      SQLFragment(
        "SELECT name, kind, is_unique, columns, sql_name FROM nano_indexes WHERE collection = ? "
          + "ORDER BY name", [.text(description.name)])
    ) { row in
      (
        IndexDefinition(
          name: row.text(0) ?? "", columns: try IndexColumns.read(row.text(3) ?? ""),
          isUnique: row.int(2) != 0,
          kind: IndexDefinition.Kind(rawValue: row.text(1) ?? "") ?? .fields),
        row.text(4) ?? ""
      )
    }
    let elements = rows.filter { $0.0.kind == .elements }.map { ($0.0.name, $0.1) }
    let paths = PathTrie()
    try addStoredPaths(of: description.name, to: paths)
    return CollectionTable(
      description, generation: generation, indexes: rows.map(\.0),
      elementTables: Dictionary(uniqueKeysWithValues: elements), paths: paths,
      sortsTextByCodePoint: try sortsTextByCodePoint())
  }
}

extension SQLiteConnection {
  private func sortsTextByCodePoint() throws -> Bool {
    try first("PRAGMA encoding") { $0.text(0) } == "UTF-8"
  }

  /// Adds what the file's catalogue knows of a collection.
  func addStoredPaths(of collection: String, to paths: PathTrie) throws {
    try with(
      SQLFragment("SELECT path, types FROM nano_paths WHERE collection = ?", [.text(collection)])
    ) { row in
      while try row.step() {
        paths.add(CataloguePath(row.text(0) ?? ""), Int32(truncatingIfNeeded: row.int(1)))
      }
    }
  }
}

/// An index's columns as JSON: `[["Address.City"],["age","desc"]]`.
enum IndexColumns {
  static func text(_ columns: [IndexDefinition.Column]) -> String {
    var writer = JSONWriter()
    writer.value(
      .array(
        columns.map { column in
          let path = DocumentValue.string(column.path.description)
          return .array(column.descending ? [path, "desc"] : [path])
        }))
    return writer.text
  }

  static func read(_ text: String) throws -> [IndexDefinition.Column] {
    var text = text
    let value = try text.withUTF8 { bytes in
      var reader = JSONReader(UnsafeRawBufferPointer(bytes))
      return try reader.value()
    }
    return (value.array ?? []).compactMap { column in
      column.array?.first?.string.map {
        IndexDefinition.Column(FieldPath($0), descending: column.array?.count == 2)
      }
    }
  }
}
