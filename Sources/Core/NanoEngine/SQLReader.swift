// SPDX-License-Identifier: MIT

public import NanoDocument

/// What a reader or writer offers beside the contract if the engine has ``Capabilities/sql``.
package protocol SQLReader: EngineReader {
  /// Runs a statement and shows its rows until the closure says false.
  ///
  /// - Throws: ``StoreError/Code/readOnly`` for a statement that writes, outside a transaction;
  ///   ``StoreError/Code/notPermitted`` for one that would change what the engine keeps for itself.
  func sql(
    _ statement: String, _ arguments: SQLArguments, _ show: (SQLRow) throws -> Bool
  ) throws -> SQLSummary
  /// The tables and views of the database, by name.
  func tables() throws -> [SQLTable]
  /// How a statement would run, which it does not. Its parameters need no values.
  func explain(sql statement: String) throws -> Explanation
}

/// Values for the parameters of an SQL statement.
public struct SQLArguments: Sendable, Hashable {
  /// The values of `?`, in order.
  public var positional: [DocumentValue]
  /// The values of `:name` and the like, by name without its sign.
  public var named: [String: DocumentValue]
  public init(_ positional: [DocumentValue] = [], named: [String: DocumentValue] = [:]) {
    self.positional = positional
    self.named = named
  }
}

/// A row with the names of its columns, in the order of the statement.
public struct SQLRow: Sendable, Hashable {
  public var columns: [String]
  /// Null, integers, doubles, texts and data.
  public var values: [DocumentValue]
  package init(columns: [String], values: [DocumentValue]) {
    self.columns = columns
    self.values = values
  }
  /// The value of the first column of this name.
  public subscript(column: String) -> DocumentValue? {
    columns.firstIndex { $0.isSame(as: column) }.map { values[$0] }
  }
}

/// What a statement did.
public struct SQLSummary: Sendable, Hashable {
  public var columns: [String]
  /// Rows that the statement inserted, changed or removed.
  public var changes: Int
  package init(columns: [String], changes: Int) {
    self.columns = columns
    self.changes = changes
  }
}
