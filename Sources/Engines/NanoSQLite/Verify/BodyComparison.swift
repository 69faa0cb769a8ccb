// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoSQL

/// Compares a body's index entries with those of its stored form, which queries look up. SQLite's own integrity
/// check compares an index with the body as written.
struct BodyComparison {
  private let connection: SQLiteConnection
  private let table: CollectionTable

  init(_ connection: SQLiteConnection, _ table: CollectionTable) {
    self.connection = connection
    self.table = table
  }

  /// Returns the names of indexes whose entries for a body differ from those for its stored form.
  func indexes(
    thatMiss body: UnsafeRawBufferPointer, _ rewritten: [UInt8]
  ) throws -> [String] {
    var names: [String] = []
    for schema in table.allSchemas {
      if try !isSame(schema.sameEntries(), body, rewritten) { names.append(schema.index.name) }
    }
    for schema in table.text?.schemas ?? [] {
      if try !isSame(schema.sameEntries(), body, rewritten) { names.append(schema.index.name) }
    }
    return names
  }

  private func isSame(
    _ sql: String, _ body: UnsafeRawBufferPointer, _ rewritten: [UInt8]
  ) throws -> Bool {
    try rewritten.withUnsafeBytes { rewritten in
      try connection.with(sql) { statement in
        defer { sqlite3_clear_bindings(statement.handle) }
        try statement.bind(borrowedText: body, at: 1)
        try statement.bind(borrowedText: rewritten, at: 2)
        return try statement.step() && statement.int(0) != 0
      }
    }
  }

  /// Returns the unique index that prevents a foreign row from being adopted; `nil` if there is none.
  func conflict(of row: ForeignRow) throws -> String? {
    if let key = row.newKey {
      let isTaken = try connection.with(table, .rowIDOfKey) { statement in
        try statement.bind(key, at: 1)
        return try statement.step() && statement.int(0) != row.id
      }
      if isTaken { return "the key index" }
    }
    guard row.isSound, row.isRewritten else { return nil }
    for schema in table.allSchemas where schema.index.isUnique {
      let sql = try schema.otherRows()
      let isTaken = try row.body.withUnsafeBytes { body in
        try connection.with(sql) { statement in
          defer { sqlite3_clear_bindings(statement.handle) }
          try statement.bind(borrowedText: body, at: 1)
          statement.bind(row.id, at: 2)
          return try statement.step()
        }
      }
      if isTaken { return "the unique index \(schema.index.name)" }
    }
    return nil
  }
}
