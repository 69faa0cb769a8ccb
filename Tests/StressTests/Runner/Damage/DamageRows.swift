// SPDX-License-Identifier: MIT

import Foundation
import GRDBSQLite
import NanoTesting

/// Damages a store with SQL as another program might, bypassing all protections.
final class DamageRows {
  private var handle: OpaquePointer?
  private let file: String
  private var random: SplitMix

  init(_ file: String, _ random: SplitMix) {
    self.file = file
    self.random = random
  }

  deinit { sqlite3_close(handle) }

  func apply() throws -> String {
    try open()
    let description: String
    switch random.number(0...9) {
    case 0...3: description = try changeInternalRow()
    case 4, 5: description = try changeDocument()
    case 6: description = try changeSideTable()
    case 7: description = try drop()
    case 8: description = try changeSchema()
    default: description = try removeRows()
    }
    sqlite3_close(handle)
    handle = nil
    return description
  }

  private func open() throws {
    sqlite3_close(handle)
    guard sqlite3_open(file, &handle) == SQLITE_OK else {
      throw StressTestFailure("\(file) cannot be opened")
    }
    // Keeps the contents of the write-ahead log there.
    run("PRAGMA wal_autocheckpoint = 0; PRAGMA writable_schema = ON; PRAGMA synchronous = OFF")
  }

  @discardableResult
  private func run(_ sql: String) -> Bool { sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK }

  private func rows(_ sql: String) -> [[String]] {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { return [] }
    defer { sqlite3_finalize(statement) }
    var rows: [[String]] = []
    while sqlite3_step(statement) == SQLITE_ROW {
      rows.append(
        (0..<sqlite3_column_count(statement)).map {
          sqlite3_column_text(statement, $0).map { String(cString: $0) } ?? ""
        })
    }
    return rows
  }

  private static let internalColumns: [(table: String, columns: [String])] = [
    (
      "nano_collections",
      ["name", "identity", "high_water", "generation", "indexing", "parts", "settings"]
    ),
    (
      "nano_indexes",
      [
        "collection", "name", "kind", "is_unique", "columns", "sql_name", "origin", "reason",
        "filled",
      ]
    ),
    ("nano_paths", ["collection", "path", "types", "attribute"]),
    ("nano_metadata", ["name", "value"]),
    ("nano_index_ledger", ["collection", "subject", "state"]),
    ("nano_feeds", ["collection", "timeline", "origin", "pruned"]),
    (
      "nano_blobs",
      ["id", "length", "digest", "chunk_length", "owner", "touched", "sealed", "bytes"]
    ),
    ("nano_chunks", ["id", "bytes", "state"]),
  ]

  /// Returns the tables that the file has.
  private func existing(_ tables: [String]) -> [String] {
    let names = Set(rows("SELECT name FROM sqlite_schema WHERE type = 'table'").compactMap(\.first))
    return tables.filter(names.contains)
  }

  private func internalTable() -> (table: String, columns: [String])? {
    let tables = existing(Self.internalColumns.map(\.table))
    guard !tables.isEmpty else { return nil }
    let table = random.pick(tables)
    return Self.internalColumns.first { $0.table == table }
  }

  /// Returns an unexpected value as an SQL literal.
  private func nonsense() -> String {
    let long = "printf('%.*c', \(random.pick([1_000, 100_000])), '[')"
    return random.pick([
      "NULL", "''", "'garbage'", "'{'", "'{\"a\":'", "'[]'", "'[[]]'", "'[[1]]'", "'{}'", "'null'",
      "'[[\"\"]]'", "x''", "x'00ff'", "-1", "0", "1", "2", "3", "255", "4096",
      "9223372036854775807",
      "-9223372036854775808", "1e300", "-0.5", "'1e999'", "2147483647", "2147483648", long,
      "char(0)", "'a' || char(0) || 'b'", "cast(x'ff' AS TEXT)", "'people'", "'films'",
      "'everything'", "'declared'", "'key'", "'rowID'", "'elements'", "'fields'", "'words'",
      "'nano_elements_people_tags_elements'", "'nano_index_people_age'", "'[[\"age\"],[\"last\"]]'",
      "'{\"defaults\":1,\"aliases\":[],\"queryableFields\":[1,\"..\"]}'",
      "'{\"defaults\":{\"age\":5}}'", "zeroblob(32)", "4611686018427387904",
    ])
  }

