// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoStore

/// A SQLite connection with only the C API.
final class RawConnection {
  private var handle: OpaquePointer?
  let file: String

  init(_ path: String, durability: Durability = .normal) throws {
    file = path
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &handle, flags, nil) == SQLITE_OK else { throw failure(path) }
    try execute("PRAGMA journal_mode=WAL")
    for pragma in durability.pragmas { try execute(pragma) }
  }

  deinit { sqlite3_close_v2(handle) }

  func execute(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure(sql) }
  }

  func prepare(_ sql: String) throws -> RawStatement {
    var statement: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    guard sqlite3_prepare_v3(handle, sql, -1, flags, &statement, nil) == SQLITE_OK, let statement
    else { throw failure(sql) }
    return RawStatement(statement, of: self)
  }

  /// Returns the error of the last call.
  func failure(_ context: String) -> RawFailure {
    RawFailure(message: String(cString: sqlite3_errmsg(handle)), context: context)
  }
}

struct RawFailure: Error, CustomStringConvertible {
  let message: String
  let context: String

  var description: String { "\(message): \(context)" }
}
