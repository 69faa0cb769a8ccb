// SPDX-License-Identifier: MIT

import Foundation
import GRDBSQLite
package import NanoDocument
package import NanoEngine
import NanoSQL
import Synchronization

/// The rows of a table, view or query in the SQLite file of another program.
///
/// The file is opened read-only and never changed; a write-ahead log is read too. All rows are from
/// one snapshot.
package final class ForeignRows {
  /// The names of the columns, in order.
  package let columns: [String]
  private let file: ForeignFile
  /// Nil after ``close()``.
  private var statement: SQLiteStatement?
  /// Protects the connection: ``next()`` and ``close()`` may be called by different threads.
  private let lock = NSLock()
  private let isClosed = Atomic(false)

  /// Reads all columns of a table or view.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such table;
  ///   ``StoreError/Code/cannotOpen``, ``StoreError/Code/notADatabase``.
  package convenience init(
    of table: String, in path: String, _ interruption: Interruption?
  ) throws {
    let file = try ForeignFile(path, interruption)
    guard try file.contains(table) else {
      throw StoreError(
        .notFound, "The file has no table or view of this name",
        [.table: table, .path: file.path])
    }
    try self.init(file, "SELECT * FROM \(SQLName.quoted(table))")
  }

  /// Reads the results of a query.
  ///
  /// - Throws: ``StoreError/Code/database`` with SQLite's message if it is not valid,
  ///   ``StoreError/Code/invalidArgument`` if it is not one statement that returns rows.
  package convenience init(
    query: String, in path: String, _ interruption: Interruption?
  ) throws {
    try self.init(try ForeignFile(path, interruption), query)
  }

  private init(_ file: ForeignFile, _ text: String) throws {
    self.file = file
    let statement = try file.explained {
      try SQLText(text).refuseTransactionControl()
      return try SQLiteStatement(text, on: file.connection, persistent: false)
    }
    let count = sqlite3_column_count(statement.handle)
    guard count > 0, sqlite3_stmt_readonly(statement.handle) != 0,
      SQLText(statement.tail).isEmpty, sqlite3_bind_parameter_count(statement.handle) == 0
    else {
      throw StoreError(
        .invalidArgument, "The text is not one statement that returns rows",
        [.expected: "SELECT …, without parameters"])
    }
    self.statement = statement
    columns = (0..<count).map {
      sqlite3_column_name(statement.handle, $0).map { String(cString: $0) } ?? ""
    }
  }

  deinit { close() }

  /// Ends reading, on any thread, and removes the empty log files that SQLite created.
  package func close() {
    guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    sqlite3_interrupt(file.connection.handle)
    lock.withLock {
      statement = nil
      file.close()
    }
  }

  /// Returns the values of the next row, or an error if it contains text that is not UTF-8; nil at
  /// the end.
  ///
  /// - Throws: ``StoreError/Code/interrupted``, or the error of reading.
  package func next() throws -> Result<[DocumentValue], StoreError>? {
    try lock.withLock {
      guard let statement else { return nil }
      return try file.explained {
        guard try statement.step() else { return nil }
        return try row(statement)
      }
    }
  }

  private func row(_ statement: SQLiteStatement) throws -> Result<[DocumentValue], StoreError> {
    do throws(StoreError) {
      var values: [DocumentValue] = []
      values.reserveCapacity(columns.count)
      for column in 0..<Int32(columns.count) { values.append(try value(statement, column)) }
      return .success(values)
    } catch {
      return .failure(error)
    }
  }

  private func value(
    _ statement: SQLiteStatement, _ column: Int32
  ) throws(StoreError) -> DocumentValue {
    guard sqlite3_column_type(statement.handle, column) == SQLITE_TEXT else {
      return statement.value(column)
    }
    let bytes = statement.bytes(column)
    guard UTF8Validation.firstInvalidOffset(bytes) == nil else {
      throw StoreError(
        .invalidArgument, "A text in the table is not well-formed UTF-8",
        [.column: columns[Int(column)]])
    }
    return .string(String(decoding: bytes, as: UTF8.self))
  }
}

/// A read-only connection to the file of another program.
private final class ForeignFile {
  let path: String
  let connection: SQLiteConnection
  private let interruption: Interruption?
  private var isOpen = true

  init(_ given: String, _ interruption: Interruption?) throws {
    path = try DatabaseFile.absolute(given)
    self.interruption = interruption
    let log = LogFiles(of: path)
    try log.requireAccess()
    var handle: OpaquePointer?
    let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY, nil)
    guard code == SQLITE_OK, let handle else {
      sqlite3_close_v2(handle)
      throw DatabaseFile.explained(SQLiteErrors.error(code, nil, operation: "open"), path)
    }
    sqlite3_extended_result_codes(handle, 1)
    sqlite3_busy_timeout(handle, Self.busyTimeout)
    connection = SQLiteConnection(handle, isReadOnly: true)
    connection.interruption = interruption
    do {
      // A view must not run functions that have effects.
      if sqlite3_libversion_number() >= 3_041_000 {
        try connection.execute("PRAGMA trusted_schema = OFF")
      }
      // A file that is not a database is detected by the first read.
      try connection.execute("SELECT 1 FROM sqlite_schema")
    } catch {
      throw DatabaseFile.explained(error, path)
    }
  }

  /// In milliseconds; the same as the default of stores.
  private static let busyTimeout: Int32 = 5_000

  deinit { close() }

  /// Closes the connection, which has no statements.
  func close() {
    guard isOpen else { return }
    isOpen = false
    connection.removeAll()
    sqlite3_close_v2(connection.handle)
    LogFiles(of: path).removeIfEmpty()
  }

  func contains(_ table: String) throws -> Bool {
    try explained {
      let statement = try SQLiteStatement(
        """
        SELECT 1 FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ?1 COLLATE NOCASE
        """, on: connection, persistent: false)
      try statement.bind(table, at: 1)
      return try statement.step()
    }
  }

  /// Runs a block that can be interrupted, and adds the path to its errors.
  func explained<Result>(_ work: () throws -> Result) throws -> Result {
    do {
      try interruption?.check()
      return try work()
    } catch let error as StoreError {
      throw error.adding(.path, path)
    }
  }
}
