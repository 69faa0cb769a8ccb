// SPDX-License-Identifier: MIT

import NanoQuery
import NanoSQL

extension QueryCompiler {
  /// As ``ranks(_:_:)``, of the search that decides on the ranks of a query.
  func ranks(_ query: Query) -> SQLFragment? {
    query.condition.rankingSearch.flatMap { ranks($0, query.ranking ?? FullTextRanking()) }
  }

  /// A statement of the row IDs that a search finds, with their ranks as SQLite has them; nil if no index
  /// answers it.
  func ranks(_ search: FullTextSearch, _ ranking: FullTextRanking) -> SQLFragment? {
    guard let answer = facts.answer(search), let scope = search.scope else { return nil }
    let table = SQLName.quoted(answer.table)
    let weights = ranking.weights.isEmpty ? [] : scope.fields.map { ranking.weights[$0] ?? 1 }
    let arguments = [SQLFragment(table)] + weights.map { .parameter(.double($0)) }
    return "SELECT rowid AS nano_row, bm25(" + SQLFragment.joined(arguments, by: ", ")
      + ") AS nano_rank FROM \(table) WHERE \(table) MATCH " + .parameter(.text(answer.expression))
  }

  /// What is left to be asked of documents that the ranking search has found, and whether that is nothing.
  func withoutRankingSearch(_ query: Query) -> (query: Query, isWhole: Bool) {
    guard let search = query.condition.rankingSearch, facts.answer(search)?.isExact == true,
      !facts.hasForeignRows
    else {
      return (query, false)
    }
    var query = query
    var parts = query.condition.conjuncts
    if let place = parts.firstIndex(of: .search(search)) { parts.remove(at: place) }
    query.condition = parts.isEmpty ? .constant(true) : .all(parts)
    return (query, parts.isEmpty)
  }
}
