// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoSQL

/// Compares what indexes hold of a body with what they would hold of its stored form, which is what queries
/// look for. SQLite's own check compares an index with the body as it is spelled.
struct BodyComparison {
  private let connection: SQLiteConnection
  private let table: CollectionTable

  init(_ connection: SQLiteConnection, _ table: CollectionTable) {
    self.connection = connection
    self.table = table
  }

  /// The names of indexes that have other entries for a body than for its stored form.
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

  /// What keeps a foreign row from being adopted: an index that has its value; nil if nothing does.
  func refusal(of row: ForeignRow) throws -> String? {
    if let key = row.newKey {
      let isTaken = try connection.with(table, .rowIDOfKey) { statement in
        try statement.bind(key, at: 1)
        return try statement.step() && statement.int(0) != row.id
      }
      if isTaken { return "the index of keys" }
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
