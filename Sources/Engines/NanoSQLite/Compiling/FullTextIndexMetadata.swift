// SPDX-License-Identifier: MIT

import NanoQuery
import NanoSQL

/// Metadata about a full-text index for compiling queries.
struct FullTextIndexMetadata: Sendable, Hashable {
  /// The name of the FTS5 table.
  var table: String
  var scope: FullTextScope
}

/// A lookup in a full-text index.
struct FullTextLookup {
  let table: String
  let expression: String
  /// Whether the index finds only documents that match the search.
  let isExact: Bool

  /// The statement that selects the row IDs.
  var rows: SQLFragment {
    let table = SQLName.quoted(table)
    return SQLFragment("SELECT rowid FROM \(table) WHERE \(table) MATCH ", [])
      + .parameter(.text(expression))
  }
}

extension CollectionMetadata {
  /// Returns the lookup for a search; `nil` if no index helps.
  func fullTextLookup(_ search: FullTextSearch) -> FullTextLookup? {
    guard let scope = search.scope, let index = fullTextIndexes.first(where: { $0.scope == scope }),
      let query = search.query.simplified(scope.tokens)
    else { return nil }
    let plan = FullTextPlan(query, scope.tokens)
    guard let node = plan.node else { return nil }
    return FullTextLookup(
      table: index.table, expression: FullTextMatchExpression(node, in: scope).text,
      isExact: plan.isExact)
  }
}
