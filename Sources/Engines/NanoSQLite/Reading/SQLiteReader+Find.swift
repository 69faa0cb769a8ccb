// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// Passing the results of a query to a closure.
extension SQLiteReader {
  func find(
    _ query: Query, in collection: String, _ visit: (StoredDocument) throws -> Bool
  ) throws {
    try find(query, in: collection, ordered: true, visit)
  }

  /// Lets the caller sort: SQLite's sorter copies whole rows, which made reading an index range take half as
  /// long again.
  func findInAnyOrder(
    _ query: Query, in collection: String, _ visit: (StoredDocument) throws -> Bool
  ) throws {
    try find(query, in: collection, ordered: !query.isWholeByRowID, visit)
  }

  private func find(
    _ query: Query, in collection: String, ordered: Bool,
    _ visit: (StoredDocument) throws -> Bool
  ) throws {
    if query.isRanked { return try findRanked(query, in: collection) { row, _ in try visit(row) } }
    try querying(query, collection) { table, query in
      let metadata = table.metadata
      let layout = metadata.parts.layout
      let incarnation = table.incarnation
      let compiler = QueryCompiler(metadata)
      if connection.isUTF8, layout != .all,
        let sql = compiler.visit(
          query, columns: metadata.parts.columns(body: query.bodyColumn), ordered: ordered)
      {
        return try connection.with(sql) { statement in
          try eachRow(statement, table, query) { (row: RowValues) in
            try Self.visit(row, incarnation, hasKeys: layout == .keyed, visit)
          }
        }
      }
      let compiled = compiler.select(query, ordered: ordered)
      try connection.with(compiled.sql) { statement in
        try eachRow(statement, table, query) { (row: SQLiteStatement) in
          try visit(Self.document(row, incarnation, layout))
        }
      }
    }
  }

  func contents(
    _ query: Query, in collection: String, withKeys: Bool,
    _ visit: (StoredContent) throws -> Bool
  ) throws {
    if query.isRanked {
      return try findRanked(query, in: collection) { row, _ in
        let key = withKeys ? row.borrowedKey : .none
        return try visit(StoredContent(key: key, version: row.version, body: row.body))
      }
    }
    try querying(query, collection) { table, query in
      let parts = table.metadata.parts
      let (hasKeys, hasVersions) = (withKeys && parts.contains(.key), parts.contains(.type))
      let columns = query.bodyColumn + (hasKeys ? ", key" : "") + (hasVersions ? ", version" : "")
      if connection.isUTF8, !hasVersions,
        let sql = QueryCompiler(table.metadata).visit(query, columns: columns, ordered: true)
      {
        return try connection.with(sql) { statement in
          try eachRow(statement, table, query) { (row: RowValues) in
            let body = row.bytes(0)
            guard hasKeys else {
              return try visit(StoredContent(key: .none, version: nil, body: body))
            }
            return try row.withKey(1) {
              try visit(StoredContent(key: $0, version: nil, body: body))
            }
          }
        }
      }
      let compiled = QueryCompiler(table.metadata).select(query, columns: columns)
      try connection.with(compiled.sql) { statement in
        try eachRow(statement, table, query) { (row: SQLiteStatement) in
          try visit(
            StoredContent(
              key: hasKeys ? row.borrowedKey(1) : .none,
              version: hasVersions && row.isInt(hasKeys ? 2 : 1) ? row.int(hasKeys ? 2 : 1) : nil,
              body: row.storedBytes(0)))
        }
      }
    }
  }

  /// Passes the rows of a query to a closure until the closure returns `false`.
  @inline(__always)
  private func eachRow(
    _ statement: SQLiteStatement, _ table: CollectionTable, _ query: Query,
    _ visit: (SQLiteStatement) throws -> Bool
  ) throws {
    guard var scanTimer = connection.scanTimer(statement, table, query) else {
      while try statement.step() {
        if try !visit(statement) { return }
      }
      return
    }
    while try statement.step() {
      if try !scanTimer.timing({ try visit(statement) }) { break }
    }
    scanTimer.end()
  }

  /// The same for a statement that passes its rows to a ``RowVisitor``.
  @inline(__always)
  private func eachRow(
    _ statement: SQLiteStatement, _ table: CollectionTable, _ query: Query,
    _ visit: (RowValues) throws -> Bool
  ) throws {
    guard var scanTimer = connection.scanTimer(statement, table, query) else {
      return try statement.eachRow(visit)
    }
    try statement.eachRow { row in try scanTimer.timing { try visit(row) } }
    scanTimer.end()
  }

  /// Passes the document of a row without a type to a closure.
  @inline(__always)
  private static func visit(
    _ row: RowValues, _ incarnation: Int64?, hasKeys: Bool,
    _ visit: (StoredDocument) throws -> Bool
  ) throws -> Bool {
    let first = hasKeys ? 2 : 1
    func document(_ key: BorrowedKey) -> StoredDocument {
      StoredDocument(
        rowID: row.int(0), key: key, type: nil, version: nil, added: row.optionalNumber(first),
        revision: row.optionalNumber(first + 1), incarnation: incarnation,
        body: row.bytes(first + 2))
    }
    guard hasKeys else { return try visit(document(.none)) }
    return try row.withKey(1) { try visit(document($0)) }
  }
}
