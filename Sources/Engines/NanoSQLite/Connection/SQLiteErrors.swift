// SPDX-License-Identifier: MIT

import Foundation
import GRDB
import GRDBSQLite
import NanoDocument

/// Translates SQLite's result codes to errors of the store.
enum SQLiteErrors {
  static func error(_ code: Int32, _ message: String?, operation: String) -> StoreError {
    if let error = readOnly(code, operation) { return error }
    let primary = code & 0xFF
    if let table = missingTable(message) {
      return missing(table).adding(.operation, operation).adding(.engineCode, "\(code)")
    }
    let (kind, sentence) = meaning(primary, message)
    return StoreError(
      kind, sentence,
      [
        .operation: operation, .engineCode: "\(code)",
        .engineMessage: message ?? String(cString: sqlite3_errstr(code)),
      ])
  }

  /// Returns the error for a file that must be written before it can be read
  /// (https://www.sqlite.org/rescode.html#readonly_recovery). The extended codes are macros that Swift does not
  /// import.
  private static func readOnly(_ code: Int32, _ operation: String) -> StoreError? {
    let sentence =
      switch code & 0xFF == SQLITE_READONLY ? code >> 8 : 0 {
      // ROLLBACK
      case 3: "A journal of an interrupted transaction must be rolled back first"
      // RECOVERY, CANTLOCK, CANTINIT
      case 1, 2, 5: "The write-ahead log cannot be read without permission to write"
      default: ""
      }
    guard !sentence.isEmpty else { return nil }
    return StoreError(
      .cannotOpen, sentence,
      [
        .operation: operation, .engineCode: "\(code)",
        .hint: "open the store once as a user who has write access to the file and its folder",
      ])
  }

  /// Returns the error for an internal table that the file should have.
  static func missing(_ table: String) -> StoreError {
    StoreError(
      .corruptFile, "An internal table of the store is missing",
      [
        .table: table,
        .hint: "restore a backup, or extract the documents into a new file with recover",
      ])
  }

  private static func missingTable(_ message: String?) -> String? {
    guard let message, message.hasPrefix("no such table: ") else { return nil }
    let name = message.split(separator: " ").last?.split(separator: ".").last.map(String.init)
    return name.flatMap { Schema.internalNames.contains($0) ? $0 : nil }
  }

  /// Returns the last error of a connection.
  static func error(of connection: OpaquePointer, operation: String) -> StoreError {
    let code = sqlite3_extended_errcode(connection)
    let message = String(cString: sqlite3_errmsg(connection))
    // A write on a full disk fails with `SQLITE_FULL`, but enlarging the shared memory of a WAL fails with
    // `SQLITE_IOERR`.
    if code & 0xFF == SQLITE_IOERR, sqlite3_system_errno(connection) == ENOSPC {
      return error(SQLITE_FULL, message, operation: operation)
    }
    return error(code, message, operation: operation)
  }

  private static func meaning(_ primary: Int32, _ message: String?) -> (StoreError.Code, String) {
    switch primary {
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
      (.locked, "Another connection held the lock for longer than the busy timeout")
    case SQLITE_READONLY: (.readOnly, "The database is read-only")
    case SQLITE_FULL: (.full, "No space is left for the database")
    case SQLITE_NOMEM: (.outOfMemory, "The database ran out of memory")
    case SQLITE_INTERRUPT: (.interrupted, "The operation was canceled")
    case SQLITE_CORRUPT: (.corruptFile, "The database file is damaged")
    case SQLITE_NOTADB: (.notADatabase, "The file is not a database")
    case SQLITE_CANTOPEN: (.cannotOpen, "The database file cannot be opened")
    case SQLITE_PERM, SQLITE_AUTH: (.cannotOpen, "Access to the database is not permitted")
    case SQLITE_IOERR: (.inputOutput, "The database file cannot be read or written")
    case SQLITE_TOOBIG: (.documentTooLarge, "A value exceeds the database's size limit")
    // The extended code of a violation in a trigger, which maintains an index on elements, is not specific.
    case SQLITE_CONSTRAINT where message?.hasPrefix("UNIQUE constraint failed") == true:
      (.uniqueViolation, "A unique index already has this value")
    default: (.database, "The database rejected a statement")
    }
  }

  /// Translates errors thrown by GRDB, and returns the store's own errors unchanged.
  static func translated(_ error: any Error, operation: String) -> any Error {
    guard let error = error as? DatabaseError else { return error }
    return self.error(
      error.extendedResultCode.rawValue, error.message, operation: operation)
  }
}
