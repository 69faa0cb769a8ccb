// SPDX-License-Identifier: MIT

import GRDB
import GRDBSQLite
import NanoDocument
import NanoSQL

/// One connection: its handle, its statements, and what it knows of the collections.
///
/// Confined: only code that GRDB's queue for this connection runs may touch it.
final class SQLiteConnection {
  let handle: OpaquePointer
  private var statements: [String: SQLiteStatement] = [:]
  var tables: [String: CollectionTable] = [:]
  let isReadOnly: Bool
  /// Whether texts are kept in UTF-8, so that they can be read where they stand.
  let isUTF8: Bool

  init(_ handle: OpaquePointer, isReadOnly: Bool) {
    self.handle = handle
    self.isReadOnly = isReadOnly
    isUTF8 = TextEncoding.isUTF8(handle)
  }

  /// Forgets statements and tables, as must be done before the connection closes.
  func removeAll() {
    statements.removeAll()
    tables.removeAll()
  }

  /// Runs a block with a prepared statement and takes it back. A statement that is in use, because
  /// the block of an outer call runs the same query, is prepared a second time.
  @inline(__always)
  func with<Result>(
    _ sql: String, _ work: (SQLiteStatement) throws -> Result
  ) throws -> Result {
    if let statement = statements[sql], !statement.isInUse {
      return try use(statement, work)
    }
    let statement = try SQLiteStatement(sql, on: self)
    if statements[sql] == nil {
      if statements.count >= Self.maximumStatements {
        statements = statements.filter { $0.value.isInUse }
      }
      statements[sql] = statement
    }
    return try use(statement, work)
  }

  func with<Result>(
    _ fragment: SQLFragment, _ work: (SQLiteStatement) throws -> Result
  ) throws -> Result {
    try with(fragment.text) { statement in
      try statement.bind(fragment.bindings)
      return try work(statement)
    }
  }

  @inline(__always)
  func use<Result>(
    _ statement: SQLiteStatement, _ work: (SQLiteStatement) throws -> Result
  ) throws -> Result {
    statement.isInUse = true
    defer {
      statement.clear()
      statement.isInUse = false
    }
    return try work(statement)
  }

  /// Statements kept for one connection. Arbitrary; a program has rarely more kinds of queries.
  private static let maximumStatements = 256

  /// Runs statements without parameters and rows, such as definitions.
  func execute(_ sql: String) throws(StoreError) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else {
      throw SQLiteErrors.error(
        sqlite3_extended_errcode(handle), String(cString: sqlite3_errmsg(handle)),
        operation: "execute")
    }
  }

  func run(_ fragment: SQLFragment) throws { try with(fragment) { try $0.run() } }

  /// The first row of a query, nil if there is none.
  func first<Result>(
    _ fragment: SQLFragment, _ read: (SQLiteStatement) throws -> Result
  ) throws -> Result? {
    try with(fragment) { try $0.step() ? try read($0) : nil }
  }

  func all<Result>(
    _ fragment: SQLFragment, _ read: (SQLiteStatement) throws -> Result
  ) throws -> [Result] {
    try with(fragment) { statement in
      var rows: [Result] = []
      while try statement.step() { rows.append(try read(statement)) }
      return rows
    }
  }

  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }
  var changes: Int { Int(sqlite3_changes64(handle)) }
}
