// SPDX-License-Identifier: MIT

import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoSQL

extension SQLiteReader: SQLReader {
  func sql(
    _ text: String, _ arguments: SQLArguments, _ show: (SQLRow) throws -> Bool
  ) throws -> SQLSummary {
    let statement = try SQLiteStatement(text, on: connection, persistent: false)
    try requireNothing(behind: text)
    let isWriting = sqlite3_stmt_readonly(statement.handle) == 0
    guard self is SQLiteWriter || !isWriting else {
      throw StoreError(
        .readOnly, "A statement that writes must stand in a write block", [.operation: "sql"])
    }
    try bind(arguments, statement)
    let columns = (0..<sqlite3_column_count(statement.handle)).map {
      sqlite3_column_name(statement.handle, $0).map { String(cString: $0) } ?? ""
    }
    while try statement.step() {
      let values = columns.indices.map { statement.value(Int32($0)) }
      if try !show(SQLRow(columns: columns, values: values)) { break }
    }
    // Our view of collections may be another now.
    if isWriting { connection.tables.removeAll() }
    return SQLSummary(columns: columns, changes: isWriting ? connection.changes : 0)
  }

  /// SQLite prepares the first statement of a text and leaves the others out silently.
  private func requireNothing(behind text: String) throws(StoreError) {
    let hasMore = text.withCString { text -> Bool in
      var statement: OpaquePointer?
      var tail: UnsafePointer<CChar>?
      sqlite3_prepare_v3(connection.handle, text, -1, 0, &statement, &tail)
      sqlite3_finalize(statement)
      // Blanks and comments make no statement and no error.
      statement = nil
      let code = sqlite3_prepare_v3(connection.handle, tail, -1, 0, &statement, nil)
      sqlite3_finalize(statement)
      return statement != nil || code != SQLITE_OK
    }
    guard !hasMore else {
      throw StoreError(
        .invalidArgument, "There is more than one statement",
        [.operation: "sql", .hint: "run one after the other"])
    }
  }

  private func bind(_ arguments: SQLArguments, _ statement: SQLiteStatement) throws {
    let count = sqlite3_bind_parameter_count(statement.handle)
    var unused = Set(arguments.named.keys)
    var position = 0
    for index in stride(from: Int32(1), through: count, by: 1) {
      let name = sqlite3_bind_parameter_name(statement.handle, index).map { String(cString: $0) }
      if let name, !name.hasPrefix("?") {
        let plain = String(name.dropFirst())
        guard let value = arguments.named[plain] else { throw Self.missing(name) }
        unused.remove(plain)
        try statement.bind(value, at: index)
      } else {
        position = max(position, name.flatMap { Int($0.dropFirst()) } ?? (position + 1))
        guard position <= arguments.positional.count else { throw Self.missing("?\(position)") }
        try statement.bind(arguments.positional[position - 1], at: index)
      }
    }
    guard position >= arguments.positional.count, unused.isEmpty else {
      throw StoreError(
        .invalidArgument, "A statement has fewer parameters than arguments",
        [.expected: "\(position)", .actual: "\(arguments.positional.count)"])
    }
  }

  private static func missing(_ name: String) -> StoreError {
    StoreError(.invalidArgument, "A parameter has no argument", [.expected: name])
  }
}

extension SQLiteStatement {
  /// Binds what SQLite knows as it is, and everything else as fields hold it.
  fileprivate func bind(_ value: DocumentValue, at index: Int32) throws {
    switch value {
    case .null: bindNull(at: index)
    case .bool(let flag): bind(flag ? 1 : 0 as Int64, at: index)
    case .int(let number): bind(number, at: index)
    case .double(let number): bind(number, at: index)
    case .string(let text): try bind(text, at: index)
    case .data(let data): try bind(data, at: index)
    case .date, .url, .array, .object:
      var writer = JSONWriter()
      writer.value(value)
      if let failure = writer.failure { throw failure }
      try bind(writer.text, at: index)
    }
  }
}
