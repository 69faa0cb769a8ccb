// SPDX-License-Identifier: MIT

public import NanoDocument

/// The SQL interface of readers and writers whose engine has ``Capabilities/sql``.
package protocol SQLReader: EngineReader {
  /// Runs a statement and passes its rows to the closure until the closure returns `false`.
  ///
  /// - Parameter allowsWrites: Whether the statement may write, if this is a transaction.
  /// - Throws: ``StoreError/Code/readOnly`` for a statement that writes, outside a transaction or if it must not;
  ///   ``StoreError/Code/notPermitted`` for one that would change the engine's internal tables;
  ///   ``StoreError/Code/invalidArgument``, ``StoreError/Code/valueNotStorable`` for its text and arguments;
  ///   ``StoreError/Code/corruptDocument``, ``StoreError/Code/duplicateKey``, ``StoreError/Code/tooComplex``,
  ///   ``StoreError/Code/uniqueViolation`` for the documents that it reads or writes.
  func sql(
    _ statement: String, _ arguments: SQLArguments, allowsWrites: Bool,
    _ visit: (SQLRow) throws -> Bool
  ) throws -> SQLSummary
  /// Returns the tables and views of the database, sorted by name.
  func tables() throws -> [SQLTable]
  /// Returns how a statement would be executed, without executing it. Its parameters need no values.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument``, ``StoreError/Code/valueNotStorable``.
  func explain(sql statement: String) throws -> Explanation
}

extension SQLReader {
  /// Runs a statement, which may write if this is a transaction.
  package func sql(
    _ statement: String, _ arguments: SQLArguments, _ visit: (SQLRow) throws -> Bool
  ) throws -> SQLSummary {
    try sql(statement, arguments, allowsWrites: true, visit)
  }
}

/// Values for the parameters of an SQL statement.
public struct SQLArguments: Sendable, Hashable {
  /// The values of `?` parameters, in order.
  public var positional: [DocumentValue]
  /// The values of named parameters such as `:name`, keyed by name without the prefix character.
  public var named: [String: DocumentValue]
  /// Creates arguments from positional and named values.
  public init(_ positional: [DocumentValue] = [], named: [String: DocumentValue] = [:]) {
    self.positional = positional
    self.named = named
  }
}

/// A result row with its column names, in the statement's order.
public struct SQLRow: Sendable, Hashable {
  /// The names of the columns.
  public var columns: [String]
  /// The values of the columns: null, integers, doubles, strings, and data.
  public var values: [DocumentValue]
  /// Creates a row.
  package init(columns: [String], values: [DocumentValue]) {
    self.columns = columns
    self.values = values
  }
  /// Returns the value of the first column with this name, or `nil` if there is none.
  public subscript(column: String) -> DocumentValue? {
    columns.firstIndex { $0.hasSameBytes(as: column) }.map { values[$0] }
  }
}

/// The rows that a statement returned, with the names of their columns.
///
/// ```swift
/// let rows = try store.sql("SELECT id, key FROM people WHERE id < 0")
/// rows.isEmpty           // true
/// rows.columns           // ["id", "key"]
/// ```
public struct SQLResult: Sendable, Hashable, RandomAccessCollection {
  /// The names of the columns, also if there are no rows; empty for a statement without a result.
  public var columns: [String]
  private var rows: [SQLRow]
  /// Creates a result.
  package init(columns: [String], rows: [SQLRow]) {
    self.columns = columns
    self.rows = rows
  }
  /// The position of the first row.
  public var startIndex: Int { 0 }
  /// The position after the last row.
  public var endIndex: Int { rows.count }
  /// Returns the row at a position.
  public subscript(position: Int) -> SQLRow { rows[position] }
}

/// The outcome of a statement.
public struct SQLSummary: Sendable, Hashable {
  /// The names of the result columns.
  public var columns: [String]
  /// The number of rows that the statement inserted, updated, or deleted.
  public var changes: Int
  /// Creates a summary.
  package init(columns: [String], changes: Int) {
    self.columns = columns
    self.changes = changes
  }
}
