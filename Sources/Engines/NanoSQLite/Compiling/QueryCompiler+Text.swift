// SPDX-License-Identifier: MIT

import NanoQuery
import NanoSQL

extension QueryCompiler {
  /// Like ``ranks(_:_:)``, for the search that determines the ranks of a query's results.
  func ranks(_ query: Query) -> SQLFragment? {
    query.condition.rankingSearch.flatMap { ranks($0, query.ranking ?? FullTextRanking()) }
  }

  /// Returns a statement that selects the row IDs of a search's results with SQLite's ranks; `nil` if no index
  /// executes the search.
  func ranks(_ search: FullTextSearch, _ ranking: FullTextRanking) -> SQLFragment? {
    guard let lookup = metadata.fullTextLookup(search), let scope = search.scope else { return nil }
    let table = SQLName.quoted(lookup.table)
    let weights = ranking.weights.isEmpty ? [] : scope.fields.map { ranking.weights[$0] ?? 1 }
    let arguments = [SQLFragment(table)] + weights.map { .parameter(.double($0)) }
    return "SELECT rowid AS nano_row, bm25(" + SQLFragment.joined(arguments, by: ", ")
      + ") AS nano_rank FROM \(table) WHERE \(table) MATCH " + .parameter(.text(lookup.expression))
  }

  /// Returns the query that remains to be executed on documents that the ranking search has found, and whether the
  /// ranking search was its whole condition.
  func withoutRankingSearch(_ query: Query) -> (query: Query, isWhole: Bool) {
    guard let search = query.condition.rankingSearch,
      metadata.fullTextLookup(search)?.isExact == true,
      !metadata.hasForeignRows
    else {
      return (query, false)
    }
    var query = query
    var parts = query.condition.conjuncts
    if let index = parts.firstIndex(of: .search(search)) { parts.remove(at: index) }
    query.condition = parts.isEmpty ? .constant(true) : .all(parts)
    return (query, parts.isEmpty)
  }
}