  private func changeInternalRow() throws -> String {
    guard let (table, columns) = internalTable() else { return "nothing" }
    let column = random.pick(columns)
    let count = Int(rows("SELECT count(*) FROM \(table)").first?.first ?? "") ?? 0
    guard count > 0 else { return "nothing" }
    let offset = random.number(0...count - 1)
    let value = nonsense()
    let key = columns[0]
    let second = columns[1]
    let place =
      "(\(key), \(second)) IN (SELECT \(key), \(second) FROM \(table) LIMIT 1 OFFSET \(offset))"
    let update = "UPDATE OR REPLACE \(table) SET \(column) = \(value) WHERE \(place)"
    if value == "NULL" { try withoutConstraints(table) { run(update) } } else { run(update) }
    return "row \(offset) of \(table): \(column) is \(value)"
  }

  /// Removes constraints from the table definition, and restores it afterward.
  private func withoutConstraints(_ table: String, _ work: () -> Void) throws {
    let sql = rows("SELECT sql FROM sqlite_schema WHERE name = '\(table)'").first?.first ?? ""
    func set(_ sql: String) throws {
      run(
        "UPDATE sqlite_schema SET sql = '\(sql.replacingOccurrences(of: "'", with: "''"))' "
          + "WHERE name = '\(table)'")
      try open()
    }
    try set(sql.replacingOccurrences(of: " NOT NULL", with: ""))
    work()
    try set(sql)
  }

  private static let collections = [
    "people", "films", "notes", "events", "nano_bags", "nano_bag_members", "tracks", "albums",
    "members", "large", "nano_revisions_people", "nano_sync_state",
  ]

