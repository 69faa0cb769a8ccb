// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// How a query is executed.
extension SQLiteReader {
  func explain(_ query: Query, in collection: String) throws -> Explanation {
    guard let table = try connection.tableForQuery(collection) else {
      return Explanation(
        statement: "", plan: ["the collection does not exist"], indexes: [],
        checkedPerDocument: nil)
    }
    let query = try joining(try hidingExpired(try table.resolved(query), table), table)
    let compiled = QueryCompiler(table.metadata).select(query)
    let plan = try connection.all(
      SQLFragment("EXPLAIN QUERY PLAN ") + compiled.sql
    ) { $0.text(3) ?? "" }
    let used = table.indexes.filter { index in
      guard let name = table.sqlNames[ExactName(index.name)] else { return false }
      return plan.contains { Self.mentions($0, name) }
    }
    let usesWildcardIndex = table.wildcardIndex.map { index in
      plan.contains { Self.mentions($0, index.name) }
    }
    let usedTexts = table.text?.schemas.filter { schema in
      compiled.sql.text.contains(exactly: SQLName.quoted(schema.sqlName))
    }
    var explanation = Explanation(
      statement: compiled.sql.text, plan: plan,
      indexes: used.map(\.name) + (usedTexts ?? []).map(\.index.name)
        + (usesWildcardIndex == true ? [IndexingPolicy.everything.rawValue] : [])
        + relatedIndexes(in: plan, table),
      checkedPerDocument: compiled.rest.map(\.queryText))
    try explanation.addRelated(query, self)
    return explanation
  }

  /// Returns the indexes of joined collections in a plan, after the names of their collections.
  private func relatedIndexes(in plan: [String], _ table: CollectionTable) -> [String] {
    table.related.values.flatMap { joined in
      joined.indexes.filter { index in
        joined.sqlNames[ExactName(index.name)].map { name in
          plan.contains { Self.mentions($0, name) }
        } ?? false
      }.map { "\(joined.table).\($0.name)" }
    }.sorted { $0.isBefore($1) }
  }

  /// Returns whether a line of the plan names the index, rather than one whose name merely has it as a prefix.
  static func mentions(_ line: String, _ name: String) -> Bool {
    (line + " ").contains(exactly: " \(name) ")
  }
}
