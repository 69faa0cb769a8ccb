// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

extension SQLPostgresReader {
  func tables() throws -> [SQLTable] {
    let collections = Set(try collectionTables().map { ExactName($0) })
    let rows = try session.run(
      PostgresStatement(
        """
        SELECT c.oid::bigint, c.relname::text, c.relkind::text, \
        CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) ELSE '' END \
        FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace \
        WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm') AND NOT c.relispartition \
        ORDER BY c.relname COLLATE "C"
        """, [.text(names.schema)]))
    return try (0..<rows.count).map { row in
      let name = rows.text(row, 1)
      let isView = ["v", "m"].contains(rows.text(row, 2))
      let kind: SQLTable.Kind =
        isView
        ? .view
        : collections.contains(ExactName(name))
          ? .collection
          : name.hasExactPrefix("nano_") ? .internal : .table
      let columns = try columns(rows.int(row, 0))
      return SQLTable(
        name: name, kind: kind, columns: columns, indexes: try indexes(rows.int(row, 0)),
        definition: isView ? rows.text(row, 3) : Self.definition(name, columns))
    }
  }

  private func collectionTables() throws -> [String] {
    let rows = try session.run(
      PostgresStatement("SELECT table_name FROM \(names.qualified("nano_collections"))"))
    return (0..<rows.count).map { rows.text($0, 0) }
  }

  /// Returns a definition assembled from the columns. The server does not keep the text of definitions.
  private static func definition(_ name: String, _ columns: [SQLTable.Column]) -> String {
    let parts = columns.map { "\($0.name) \($0.type)\($0.isRequired ? " NOT NULL" : "")" }
    return "CREATE TABLE \(name) (\(parts.joined(separator: ", ")))"
  }

  private func columns(_ table: Int64) throws -> [SQLTable.Column] {
    let rows = try session.run(
      PostgresStatement(
        """
        SELECT a.attname::text, format_type(a.atttypid, a.atttypmod), a.attnotnull, \
        pg_get_expr(d.adbin, d.adrelid), array_position(i.indkey::int2[], a.attnum)::bigint \
        FROM pg_catalog.pg_attribute AS a LEFT JOIN pg_catalog.pg_attrdef AS d \
        ON d.adrelid = a.attrelid AND d.adnum = a.attnum LEFT JOIN pg_catalog.pg_index AS i \
        ON i.indrelid = a.attrelid AND i.indisprimary \
        WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
        """, [.int(table)]))
    return (0..<rows.count).map { row in
      SQLTable.Column(
        name: rows.text(row, 0), type: rows.text(row, 1), isRequired: rows.bool(row, 2),
        defaultValue: rows.optionalText(row, 3),
        primaryKeyPosition: rows.optionalInt(row, 4).map { Int($0) + 1 })
    }
  }

  private func indexes(_ table: Int64) throws -> [SQLTable.Index] {
    let rows = try session.run(
      PostgresStatement(
        """
        SELECT c.relname::text, i.indisunique, i.indpred IS NOT NULL, pg_get_indexdef(i.indexrelid), \
        (SELECT string_agg(coalesce(a.attname::text, ''), chr(10) ORDER BY k.n) \
        FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, n) \
        LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum \
        AND k.attnum > 0) FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS c \
        ON c.oid = i.indexrelid WHERE i.indrelid = $1::oid ORDER BY c.relname COLLATE "C"
        """, [.int(table)]))
    return (0..<rows.count).map { row in
      SQLTable.Index(
        name: rows.text(row, 0), isUnique: rows.bool(row, 1), isPartial: rows.bool(row, 2),
        columns: rows.text(row, 4).split(separator: "\n", omittingEmptySubsequences: false)
          .map { $0.isEmpty ? nil : String($0) },
        definition: rows.text(row, 3))
    }
  }
}
