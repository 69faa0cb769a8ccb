// SPDX-License-Identifier: MIT

import GRDBSQLite

/// SQLite's own integrity check, on a plain SQLite connection.
enum PlainCheck {
  static func check(_ path: String) throws {
    var handle: OpaquePointer?
    defer { sqlite3_close(handle) }
    guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
      throw StressTestFailure("SQLite cannot open the file")
    }
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    guard sqlite3_prepare_v2(handle, "PRAGMA integrity_check", -1, &statement, nil) == SQLITE_OK,
      sqlite3_step(statement) == SQLITE_ROW, let text = sqlite3_column_text(statement, 0)
    else { throw StressTestFailure("SQLite cannot check the file") }
    let result = String(cString: text)
    try require(result == "ok", "integrity_check: \(result)")
  }
}
