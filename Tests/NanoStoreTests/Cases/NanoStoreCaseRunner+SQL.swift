// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// SQL with the names of the original's tables, columns and classes.
extension NanoStoreCaseRunner {
  func performSQL(_ op: String, _ step: DocumentObject) throws -> DocumentObject {
    let statement = (step["statement"]?.string ?? "")
      .trimmingCharacters(in: .whitespacesAndNewlines)
    guard !statement.isEmpty else {
      throw StoreError(.invalidArgument, "The statement is empty")
    }
    switch op {
    case "sqlObjects": return try sqlObjects(statement, step)
    case "explain":
      let explained = try translated(statement)
      do {
        let rows = try store.sql("EXPLAIN \(explained)", SQLArguments())
        return ["rowCount": .int(Int64(rows.count)), "rowCountPositive": .bool(!rows.isEmpty)]
      } catch let error as StoreError where error.code != .closed {
        return ["error": .string(error.message), "rowCount": 0, "rowCountPositive": false]
      }
    default:
      let executed = try translated(statement)
      do {
        let rows = try store.sql(executed, SQLArguments())
        // The original returned texts.
        func text(_ value: DocumentValue) -> DocumentValue {
          .string(value.string ?? value.jsonString(dialect: .plain))
        }
        return [
          "rowCount": .int(Int64(rows.count)),
          "firstValue": rows.first?.values.first.map(text) ?? .null,
          "columns": .array(rows.columns.map { .string($0) }),
          "rows": .array(rows.map { .array($0.values.map(text)) }),
        ]
      } catch let error as StoreError where error.code == .readOnly {
        try store.execute(executed, SQLArguments())
        return ["rowCount": 0]
      } catch let error as StoreError where error.code != .closed {
        return ["error": .string(error.message), "rowCount": 0]
      }
    }
  }

  /// Returns the documents and bags that a statement selects. As in the original, what it selects of them is replaced.
  private func sqlObjects(_ statement: String, _ step: DocumentObject) throws -> DocumentObject {
    guard let from = statement.range(of: " FROM ", options: .caseInsensitive) else {
      throw StoreError(.invalidArgument, "The statement names no table")
    }
    let rest = statement[from.lowerBound...].trimmingCharacters(
      in: CharacterSet(charactersIn: "; "))
    let keys = try store.sql(translated("SELECT DISTINCT NSFKey \(rest)"), SQLArguments())
      .compactMap { $0.values.first?.string }
    let documents = try objects.documents(
      sql: translated(
        "SELECT id FROM \(Self.collection) WHERE key IN (SELECT NSFKey \(rest))"))
    let bags = try store.bags().map { try document(of: $0) }
    let byKey = Dictionary((documents + bags).map { ($0.key ?? "", $0) }) { first, _ in first }
    let found = keys.compactMap { byKey[$0] }
    guard step["sort"] != nil else { return try result(found, step) }
    let orderings = try self.orderings(step)
    guard found.contains(where: { $0.type == "bag" }) else {
      let all = try Search(orderings: orderings).documents(in: objects)
      return try result(all.filter { keys.contains($0.key ?? "") }, step)
    }
    return try result(sorted(found, by: orderings) { $0[$1] ?? .null }, step)
  }

  /// Translates the names of the original's tables, columns and classes.
  private func translated(_ statement: String) throws -> String {
    // The table exists only once the collection does.
    _ = try? store.createCollection(Self.collection)
    func mentions(_ name: String) -> Bool {
      statement.range(of: name, options: .caseInsensitive) != nil
    }
    if statement.lowercased().hasPrefix("select") {
      guard mentions("NSFKeys") || mentions("NSFValues") else { return statement }
      return try originalTables() + " " + statement
    }
    let names = [
      ("NSFValues", Self.leafTable), ("NSFKeyedArchive", "body"), ("NSFKeys", Self.collection),
      ("NSFCalendarDate", "added"), ("NSFObjectClass", "type"), ("NSFAttribute", "attribute"),
      ("NSFValue", "value"), ("NSFDatatype", "datatype"), ("NSFKey", "key"),
      ("'NSFNanoObject'", "'plain'"),
    ]
    let translated = names.reduce(statement) {
      $0.replacingOccurrences(of: $1.0, with: $1.1, options: .caseInsensitive)
    }
    let changesRows = ["insert", "update", "delete", "replace"].contains {
      statement.lowercased().hasPrefix($0)
    }
    // Only such statements can be preceded by a table of their own.
    guard changesRows, mentions("NSFValues") else { return translated }
    return try "WITH RECURSIVE \(leafTables(hasBags: hasBags())) \(translated)"
  }

