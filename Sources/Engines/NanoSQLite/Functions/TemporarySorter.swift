// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoQuery

/// An external sorter in a separate anonymous database, which SQLite deletes when it is closed or the process
/// ends.
///
/// Confined to one thread at a time.
final class TemporarySorter: ExternalSorter {
  private let connection: OpaquePointer
  private let insertion: OpaquePointer

  /// The cache size in bytes. Arbitrary.
  private static let cacheSize = 8 << 20

  /// Returns whether a connection stores temporary data in files (`temp_store` is not 2, memory).
  static func isPermitted(on connection: OpaquePointer) -> Bool {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    return sqlite3_prepare_v2(connection, "PRAGMA temp_store", -1, &statement, nil) == SQLITE_OK
      && sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int(statement, 0) != 2
  }

  static func maker(_ isPermitted: Bool) -> SpillMaker? {
    func make() throws(StoreError) -> any ExternalSorter { try TemporarySorter() }
    return isPermitted ? make : nil
  }

  init() throws(StoreError) {
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let code = sqlite3_open_v2("", &handle, flags, nil)
    guard code == SQLITE_OK, let handle else {
      sqlite3_close(handle)
      throw SQLiteErrors.error(code, nil, operation: "open a temporary database")
    }
    let setup = """
      PRAGMA journal_mode = OFF; PRAGMA temp_store = FILE;
      PRAGMA cache_size = -\(Self.cacheSize / 1024);
      CREATE TABLE entries(key BLOB, content BLOB);
      BEGIN;
      """
    var insertion: OpaquePointer?
    guard sqlite3_exec(handle, setup, nil, nil, nil) == SQLITE_OK,
      sqlite3_prepare_v2(handle, "INSERT INTO entries VALUES (?, ?)", -1, &insertion, nil)
        == SQLITE_OK, let insertion
    else {
      let failure = SQLiteErrors.error(of: handle, operation: "create a temporary database")
      sqlite3_close(handle)
      throw failure
    }
    connection = handle
    self.insertion = insertion
  }

  deinit {
    sqlite3_finalize(insertion)
    sqlite3_close(connection)
  }

  func add(_ key: [UInt8], _ content: UnsafeRawBufferPointer) throws(StoreError) {
    let code = key.withUnsafeBytes { key in
      // A null pointer would bind NULL instead of an empty blob.
      let start = key.baseAddress ?? UnsafeRawPointer(("" as StaticString).utf8Start)
      sqlite3_bind_blob64(insertion, 1, start, UInt64(key.count), nil)
      sqlite3_bind_blob64(insertion, 2, content.baseAddress, UInt64(content.count), nil)
      defer { sqlite3_reset(insertion) }
      return sqlite3_step(insertion)
    }
    guard code == SQLITE_DONE else {
      throw SQLiteErrors.error(of: connection, operation: "write to a temporary database")
    }
  }

  func each(
    _ visit: (_ key: UnsafeRawBufferPointer, _ content: UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    var statement: OpaquePointer?
    let sql = "SELECT key, content FROM entries ORDER BY key, rowid"
    guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK else {
      throw SQLiteErrors.error(of: connection, operation: "read a temporary database")
    }
    defer { sqlite3_finalize(statement) }
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
      let start = sqlite3_column_blob(statement, column)
      return UnsafeRawBufferPointer(
        start: start, count: Int(sqlite3_column_bytes(statement, column)))
    }
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: if try !visit(bytes(0), bytes(1)) { return }
      case SQLITE_DONE: return
      default: throw SQLiteErrors.error(of: connection, operation: "read a temporary database")
      }
    }
  }
}
