// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoSQL

/// A reader that runs user-supplied statements.
class SQLPostgresReader: PostgresReader, SQLReader {
  /// Records that a user-supplied statement has written.
  func noteUserWrite() {}
  /// Whether user-supplied statements may write.
  var mayWrite: Bool { false }

  func sql(
    _ text: String, _ arguments: SQLArguments, _ show: (SQLRow) throws -> Bool
  ) throws -> SQLSummary {
    try SQLText(text).refuseTransactionControl()
    let statement = try UserStatement(text, arguments)
    if mayWrite, !SQLText(text).isReading { try refuseInternal(statement) }
    let result = try session.run([Self.searchPath(names.schema), statement.sent])[1]
    let columns = (0..<result.columns).map { result.name($0) }
    for row in 0..<result.count {
      try session.interruption?.check()
      let values = try columns.indices.map { try result.textValue(row, $0) }
      guard try show(SQLRow(columns: columns, values: values)) else { break }
    }
    let isReading = result.command.hasPrefix("SELECT") || result.command.hasPrefix("EXPLAIN")
    if mayWrite, !isReading { noteUserWrite() }
    return SQLSummary(columns: columns, changes: isReading ? 0 : result.changes)
  }

  /// Sets the search path for the transaction only, since sessions are shared.
  private static func searchPath(_ schema: String) -> PostgresStatement {
    PostgresStatement(
      "SELECT set_config('search_path', $1, true)", [.text(SQLName.quoted(schema) + ", public")])
  }

  /// Rejects a statement that would modify the store's own tables.
  ///
  /// - Throws: ``StoreError/Code/notPermitted``. Such a write would invalidate the store's metadata.
  private func refuseInternal(_ statement: UserStatement) throws {
    let schema = names.schema
    let tables = try session.run(
      PostgresStatement("SELECT table_name FROM \(names.qualified("nano_collections"))"))
    let tableNames = Set((0..<tables.count).map { ExactName(tables.text($0, 0)) })
    func isInternal(_ name: String) -> Bool {
      tableNames.contains(ExactName(name)) || name.hasExactPrefix("nano_")
    }
    func rejection(_ name: String) -> StoreError {
      StoreError(
        .notPermitted, "A statement cannot modify the store's internal tables", [.table: name])
    }
    guard statement.canBeExplained else {
      // A definition, for which the server has no plan.
      if let name = statement.words.first(where: isInternal) { throw rejection(name) }
      return
    }
    let plan = try session.run([Self.searchPath(schema), statement.explained])[1]
    let tree = try DocumentObject(json: "{\"plan\":\(plan.text(0, 0))}", dialect: .plain)
    if let name = Self.writtenTables(.object(tree), schema).first(where: isInternal) {
      throw rejection(name)
    }
  }

  private static func writtenTables(_ plan: DocumentValue, _ schema: String) -> [String] {
    switch plan {
    case .array(let array): return array.flatMap { writtenTables($0, schema) }
    case .object(let object):
      var found = object.flatMap { writtenTables($0.value, schema) }
      if object["Node Type"]?.string == "ModifyTable",
        object["Schema"]?.string.hasSameBytes(as: schema) == true,
        let name = object["Relation Name"]?.string
      {
        found.append(name)
      }
      return found
    default: return []
    }
  }

  func explain(sql text: String) throws -> Explanation {
    try SQLText(text).refuseTransactionControl()
    let count = UserStatement.parameters(in: text)
    let statement = try UserStatement(
      text, SQLArguments(Array(repeating: .null, count: count)))
    let results = try session.run([
      Self.searchPath(names.schema), .once("EXPLAIN " + statement.sent.text, statement.sent.values),
    ])
    let plan = (0..<results[1].count).map { results[1].text($0, 0) }
    let indexes = try session.run(
      PostgresStatement(
        "SELECT indexname::text FROM pg_catalog.pg_indexes WHERE schemaname = $1 ORDER BY 1",
        [.text(names.schema)]))
    return Explanation(
      statement: text, plan: plan,
      indexes: (0..<indexes.count).map { indexes.text($0, 0) }
        .filter { name in plan.contains { $0.contains(exactly: name) } },
      checkedPerDocument: nil)
  }
}
