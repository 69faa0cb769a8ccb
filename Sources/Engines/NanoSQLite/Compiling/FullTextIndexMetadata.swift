// SPDX-License-Identifier: MIT

import NanoQuery
import NanoSQL

/// A text index as a query finds it.
struct FullTextIndexMetadata: Sendable, Hashable {
  /// The name of the table of FTS5.
  var table: String
  var scope: FullTextScope

  init(table: String, scope: FullTextScope) {
    self.table = table
    self.scope = scope
  }
}

/// What a search asks one text index.
struct FullTextLookup {
  let table: String
  let expression: String
  /// Whether the index finds nothing but what is searched for.
  let isExact: Bool

  /// The row IDs.
  var rows: SQLFragment {
    let table = SQLName.quoted(table)
    return SQLFragment("SELECT rowid FROM \(table) WHERE \(table) MATCH ", [])
      + .parameter(.text(expression))
  }
}

extension CollectionMetadata {
  /// What an index answers of a search; nil if none is of use.
  func answer(_ search: FullTextSearch) -> FullTextLookup? {
    guard let scope = search.scope, let index = textIndexes.first(where: { $0.scope == scope }),
      let query = search.query.simplified(scope.tokens)
    else { return nil }
    let plan = FullTextPlan(query, scope.tokens)
    guard let node = plan.node else { return nil }
    return FullTextLookup(
      table: index.table, expression: FullTextMatchExpression(node, in: scope).text,
      isExact: plan.isExact)
  }
}
