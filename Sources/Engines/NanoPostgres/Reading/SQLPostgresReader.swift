// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoSQL

/// A reader that runs user-supplied statements.
class SQLPostgresReader: PostgresReader, SQLReader {
  /// Records that a user-supplied statement may have written.
  ///
  /// - Parameter changesCollections: Whether it may have changed documents of any collection.
  func noteUserWrite(changesCollections: Bool) {}
  /// Whether user-supplied statements may write.
  var mayWrite: Bool { false }

  func sql(
    _ text: String, _ arguments: SQLArguments, allowsWrites: Bool,
    _ show: (SQLRow) throws -> Bool
  ) throws -> SQLSummary {
    try SQLText(text, .postgres).refuseTransactionControl()
    let statement = try UserStatement(text, arguments)
    try statement.refuseCopying()
    let mayChange = mayWrite && allowsWrites && !statement.isPlainExplanation
    if mayChange, !statement.isQuery { try refuseInternal(statement) }
    let result =
      try mayWrite && !allowsWrites
      ? runReadOnly(statement)
      : session.run([Self.searchPath(names.schema), statement.sent])[1]
    // The command tag does not tell: `SELECT` is also that of CREATE TABLE AS, of `WITH` with a DELETE, and of a
    // function that writes.
    if mayChange { noteUserWrite(changesCollections: !statement.isQuery) }
    let columns = (0..<result.columns).map { result.name($0) }
    for row in 0..<result.count {
      try session.interruption?.check()
      let values = try columns.indices.map { try result.textValue(row, $0) }
      guard try show(SQLRow(columns: columns, values: values)) else { break }
    }
    let isReading = result.command.hasPrefix("SELECT") || result.command.hasPrefix("EXPLAIN")
    return SQLSummary(columns: columns, changes: isReading ? 0 : result.changes)
  }

  /// Runs a statement of a write transaction in a read-only subtransaction, since only the server can tell whether a
  /// statement writes. It is rolled back, because the transaction could not lock rows with the same setting.
  private func runReadOnly(_ statement: UserStatement) throws -> PostgresResult {
    let savepoint = "nano_read_only"
    return try session.run([
      .once("SAVEPOINT \(savepoint)"), Self.searchPath(names.schema),
      PostgresStatement("SELECT set_config('transaction_read_only', 'on', true)"), statement.sent,
      .once("ROLLBACK TO SAVEPOINT \(savepoint)"), .once("RELEASE SAVEPOINT \(savepoint)"),
    ])[3]
  }

  /// Sets the search path, and the syntax of strings that ``UserStatement/Scan`` assumes, for the transaction only, since
  /// sessions are shared.
  private static func searchPath(_ schema: String) -> PostgresStatement {
    PostgresStatement(
      "SELECT set_config('search_path', $1, true), "
        + "set_config('standard_conforming_strings', 'on', true)",
      [.text(SQLName.quoted(schema) + ", public")])
  }

  /// Rejects a statement that would modify the store's own tables.
  ///
  /// - Throws: ``StoreError/Code/notPermitted``. Such a write would invalidate the store's metadata.
  private func refuseInternal(_ statement: UserStatement) throws {
    guard !statement.isBlock else {
      throw StoreError(
        .notPermitted, "A DO block may modify the store's internal tables",
        [.actual: "DO", .hint: "run its statements one at a time in a write block"])
    }
    let schema = names.schema
    let tables = try documentTables()
    func isInternal(_ name: String) -> Bool {
      tables.contains(ExactName(name)) || name.hasExactPrefix("nano_")
        || (statement.changesSchema && name.hasSameBytes(as: schema))
    }
    func rejection(_ name: String) -> StoreError {
      StoreError(
        .notPermitted, "A statement cannot modify the store's internal tables", [.table: name])
    }
    // Of a definition, the server has no plan, except for the query of CREATE TABLE AS.
    let words = statement.definingWords
    if let name = words.map(\.text).first(where: isInternal) { throw rejection(name) }
    if !words.isEmpty, statement.escapesNames {
      throw StoreError(
        .notPermitted, "A definition cannot write names with Unicode escapes",
        [.hint: "write the characters themselves"])
    }
    guard statement.canBeExplained else { return }
    let plan = try session.run([Self.searchPath(schema), statement.explained])[1]
    let tree = try DocumentObject(json: "{\"plan\":\(plan.text(0, 0))}", dialect: .plain)
    if let name = Self.writtenTables(.object(tree), schema).first(where: isInternal) {
      throw rejection(name)
    }
  }

  /// Returns the names of the collections' tables and of their partitions.
  private func documentTables() throws -> Set<ExactName> {
    let results = try session.run([
      PostgresStatement("SELECT table_name FROM \(names.qualified("nano_collections"))"),
      PostgresStatement(
        """
        SELECT p.relname::text, c.relname::text FROM pg_catalog.pg_inherits AS i \
        JOIN pg_catalog.pg_class AS p ON p.oid = i.inhparent \
        JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid \
        JOIN pg_catalog.pg_namespace AS n ON n.oid = p.relnamespace WHERE n.nspname = $1
        """, [.text(names.schema)]),
    ])
    var tables = Set((0..<results[0].count).map { ExactName(results[0].text($0, 0)) })
    for row in 0..<results[1].count where tables.contains(ExactName(results[1].text(row, 0))) {
      tables.insert(ExactName(results[1].text(row, 1)))
    }
    return tables
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
    try SQLText(text, .postgres).refuseTransactionControl()
    let result = try explained(text)
    let plan = (0..<result.count).map { result.text($0, 0) }
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

  /// Returns the plan of a statement. Without arguments, only the server can tell whether a `?` is a parameter or an
  /// operator of jsonb: where one is possible, the other is a syntax error.
  private func explained(_ text: String) throws -> PostgresResult {
    let statement = try UserStatement(withoutValues: text)
    let searchPath = Self.searchPath(names.schema)
    guard statement.replacesMarks else {
      return try session.run([searchPath, statement.planned])[1]
    }
    let savepoint = "nano_explain"
    _ = try session.run([searchPath, .once("SAVEPOINT \(savepoint)")])
    let release = PostgresStatement.once("RELEASE SAVEPOINT \(savepoint)")
    do {
      return try session.run([statement.planned, release])[0]
    } catch  where session.failure?.state == PostgresFailure.syntaxError {
      try session.rollBack(to: savepoint)
      let kept = try UserStatement(withoutValues: text, keepsMarks: true)
      do {
        return try session.run([kept.planned, release])[0]
      } catch let second {
        // Of two rejections, the one of the statement with parameters is likelier to name the mistake.
        throw session.failure == nil ? second : error
      }
    }
  }
}
