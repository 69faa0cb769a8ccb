// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoEngine

extension Store {
  /// Runs an SQL statement of your own and gives its rows, with the columns in order.
  ///
  /// ```swift
  /// let rows = try store.sql("SELECT count(*) AS n FROM people WHERE id > ?", 10)
  /// rows[0]["n"]
  /// ```
  ///
  /// A statement that writes must stand in a ``write(_:)-(()->Result)`` block, or be run by
  /// ``execute(_:_:)-(String,_)``.
  ///
  /// - Throws: ``StoreError/Code/database`` with SQLite's message, ``StoreError/Code/readOnly`` for
  ///   a statement that writes, ``StoreError/Code/notPermitted`` for one that would change what the
  ///   store keeps for itself, ``StoreError/Code/unsupported`` on engines without SQL.
  public func sql(
    _ statement: String, _ arguments: any DocumentValueConvertible...
  ) throws -> [SQLRow] {
    try sql(statement, SQLArguments(arguments.map(\.documentValue)))
  }
  /// As ``sql(_:_:)``, with arguments in an array and by name.
  public func sql(_ statement: String, _ arguments: SQLArguments) throws -> [SQLRow] {
    try reading(.call) { reader in
      var rows: [SQLRow] = []
      _ = try Self.sqlReader(reader).sql(statement, arguments) { row in
        rows.append(row)
        return true
      }
      return rows
    }
  }
  public func sql(
    _ statement: String, _ arguments: any DocumentValueConvertible & Sendable...
  ) async throws -> [SQLRow] {
    try await sql(statement, SQLArguments(arguments.map(\.documentValue)))
  }
  public func sql(_ statement: String, _ arguments: SQLArguments) async throws -> [SQLRow] {
    try await onReader { try self.sql(statement, arguments) }
  }

  /// Runs an SQL statement that may write, in a transaction, and says how many rows it changed.
  ///
  /// ```swift
  /// try store.execute("CREATE TABLE tariff (name TEXT PRIMARY KEY, price REAL)")   // your own table
  /// try store.execute("DELETE FROM people WHERE id > ?", 100)                      // 3
  /// try store.execute("DELETE FROM nano_paths")                                    // throws notPermitted
  /// ```
  ///
  /// - Throws: As ``sql(_:_:)-(String,_)``. Nothing was written.
  @discardableResult
  public func execute(
    _ statement: String, _ arguments: any DocumentValueConvertible...
  ) throws -> Int {
    try execute(statement, SQLArguments(arguments.map(\.documentValue)))
  }
  /// As ``execute(_:_:)``, with arguments in an array and by name.
  @discardableResult
  public func execute(_ statement: String, _ arguments: SQLArguments) throws -> Int {
    try writing { writer in
      try Self.sqlReader(writer).sql(statement, arguments) { _ in true }.changes
    }
  }
  @discardableResult
  public func execute(
    _ statement: String, _ arguments: any DocumentValueConvertible & Sendable...
  ) async throws -> Int {
    try await execute(statement, SQLArguments(arguments.map(\.documentValue)))
  }
  @discardableResult
  public func execute(_ statement: String, _ arguments: SQLArguments) async throws -> Int {
    try await onWriter { try self.execute(statement, arguments) }
  }

  /// The tables and views of the database, by name: those of collections, of the store itself, and
  /// your own, with their columns and indexes.
  ///
  /// ```swift
  /// try store.tables().filter { $0.kind == .table }.map(\.name)    // ["tariff"]
  /// ```
  ///
  /// - Throws: ``StoreError/Code/unsupported`` on engines without SQL.
  public func tables() throws -> [SQLTable] {
    try reading(.snapshot) { try Self.sqlReader($0).tables() }
  }
  public func tables() async throws -> [SQLTable] { try await onReader { try self.tables() } }

  /// How an SQL statement of your own would run: its plan, and the indexes of the file that it uses.
  /// It is not run, and its parameters need no values.
  ///
  /// ```swift
  /// try store.explain(sql: "SELECT * FROM people WHERE key = ?").indexes    // ["nano_key_people"]
  /// ```
  ///
  /// - Throws: As ``sql(_:_:)-(String,_)``, but not for a statement that writes.
  public func explain(sql statement: String) throws -> Explanation {
    try reading(.snapshot) { try Self.sqlReader($0).explain(sql: statement) }
  }
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
  /// Documents of this collection that an SQL statement of your own chooses, in its order.
  ///
  /// ```swift
  /// try people.documents(sql: "SELECT id FROM people ORDER BY json_extract(body, '$.age') DESC")
  /// ```
  ///
  /// - Parameter statement: Its first column gives row ids; ids that no document has are passed over.
  /// - Throws: ``StoreError/Code/typeMismatch`` if the first column is not an integer, and what
  ///   ``Store/sql(_:_:)-(String,SQLArguments)`` throws.
  public func documents(
    sql statement: String, _ arguments: any DocumentValueConvertible...
  ) throws -> [Document] {
    try documents(sql: statement, SQLArguments(arguments.map(\.documentValue)))
  }
  public func documents(sql statement: String, _ arguments: SQLArguments) throws -> [Document] {
    try store.read {
      try store.sql(statement, arguments).compactMap { row in
        guard case .int(let id)? = row.values.first else {
          throw StoreError(
            .typeMismatch, "The first column of a statement gives no row ids",
            [.expected: "an integer column, such as id"])
        }
        return try get(rowID: id)
      }
    }
  }
  public func documents(
    sql statement: String, _ arguments: any DocumentValueConvertible & Sendable...
  ) async throws -> [Document] {
    try await documents(sql: statement, SQLArguments(arguments.map(\.documentValue)))
  }
  public func documents(sql statement: String, _ arguments: SQLArguments) async throws -> [Document]
  {
    try await onReader { try self.documents(sql: statement, arguments) }
  }
}
