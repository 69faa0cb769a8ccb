// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoSQL

/// The wildcard index of a collection, with its pending entries: a table of every scalar value of each document.
///
/// Confined to the connection that created it.
final class WildcardIndex {
  /// The name of the table.
  let name: String
  let buffer = WildcardIndexBuffer()
  private let insertMany: String
  private let insertOne: String
  private let remove: String

  /// The number of rows per statement: enough to make the statement's overhead negligible.
  private static let rowsPerInsert = 48

  init(collection: String) {
    name = Self.name(collection)
    let table = SQLName.quoted(name)
    // With REPLACE, SQLite inserts without first searching for the row.
    let insert = "INSERT OR REPLACE INTO \(table)(attribute, value, id) VALUES "
    let rows = Array(repeating: "(?, ?, ?)", count: Self.rowsPerInsert)
    insertOne = insert + "(?, ?, ?)"
    insertMany = insert + rows.joined(separator: ", ")
    remove = "DELETE FROM \(table) WHERE attribute = ? AND value = ? AND id = ?"
  }

  static func name(_ collection: String) -> String { "nano_leaves_" + collection }

  /// Returns the definition of the table. A column without a declared type stores values of any type unchanged.
  static func create(_ collection: String) -> String {
    "CREATE TABLE \(SQLName.quoted(name(collection))) (attribute INTEGER NOT NULL, "
      + "value NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (attribute, value, id)) WITHOUT ROWID;"
  }

  static func drop(_ collection: String) -> String {
    "DROP TABLE IF EXISTS main.\(SQLName.quoted(name(collection)));"
  }

  /// Writes the pending entries in the order of the table.
  func flush(_ connection: SQLiteConnection) throws {
    guard !buffer.isEmpty else { return }
    try connection.completely {
      try connection.with(insertMany) { many in
        try connection.with(insertOne) { one in
          try connection.with(remove) { remove in try flush(many, one, remove) }
        }
      }
    }
  }

  private func flush(
    _ many: SQLiteStatement, _ one: SQLiteStatement, _ remove: SQLiteStatement
  ) throws {
    var pending: [WildcardIndexBuffer.Entry] = []
    pending.reserveCapacity(Self.rowsPerInsert)
    try buffer.drain { change, entry in
      switch change {
      case .remove:
        bind(entry, remove, from: 1)
        try remove.run()
      case .insert:
        bind(entry, many, from: Int32(3 * pending.count + 1))
        pending.append(entry)
        if pending.count == Self.rowsPerInsert {
          try many.run()
          pending.removeAll(keepingCapacity: true)
        }
      }
    }
    for entry in pending {
      bind(entry, one, from: 1)
      try one.run()
    }
    // The buffers that the parameters point to are about to be released.
    for statement in [many, one, remove] { sqlite3_clear_bindings(statement.handle) }
    buffer.removeAll()
  }

  /// Returns whether the table contains an entry.
  func contains(_ entry: WildcardIndexBuffer.Entry, _ connection: SQLiteConnection) throws -> Bool {
    let table = SQLName.quoted(name)
    return try connection.with(
      "SELECT 1 FROM \(table) WHERE attribute = ? AND value = ? AND id = ?"
    ) { statement in
      bind(entry, statement, from: 1)
      defer { sqlite3_clear_bindings(statement.handle) }
      return try statement.step()
    }
  }

  @inline(__always)
  private func bind(
    _ entry: WildcardIndexBuffer.Entry, _ statement: SQLiteStatement, from first: Int32
  ) {
    let handle = statement.handle
    sqlite3_bind_int(handle, first, entry.attribute)
    sqlite3_bind_int64(handle, first + 2, entry.id)
    switch entry.kind {
    case .int: sqlite3_bind_int64(handle, first + 1, Int64(bitPattern: entry.payload))
    case .double: sqlite3_bind_double(handle, first + 1, Double(bitPattern: entry.payload))
    case .text:
      let bytes = buffer.bytes(entry)
      sqlite3_bind_text64(
        handle, first + 1, bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
        UInt64(bytes.count), nil, UInt8(SQLITE_UTF8))
    case .blob:
      let bytes = buffer.bytes(entry)
      if bytes.isEmpty {
        sqlite3_bind_zeroblob(handle, first + 1, 0)
      } else {
        sqlite3_bind_blob64(handle, first + 1, bytes.baseAddress, UInt64(bytes.count), nil)
      }
    }
  }
}
