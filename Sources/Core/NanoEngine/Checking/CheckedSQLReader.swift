// SPDX-License-Identifier: MIT

/// A checked reader of an engine with SQL.
final class CheckedSQLReader: CheckedReader, SQLReader {
  private let sql: any SQLReader

  init(_ sql: any SQLReader, _ scope: BlockScope, _ reporter: ContractReporter) {
    self.sql = sql
    super.init(sql, scope, reporter)
  }

  func sql(
    _ statement: String, _ arguments: SQLArguments, allowsWrites: Bool,
    _ visit: (SQLRow) throws -> Bool
  ) throws -> SQLSummary { try checkedSQL(sql, statement, arguments, allowsWrites, visit) }

  func tables() throws -> [SQLTable] { try checkedTables(sql) }
  func explain(sql statement: String) throws -> Explanation {
    try checkedExplain(sql, statement)
  }
}

/// A checked transaction of an engine with SQL.
final class CheckedSQLWriter: CheckedWriter, SQLReader {
  private let sql: any SQLReader

  init(_ sql: any EngineWriter & SQLReader, _ scope: BlockScope, _ reporter: ContractReporter) {
    self.sql = sql
    super.init(sql, scope, reporter)
  }

  func sql(
    _ statement: String, _ arguments: SQLArguments, allowsWrites: Bool,
    _ visit: (SQLRow) throws -> Bool
  ) throws -> SQLSummary { try checkedSQL(sql, statement, arguments, allowsWrites, visit) }

  func tables() throws -> [SQLTable] { try checkedTables(sql) }
  func explain(sql statement: String) throws -> Explanation {
    try checkedExplain(sql, statement)
  }
}

extension CheckedReader {
  fileprivate func checkedSQL(
    _ reader: any SQLReader, _ statement: String, _ arguments: SQLArguments, _ allowsWrites: Bool,
    _ visit: (SQLRow) throws -> Bool
  ) throws -> SQLSummary {
    try checked("sql(_:_:allowsWrites:_:)") { check in
      let summary = try reader.sql(statement, arguments, allowsWrites: allowsWrites) { row in
        check.require(row.columns.count == row.values.count, .wrongResult)
        return try check.visit(limit: nil) { try visit(row) }
      }
      check.require(summary.changes >= 0, .negativeCount)
      return summary
    }
  }

  fileprivate func checkedTables(_ reader: any SQLReader) throws -> [SQLTable] {
    try checked("tables()") { _ in try reader.tables() }
  }

  fileprivate func checkedExplain(
    _ reader: any SQLReader, _ statement: String
  ) throws -> Explanation {
    try checked("explain(sql:)") { _ in try reader.explain(sql: statement) }
  }
}
