// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

/// A ranked search, and how its matches are found and ranked.
struct RankedSearch {
  /// The query with the fields of its text index.
  let query: Query
  let search: FullTextSearch
  let scope: FullTextScope
  let ranking: FullTextRanking
  let index: PostgresTextIndex
  let phrases: [FullTextPhrase]
  /// How the phrases are counted in what the server has stored; `nil` if matches are ranked by their texts.
  private(set) var counts: OccurrenceCounts?
  /// Selects the row ID, the length and the tokens of all matches; `nil` if they are ranked by their texts.
  private(set) var plan: PostgresReader.FindPlan?
  private let totals: PostgresStatement

  /// Arbitrary: rows are small, and a further round trip takes as long as some hundred of them.
  private static let page = 10_000

  /// - Parameter isStable: Whether all statements see the same documents.
  /// - Returns: `nil` if no search determines ranks.
  init?(_ query: Query, _ metadata: PostgresCollectionMetadata, isStable: Bool) throws {
    guard let search = query.condition.rankingSearch, let scope = search.scope,
      let index = metadata.collection.fullTextIndexes.first(where: { $0.definition.scope == scope })
    else { return nil }
    self.query = query
    self.search = search
    self.scope = scope
    self.index = index
    ranking = query.ranking ?? FullTextRanking()
    phrases = FullTextRanker.phrases(of: search.query, in: scope)
    if let visible = metadata.collection.isVisible(at: query.expiredAt) {
      totals = TextStatistics.scan(index, metadata.collection, visible)
    } else {
      totals =
        TextStatistics(index, metadata.collection, metadata.names)?.totals
        ?? TextStatistics.scan(index, metadata.collection)
    }
    guard isStable, query.isRanked, let counts = OccurrenceCounts(phrases, scope) else { return }
    let columns: PostgresSQL = "id, \(index.lengthColumn), " + counts.expression(index)
    let compiled = PostgresQueryCompiler(metadata: metadata).select(matching, columns: columns)
    guard compiled.rest == nil, compiled.isSorted else { return }
    self.counts = counts
    plan = PostgresReader.FindPlan(
      query: matching, compiled: compiled, firstPage: Self.page, page: Self.page)
  }

  /// The query for all matches, without ranks.
  var matching: Query {
    var query = query
    query.ranking = nil
    query.limit = nil
    query.offset = 0
    query.fields = nil
    return query
  }

  var statements: [PostgresStatement] {
    guard let plan else { return [totals] }
    return [totals, (plan.compiled.sql + " LIMIT \(Self.page + 1)").statement]
  }

  /// Whether the matches are those of a single phrase.
  var isOnePhrase: Bool {
    if case .search = query.condition { phrases.count == 1 && counts != nil } else { false }
  }

  /// Returns the query for all documents with a phrase.
  func query(for phrase: FullTextPhrase) -> Query {
    let query: FullTextQuery = phrase.isPrefix ? .prefix(phrase.text) : .phrase(phrase.text)
    return Query(
      .search(
        FullTextSearch(
          phrase.field.map { .field($0, query) } ?? query, index: index.definition.name)))
  }

  /// Returns the only token of a phrase.
  func token(_ phrase: FullTextPhrase) -> String {
    scope.tokens.tokens(of: phrase.text).first?.text ?? ""
  }
}

extension PostgresReader.FindPlan {
  /// Whether the first result has all rows.
  func holdsAll(_ first: PostgresResult) -> Bool { first.count <= firstPage ?? .max }
}
