// SPDX-License-Identifier: MIT

import GRDBSQLite

/// An unrelated program: SQLite's C interface without our functions.
final class PlainSQLite {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private var handle: OpaquePointer?

  init(_ path: String) throws {
    guard sqlite3_open(path, &handle) == SQLITE_OK else { throw failure() }
    sqlite3_busy_timeout(handle, 5_000)
  }

  deinit { sqlite3_close(handle) }

  private func failure() -> Failure {
    Failure(description: String(cString: sqlite3_errmsg(handle)))
  }

  /// Runs a statement with text parameters and returns its rows as text.
  @discardableResult
  func run(_ sql: String, _ texts: String?...) throws -> [[String?]] {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure() }
    defer { sqlite3_finalize(statement) }
    let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    for (index, text) in texts.enumerated() {
      if let text { sqlite3_bind_text(statement, Int32(index + 1), text, -1, copies) }
    }
    var rows: [[String?]] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW:
        rows.append(
          (0..<sqlite3_column_count(statement)).map { column in
            sqlite3_column_text(statement, column).map { String(cString: $0) }
          })
      case SQLITE_DONE: return rows
      default: throw failure()
      }
    }
  }

  /// Returns the result of `PRAGMA integrity_check`, which is `ok` if there are no problems.
  func integrity() throws -> String {
    try run("PRAGMA integrity_check").compactMap(\.first).compactMap(\.self)
      .joined(separator: "\n")
  }
}