  private func changeDocument() throws -> String {
    let tables = existing(Self.collections)
    guard !tables.isEmpty else { return "nothing" }
    let table = random.pick(tables)
    let ids = rows("SELECT id FROM \(table)").compactMap(\.first)
    guard !ids.isEmpty else { return "nothing" }
    let id = random.pick(ids)
    let column = random.pick(["key", "type", "version", "added", "revision", "id", "body", "body"])
    let value =
      column == "body" && random.oneIn(2)
      ? random.pick([
        "json_set(body, '$.age', 999, '$.n', 999, '$.bag', 99, '$.at', -5)",
        "substr(body, 1, length(body) / 2)", "body || 'x'", "replace(body, ',', ',,')",
        "json_set(body, '$.email', 'p1@example.org', '$.tags', 7, '$.title', 'gin gin')",
        "'{\"age\":1e999}'", "'{\"age\":123456789012345678901234567890}'", "'{\"a\":\"\\x\"}'",
        "cast(body AS BLOB)", "'{\"bag\":\"x\",\"position\":{},\"collection\":1,\"key\":[]}'",
        "json('{\"a\":1,\"a\":2}')", "'{\"$date\":\"x\"}'", "'{\"a\":{\"$date\":1}}'",
        "'{\"a\":{\"$binary\":{\"base64\":\"!!\"}}}'",
        "json_set(body, '$.tracks', json('[1,1,999,\"x\",-1]'), '$.single', 12, '$.first', 7)",
        "json_set(body, '$.title', 'T7', '$.name', 'T7', '$.first', 'F3')",
        "json_set(body, '$._attachments.icon.digest', 'sha256-00', '$._attachments.photo.length', 1)",
        "json_set(body, '$.t', 'AAAA', '$.r', 3)", "json_set(body, '$.n', NULL, '$.b', 7)",
        "replace(body, 'A', 'B')", "json_set(body, '$.\"$sealed\"', 'AQAAAAFo')",
      ]) : nonsense()
    // Drops the triggers that maintain derived tables.
    let triggers = rows(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = '\(table)'")
    let keepsTriggers = random.oneIn(2)
    if !keepsTriggers { for trigger in triggers { run("DROP TRIGGER \"\(trigger[0])\"") } }
    let update = "UPDATE OR REPLACE \(table) SET \(column) = \(value) WHERE id = \(id)"
    if value == "NULL" { try withoutConstraints(table) { run(update) } } else { run(update) }
    if !keepsTriggers { for trigger in triggers { run(trigger[1]) } }
    return "document \(id) of \(table): \(column) is \(value)"
      + (keepsTriggers ? "" : ", without triggers")
  }

  private func changeSideTable() throws -> String {
    let tables = rows(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND (name LIKE 'nano\\_elements%' "
        + "ESCAPE '\\' OR name LIKE 'nano\\_leaves%' ESCAPE '\\' OR name LIKE 'nano\\_text%' "
        + "ESCAPE '\\' OR name LIKE 'nano\\_tombstones%' ESCAPE '\\' "
        + "OR name LIKE 'nano\\_previous%' ESCAPE '\\' OR name LIKE 'nano\\_former%' ESCAPE '\\') "
        + "AND sql NOT LIKE 'CREATE VIRTUAL%'"
    ).compactMap(\.first)
    guard !tables.isEmpty else { return "nothing" }
    let table = random.pick(tables)
    let columns = rows("SELECT name FROM pragma_table_info('\(table)')").compactMap(\.first)
    guard !columns.isEmpty else { return "nothing" }
    let column = random.pick(columns)
    let value = nonsense()
    let first = columns[0]
    let place =
      "\(first) IN (SELECT \(first) FROM \"\(table)\" LIMIT 1 OFFSET \(random.number(0...20)))"
    let sql =
      random.oneIn(3)
      ? "DELETE FROM \"\(table)\" WHERE \(place)"
      : "UPDATE OR REPLACE \"\(table)\" SET \(column) = \(value) WHERE \(place)"
    run(sql)
    return sql
  }

  private func removeRows() throws -> String {
    guard let (table, columns) = internalTable() else { return "nothing" }
    let sql =
      random.oneIn(3)
      ? "DELETE FROM \(table)"
      : "DELETE FROM \(table) WHERE \(random.pick(["abs(random()) % 2", "abs(random()) % 10 = 0"]))"
    // Rows are selected here, because SQL's random() cannot be seeded.
    guard sql.contains("random") else {
      run(sql)
      return sql
    }
    let column = columns[0]
    let names = rows("SELECT DISTINCT \(column) FROM \(table)").compactMap(\.first)
    guard !names.isEmpty else { return "nothing" }
    let name = random.pick(names).replacingOccurrences(of: "'", with: "''")
    let chosen = "DELETE FROM \(table) WHERE \(column) = '\(name)'"
    run(chosen)
    return chosen
  }

  private func definitions() -> [[String]] {
    rows("SELECT type, name, rowid FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
  }

  private func drop() throws -> String {
    let all = definitions()
    guard !all.isEmpty else { return "nothing" }
    let one = random.pick(all)
    let sql = "DROP \(one[0]) \"\(one[1].replacingOccurrences(of: "\"", with: "\"\""))\""
    run(sql)
    return sql
  }

  private func changeSchema() throws -> String {
    let all = definitions()
    guard !all.isEmpty else { return "nothing" }
    let one = random.pick(all)
    let change = random.pick([
      "rootpage = \(random.number(0...300))", "rootpage = -1", "rootpage = 4000000000",
      "sql = 'garbage'", "sql = NULL", "sql = replace(sql, 'body', 'bode')",
      "sql = replace(sql, 'AFTER', 'BEFORE')", "sql = replace(sql, 'UNIQUE', '')",
      "sql = replace(sql, 'OLD.id', 'NEW.id')", "sql = replace(sql, ' DESC', '')",
      "sql = 'CREATE TRIGGER x AFTER INSERT ON people BEGIN SELECT RAISE(ABORT, ''no''); END'",
      "name = 'other'", "tbl_name = 'films'", "type = 'table'", "type = 'index'", "type = 7",
      "sql = replace(sql, 'WHERE key', 'WHERE id')",
    ])
    let sql = "UPDATE sqlite_schema SET \(change) WHERE rowid = \(one[2])"
    run(sql)
    return sql + " (\(one[1]))"
  }
}