  /// The name of the table of leaves that ``leafTables(hasBags:)`` defines.
  private static let leafTable = "original_leaves"

  private func hasBags() throws -> Bool {
    let tables = try store.sql(
      "SELECT name FROM sqlite_schema WHERE name IN ('nano_bags', 'nano_bag_members')",
      SQLArguments())
    return tables.count == 2
  }

  /// Returns the original's tables, which contain the bags, as tables that precede a `SELECT`.
  private func originalTables() throws -> String {
    let hasBags = try hasBags()
    let bags = """
      UNION ALL
      SELECT id + coalesce((SELECT max(id) FROM \(Self.collection)), 0), key, body, added,
        'NSFNanoBag'
      FROM nano_bags
      """
    return """
      WITH RECURSIVE \(leafTables(hasBags: hasBags)),
      NSFKeys(ROWID, NSFKey, NSFKeyedArchive, NSFCalendarDate, NSFObjectClass) AS (
        SELECT id, key, body, added,
          CASE WHEN coalesce(type, 'plain') = 'plain' THEN 'NSFNanoObject' ELSE type END
        FROM \(Self.collection)
        \(hasBags ? bags : "")
      ),
      NSFValues(ROWID, NSFKey, NSFAttribute, NSFValue, NSFDatatype) AS (
        SELECT row_number() OVER (), key, attribute, value, datatype FROM \(Self.leafTable)
      )
      """
  }

  /// Returns a table with a row for each value in the documents and bags, and the table that it is built from.
  ///
  /// An element has the path of its list. An object whose first name begins with a single dollar sign is the stored
  /// form of a value that JSON lacks.
  private func leafTables(hasBags: Bool) -> String {
    let bags = """
      UNION ALL
      SELECT key, 'NSF_Private_NSFNanoBag_Name', json_extract(body, '$.name'), 'TEXT' FROM nano_bags
      WHERE json_extract(body, '$.name') IS NOT NULL
      UNION ALL
      SELECT key, 'NSF_Private_NSFNanoBag_NSFKey', key, 'TEXT' FROM nano_bags
      UNION ALL
      SELECT b.key, 'NSF_Private_NSFNanoBag_NSFObjectKeys', json_extract(m.body, '$.key'), 'TEXT'
      FROM nano_bag_members m JOIN nano_bags b ON b.id = json_extract(m.body, '$.bag')
      """
    return #"""
      original_nodes(key, attribute, value, type) AS (
        SELECT key, '', body, 'object' FROM \#(Self.collection)
        UNION ALL
        SELECT n.key,
          CASE
            WHEN n.type = 'array' THEN n.attribute
            WHEN n.attribute = '' THEN j.key
            ELSE n.attribute || '.' || j.key
          END,
          j.value,
          CASE
            WHEN j.type = 'object' AND j.value GLOB '{"$[a-z]*' THEN 'stored' ELSE j.type
          END
        FROM original_nodes n, json_each(
          CASE WHEN n.type IN ('object', 'array') THEN n.value ELSE '[]' END) j
      ),
      \#(Self.leafTable)(key, attribute, value, datatype) AS (
        SELECT key, attribute,
          CASE type
            WHEN 'stored' THEN coalesce(
              json_extract(value, '$."$date"'), json_extract(value, '$."$url"'),
              json_extract(value, '$."$binary".base64'),
              json_extract(value, '$."$numberDouble"'), json_extract(value, '$."$numberDecimal"'))
            ELSE value
          END,
          CASE
            WHEN type = 'text' THEN 'TEXT'
            WHEN type = 'null' THEN 'NULL'
            WHEN type <> 'stored' THEN 'REAL'
            WHEN value GLOB '{"$date*' THEN 'TEXT'
            WHEN value GLOB '{"$url*' THEN 'URL'
            WHEN value GLOB '{"$binary*' THEN 'BLOB'
            ELSE 'REAL'
          END
        FROM original_nodes WHERE type NOT IN ('object', 'array')
        \#(hasBags ? bags : "")
      )
      """#
  }
}
