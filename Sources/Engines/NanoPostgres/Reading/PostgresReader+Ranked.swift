// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension PostgresReader {
  func findRanked(
    _ query: Query, in collection: String, _ visit: (StoredDocument, Double) throws -> Bool
  ) throws {
    guard let found = try self.collection(collection) else { return }
    let metadata = collectionMetadata(found)
    var query = try metadata.resolved(query)
    guard query.isRanked, let search = query.condition.rankingSearch, let scope = search.scope
    else { return try find(query, in: collection) { try visit($0, 0) } }
    let (limit, offset) = (query.limit, query.offset)
    let ranking = query.ranking ?? FullTextRanking()
    // All matches are found without ranks first; then only the documents of the page are read.
    query.ranking = nil
    query.limit = nil
    query.offset = 0
    let ranker = try ranker(search, scope, ranking, metadata, collection)
    var ranks: [(id: Int64, rank: Double)] = []
    var kept: [Int64: KnownDocument] = [:]
    var matching = query
    matching.fields = nil
    try find(matching, in: collection) { document in
      var reader = JSONReader(document.body)
      let subject = DocumentSubject(try reader.object())
      if !seesOneState { kept[document.rowID] = KnownDocument(document) }
      ranks.append((document.rowID, ranker?.rank(of: { subject.texts(at: $0) }) ?? 0))
      return true
    }
    ranks.sort { $0.rank != $1.rank ? $0.rank > $1.rank : $0.id < $1.id }
    let page = ranks.dropFirst(offset)
    let chosen = Array(page.prefix(limit ?? page.count))
    let byID = Dictionary(chosen.map { ($0.id, $0.rank) }) { first, _ in first }
    let ranked = { (document: StoredDocument) in try visit(document, byID[document.rowID] ?? 0) }
    guard seesOneState else {
      return try Self.show(chosen.lazy.compactMap { kept[$0.id] }, metadata, ranked)
    }
    try visitDocuments(
      chosen.map(\.id), metadata, PostgresQueryCompiler.columns(query), ranked)
  }

  /// Returns the ranker for a search: from the number of documents, their total length, and the number of
  /// documents with each phrase. `nil` if no index covers the search.
  private func ranker(
    _ search: FullTextSearch, _ scope: FullTextScope, _ ranking: FullTextRanking,
    _ metadata: PostgresCollectionMetadata,
    _ collection: String
  ) throws -> FullTextRanker? {
    guard
      let index = metadata.collection.fullTextIndexes.first(where: { $0.definition.scope == scope })
    else { return nil }
    let table = metadata.collection.table
    let totals = try session.run(
      PostgresStatement(
        "SELECT count(*), coalesce(sum(\(index.lengthColumn)), 0)::bigint FROM \(table)"))
    return try FullTextRanker(
      search.query, in: scope, ranking, documents: Int(totals.int(0, 0)),
      tokens: Int(totals.int(0, 1))
    ) { (phrase: FullTextPhrase) in
      // The number of documents with a phrase is the count of a search for it.
      let query: FullTextQuery = phrase.isPrefix ? .prefix(phrase.text) : .phrase(phrase.text)
      let phraseSearch = FullTextSearch(
        phrase.field.map { .field($0, query) } ?? query, index: index.definition.name)
      return try count(Query(.search(phraseSearch)), in: collection)
    }
  }
}
