// SPDX-License-Identifier: MIT

import Foundation
import GRDBSQLite
import NanoDocument
import NanoEngine
import NanoSQL

extension SQLiteReader: SQLReader {
  func sql(
    _ text: String, _ arguments: SQLArguments, allowsWrites: Bool,
    _ visit: (SQLRow) throws -> Bool
  ) throws -> SQLSummary {
    try sql(text, arguments, allowsWrites: allowsWrites, explaining: false, visit)
  }

  /// - Parameter explaining: Whether to return the plan of the statement instead of running it, which requires
  ///   no arguments.
  func sql(
    _ text: String, _ arguments: SQLArguments, allowsWrites: Bool, explaining: Bool,
    _ visit: (SQLRow) throws -> Bool
  ) throws -> SQLSummary {
    try SQLText(text).refuseTransactionControl()
    return try aroundForeignStatement {
      try connection.recordingLoss {
        let statement = try prepare(explaining ? "EXPLAIN QUERY PLAN \(text)" : text)
        // Inserted rows with a revision would not count as those of another program.
        guard let writer = self as? SQLiteWriter, !explaining,
          let inserted = connection.statementGuard?.takeInserted(), !inserted.names.isEmpty,
          allowsWrites, !(inserted.isDirect && SQLText(text).isInsertion(withoutColumn: "revision"))
        else { return try run(statement, explaining ? nil : arguments, allowsWrites, visit) }
        return try writer.refusingRevisions(
          in: inserted.names, isDirect: inserted.isDirect, of: statement
        ) {
          try run(statement, arguments, allowsWrites, visit)
        }
      }
    }
  }

  private func run(
    _ statement: SQLiteStatement, _ arguments: SQLArguments?, _ allowsWrites: Bool,
    _ visit: (SQLRow) throws -> Bool
  ) throws -> SQLSummary {
    guard SQLText(statement.tail).isEmpty else {
      throw StoreError(
        .invalidArgument, "The text contains more than one statement",
        [.hint: "run them one at a time in a write block", .text: statement.tail])
    }
    // `EXPLAIN` is reported as writing if the explained statement would write.
    let isWriting =
      sqlite3_stmt_readonly(statement.handle) == 0 && sqlite3_stmt_isexplain(statement.handle) == 0
    guard !isWriting || (allowsWrites && self is SQLiteWriter) else {
      throw StoreError(
        .readOnly, "A statement that writes must run in a write block", [.operation: "sql"])
    }
    if isWriting { noteForeignWrite() }
    if let arguments { try bind(arguments, statement) }
    let columns = (0..<sqlite3_column_count(statement.handle)).map {
      sqlite3_column_name(statement.handle, $0).map { String(cString: $0) } ?? ""
    }
    let total = sqlite3_total_changes64(connection.handle)
    try connection.logged(statement) {
      while try statement.step() {
        let values = columns.indices.map { statement.value(Int32($0)) }
        if try !visit(SQLRow(columns: columns, values: values)) { break }
      }
    }
    // SQLite counts the changes when the statement ends, also if not all of its rows were visited.
    statement.reset()
    // Statements other than INSERT, UPDATE and DELETE leave the count of an earlier one.
    let hasChanges = isWriting && sqlite3_total_changes64(connection.handle) != total
    return SQLSummary(columns: columns, changes: hasChanges ? connection.changes : 0)
  }

  private func prepare(_ text: String) throws -> SQLiteStatement {
    guard let statementGuard = connection.statementGuard else {
      return try SQLiteStatement(text, on: connection, persistent: false)
    }
    try StatementGuard.checkNewName(in: text)
    // Reading requires no permission.
    let names =
      SQLText(text).isReading ? nil : Set(try collections().map { $0.name.folded })
    return try statementGuard.preparing(with: names) {
      try SQLiteStatement(text, on: connection, persistent: false)
    }
  }

  private func bind(_ arguments: SQLArguments, _ statement: SQLiteStatement) throws {
    let count = sqlite3_bind_parameter_count(statement.handle)
    let named = arguments.named.byExactName
    var unused = Set(named.keys)
    var position = 0
    for index in stride(from: Int32(1), through: count, by: 1) {
      let name = sqlite3_bind_parameter_name(statement.handle, index).map { String(cString: $0) }
      if let name, name.utf8.first != UInt8(ascii: "?") {
        // By Unicode scalars: a combining mark at the start of a name forms a single character with the prefix
        // before it.
        let plain = ExactName(String(name.unicodeScalars.dropFirst()))
        guard let value = named[plain] else { throw Self.missing(name) }
        unused.remove(plain)
        try statement.bind(value, at: index)
      } else {
        position = max(position, name.flatMap { Int($0.dropFirst()) } ?? (position + 1))
        guard position <= arguments.positional.count else { throw Self.missing("?\(position)") }
        try statement.bind(arguments.positional[position - 1], at: index)
      }
    }
    if !unused.isEmpty {
      throw StoreError(
        .invalidArgument, "The statement has no parameters of the names of some arguments",
        [.actual: unused.map(\.text).sorted().joined(separator: ", ")])
    }
    guard position >= arguments.positional.count else {
      throw StoreError(
        .invalidArgument, "The statement has fewer parameters than arguments",
        [.expected: "\(position)", .actual: "\(arguments.positional.count)"])
    }
  }

  private static func missing(_ name: String) -> StoreError {
    StoreError(.invalidArgument, "A parameter of the statement has no argument", [.expected: name])
  }
}

extension SQLiteStatement {
  /// Binds SQLite's own types directly, and all others in stored form.
  fileprivate func bind(_ value: DocumentValue, at index: Int32) throws {
    switch value {
    case .null: bindNull(at: index)
    case .bool(let flag): bind(flag ? 1 : 0 as Int64, at: index)
    case .int(let number): bind(number, at: index)
    case .double(let number): bind(number, at: index)
    case .string(let text): try bind(text, at: index)
    case .data(let data): try bind(data, at: index)
    case .decimal, .date, .url, .array, .object:
      var writer = JSONWriter()
      writer.value(value)
      if let failure = writer.failure { throw failure }
      try bind(writer.text, at: index)
    }
  }
}
