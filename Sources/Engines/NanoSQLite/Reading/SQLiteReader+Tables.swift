// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoSQL

/// Lists the tables of the file and explains user-supplied statements.
extension SQLiteReader {
  func tables() throws -> [SQLTable] {
    try connection.consistently {
      let collections = Set(
        try collections().filter { !$0.isInternal }.map { $0.name.folded })
      let found = try connection.all(
        "SELECT name, type, sql FROM sqlite_schema WHERE type IN ('table', 'view')"
      ) { ($0.text(0) ?? "", $0.text(1) == "view", $0.text(2) ?? "") }
      .sorted { $0.0.isBefore($1.0) }
      return try found.map { name, isView, definition in
        SQLTable(
          name: name, kind: Self.kind(name.foldingASCII, isView: isView, collections),
          columns: try columns(of: name), indexes: try indexes(ofTable: name),
          definition: definition)
      }
    }
  }

  private static func kind(
    _ name: String, isView: Bool, _ collections: Set<ExactName>
  ) -> SQLTable.Kind {
    if collections.contains(ExactName(name)) { return .collection }
    if name.hasExactPrefix("nano_") || name.hasExactPrefix("sqlite_") { return .internal }
    return isView ? .view : .table
  }

  /// Returns no columns for a view of a table that does not exist, for which the pragma fails.
  private func columns(of table: String) throws -> [SQLTable.Column] {
    do {
      return try connection.all(
        SQLFragment(
          "SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_xinfo(?, 'main') "
            + "ORDER BY cid", [.text(table)])
      ) { row in
        SQLTable.Column(
          name: row.text(0) ?? "", type: row.text(1) ?? "", isRequired: row.int(2) != 0,
          defaultValue: row.text(3), primaryKeyPosition: row.int(4) == 0 ? nil : Int(row.int(4)))
      }
    } catch let error as StoreError where error.code == .database {
      return []
    }
  }

  private func indexes(ofTable table: String) throws -> [SQLTable.Index] {
    let found = try connection.all(
      SQLFragment(
        "SELECT l.name, l.\"unique\", l.partial, s.sql FROM pragma_index_list(?, 'main') AS l "
          + "LEFT JOIN sqlite_schema AS s ON s.type = 'index' AND s.name = l.name ORDER BY l.name",
        [.text(table)])
    ) { row in
      SQLTable.Index(
        name: row.text(0) ?? "", isUnique: row.int(1) != 0, isPartial: row.int(2) != 0,
        columns: [], definition: row.text(3))
    }
    return try found.map { index in
      var index = index
      index.columns = try connection.all(
        SQLFragment(
          "SELECT name FROM pragma_index_info(?, 'main') ORDER BY seqno", [.text(index.name)])
      ) { $0.text(0) }
      return index
    }
  }

  func explain(sql text: String) throws -> Explanation {
    var plan: [String] = []
    _ = try sql(text, SQLArguments(), allowsWrites: false, explaining: true) { row in
      if case .string(let line)? = row["detail"] { plan.append(line) }
      return true
    }
    let names = try connection.all(
      "SELECT name FROM sqlite_schema WHERE type = 'index'"
    ) { $0.text(0) ?? "" }.sorted { $0.isBefore($1) }
    return Explanation(
      statement: text, plan: plan,
      indexes: names.filter { name in plan.contains { Self.mentions($0, name) } },
      checkedPerDocument: nil)
  }
}
