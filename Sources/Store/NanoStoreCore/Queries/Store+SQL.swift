// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoEngine

extension Store {
  /// Executes an SQL statement and returns its rows, with the columns in order.
  ///
  /// ```swift
  /// let rows = try store.sql("SELECT count(*) AS n FROM people WHERE id > ?", 10)
  /// rows[0]["n"]
  /// rows.columns                                               // ["n"]
  /// ```
  ///
  /// An array is one argument, namely its JSON text, as for `json_each(?)`. Several arguments are separated by commas, or
  /// are passed as ``SQLArguments``.
  ///
  /// A statement that writes must be executed inside a ``write(retries:isolation:_:)-(_,_,()->Result)`` block or by
  /// ``execute(_:_:)-(String,_)``.
  ///
  /// - Throws: ``StoreError/Code/database`` with SQLite's message, ``StoreError/Code/readOnly`` for
  ///   a statement that writes, ``StoreError/Code/notPermitted`` for one that would change the
  ///   store's internal tables, ``StoreError/Code/unsupported`` on engines without SQL.
  public func sql(
    _ statement: String, _ arguments: any DocumentValueConvertible...
  ) throws -> SQLResult {
    try sql(statement, SQLArguments(arguments.map(\.documentValue)))
  }
  /// Executes an SQL statement with arguments in an array and by name; see ``sql(_:_:)``.
  public func sql(_ statement: String, _ arguments: SQLArguments) throws -> SQLResult {
    try reading(.call) { reader in
      var rows: [SQLRow] = []
      // The reader may be a transaction that writes buffered saves and is rolled back.
      let allowsWrites = TransactionContext.current(of: self)?.writer != nil
      let summary = try Self.sqlReader(reader).sql(
        statement, arguments, allowsWrites: allowsWrites
      ) { row in
        rows.append(row)
        return true
      }
      return SQLResult(columns: summary.columns, rows: rows)
    }
  }
  /// The asynchronous form of `sql(_:_:)`, which does not block the calling thread.
  public func sql(
    _ statement: String, _ arguments: any DocumentValueConvertible & Sendable...
  ) async throws -> SQLResult {
    try await sql(statement, SQLArguments(arguments.map(\.documentValue)))
  }
  /// The asynchronous form of `sql(_:_:)`, which does not block the calling thread.
  public func sql(_ statement: String, _ arguments: SQLArguments) async throws -> SQLResult {
    try await onReader { try self.sql(statement, arguments) }
  }

  /// Executes an SQL statement in a write transaction, and returns the number of changed rows.
  ///
  /// ```swift
  /// try store.execute("CREATE TABLE tariff (name TEXT PRIMARY KEY, price REAL)")   // your own table
  /// try store.execute("DELETE FROM people WHERE id > ?", 100)                      // 3
  /// try store.execute("DELETE FROM nano_paths")                                    // throws notPermitted
  /// ```
  ///
  /// - Throws: The errors of ``sql(_:_:)-(String,_)``. Nothing was written.
  @discardableResult
  public func execute(
    _ statement: String, _ arguments: any DocumentValueConvertible...
  ) throws -> Int {
    try execute(statement, SQLArguments(arguments.map(\.documentValue)))
  }
  /// Executes an SQL statement with arguments in an array and by name; see ``execute(_:_:)``.
  @discardableResult
  public func execute(_ statement: String, _ arguments: SQLArguments) throws -> Int {
    try writing { writer in
      try Self.sqlReader(writer).sql(statement, arguments) { _ in true }.changes
    }
  }
  /// The asynchronous form of `execute(_:_:)`, which does not block the calling thread.
  @discardableResult
  public func execute(
    _ statement: String, _ arguments: any DocumentValueConvertible & Sendable...
  ) async throws -> Int {
    try await execute(statement, SQLArguments(arguments.map(\.documentValue)))
  }
  /// The asynchronous form of `execute(_:_:)`, which does not block the calling thread.
  @discardableResult
  public func execute(_ statement: String, _ arguments: SQLArguments) async throws -> Int {
    try await onWriter { try self.execute(statement, arguments) }
  }

  /// Returns the tables and views of the database, sorted by name, with their columns and indexes.
  ///
  /// They include the tables of collections, the store's internal tables, and your own.
  ///
  /// ```swift
  /// try store.tables().filter { $0.kind == .table }.map(\.name)    // ["tariff"]
  /// ```
  ///
  /// - Throws: ``StoreError/Code/unsupported`` on engines without SQL.
  public func tables() throws -> [SQLTable] {
    try reading(.snapshot) { try Self.sqlReader($0).tables() }
  }
  /// The asynchronous form of `tables()`, which does not block the calling thread.
  public func tables() async throws -> [SQLTable] { try await onReader { try self.tables() } }

  /// Returns the plan of an SQL statement and the indexes it would use, without executing it.
  ///
  /// Parameters need no values.
  ///
  /// ```swift
  /// try store.explain(sql: "SELECT * FROM people WHERE key = ?").indexes    // ["nano_key_people"]
  /// ```
  ///
  /// - Throws: The errors of ``sql(_:_:)-(String,_)``, except that statements that write are
  ///   allowed.
  public func explain(sql statement: String) throws -> Explanation {
    try reading(.snapshot) { try Self.sqlReader($0).explain(sql: statement) }
  }
  /// The asynchronous form of `explain(sql:)`, which does not block the calling thread.
  public func explain(sql statement: String) async throws -> Explanation {
    try await onReader { try self.explain(sql: statement) }
  }

  private static func sqlReader(_ reader: any EngineReader) throws(StoreError) -> any SQLReader {
    guard let reader = reader as? any SQLReader else {
      throw StoreError(.unsupported, "The engine does not run SQL", [.capability: "sql"])
    }
    return reader
  }
}

extension DocumentCollection {
  /// Returns the documents of this collection whose row IDs an SQL statement selects, in its order.
  ///
  /// ```swift
  /// try people.documents(sql: "SELECT id FROM people ORDER BY json_extract(body, '$.age') DESC")
  /// ```
  ///
  /// - Parameter statement: A statement whose first column contains row IDs. Row IDs without a
  ///   document are skipped.
  /// - Throws: ``StoreError/Code/typeMismatch`` if the first column is not an integer, and the
  ///   errors of ``Store/sql(_:_:)-(String,SQLArguments)``.
  public func documents(
    sql statement: String, _ arguments: any DocumentValueConvertible...
  ) throws -> [Document] {
    try documents(sql: statement, SQLArguments(arguments.map(\.documentValue)))
  }
  /// Returns the documents that an SQL statement selects, with arguments in an array and by name;
  /// see ``documents(sql:_:)``.
  public func documents(sql statement: String, _ arguments: SQLArguments) throws -> [Document] {
    try store.read {
      try store.sql(statement, arguments).compactMap { row in
        guard case .int(let id)? = row.values.first else {
          throw StoreError(
            .typeMismatch, "The first column of the statement contains no row IDs",
            [.expected: "an integer column, such as id"])
        }
        return try get(rowID: id)
      }
    }
  }
  /// The asynchronous form of `documents(sql:_:)`, which does not block the calling thread.
  public func documents(
    sql statement: String, _ arguments: any DocumentValueConvertible & Sendable...
  ) async throws -> [Document] {
    try await documents(sql: statement, SQLArguments(arguments.map(\.documentValue)))
  }
  /// The asynchronous form of `documents(sql:_:)`, which does not block the calling thread.
  public func documents(sql statement: String, _ arguments: SQLArguments) async throws -> [Document]
  {
    try await onReader { try self.documents(sql: statement, arguments) }
  }
}
