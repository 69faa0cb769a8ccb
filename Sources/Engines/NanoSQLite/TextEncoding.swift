// SPDX-License-Identifier: MIT

import GRDBSQLite

/// How a database keeps its texts.
enum TextEncoding {
  /// Asked once for a connection; a new database may still become UTF-16, so not before its first
  /// table is made.
  static func isUTF8(_ handle: OpaquePointer) -> Bool {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, "PRAGMA encoding", -1, &statement, nil) == SQLITE_OK,
      sqlite3_step(statement) == SQLITE_ROW, let name = sqlite3_column_text(statement, 0)
    else {
      sqlite3_finalize(statement)
      return false
    }
    defer { sqlite3_finalize(statement) }
    return String(cString: name) == "UTF-8"
  }
}
