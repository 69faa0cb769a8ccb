// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension PostgresReader {
  /// Finds all matches with their ranks first; then only the documents of the page are read. In another order than that
  /// of the ranks, each document is ranked when it is read.
  func findRanked(
    _ query: Query, in collection: String, _ visit: (StoredDocument, Double) throws -> Bool
  ) throws {
    let query = try readingRelated(query)
    let executed = try execute(collection) { metadata in
      let search = try RankedSearch(
        try resolved(query, metadata), metadata, isStable: seesOneState)
      return (search, search?.statements ?? [])
    }
    guard let (metadata, search, results) = executed else { return }
    guard let search else {
      return try findUnranked(query, in: collection) { try visit($0, 0) }
    }
    if !query.isRanked, let totals = results.first {
      let ranker = try self.ranker(search, totals, nil, metadata, collection)
      return try findUnranked(query, in: collection) { try visit($0, Self.rank($0, ranker)) }
    }
    var matches = RankedMatches()
    if let totals = results.first {
      let ranker = try ranker(search, totals, results.dropFirst().first, metadata, collection)
      if search.plan != nil {
        try rankCounted(search, ranker, Array(results.dropFirst()), &matches)
        try rankUncounted(search, ranker, metadata, &matches)
      } else {
        try rankDocuments(search, ranker, collection, &matches)
      }
    } else {
      try rankDocuments(search, nil, collection, &matches)
    }
    let page = matches.page(search.query)
    let byID = Dictionary(page.map { ($0.rowID, $0.rank) }) { first, _ in first }
    let ranked = { (document: StoredDocument) in try visit(document, byID[document.rowID] ?? 0) }
    guard seesOneState else {
      return try Self.show(page.lazy.compactMap { matches.kept[$0.rowID] }, metadata, ranked)
    }
    try visitDocuments(
      page.map(\.rowID), metadata, PostgresQueryCompiler.columns(query), ranked)
  }

  /// Passes the documents in the order of the query's orderings, or by row ID.
  private func findUnranked(
    _ query: Query, in collection: String, _ visit: (StoredDocument) throws -> Bool
  ) throws {
    var query = query
    query.ranking = nil
    // Without fields, no texts would be read to rank by.
    if query.fields?.isEmpty == true { query.fields = nil }
    try find(query, in: collection, visit)
  }

  /// Ranks matches by the occurrences of tokens that the server has stored.
  private func rankCounted(
    _ search: RankedSearch, _ ranker: FullTextRanker, _ results: [PostgresResult],
    _ matches: inout RankedMatches
  ) throws {
    guard let plan = search.plan, var counts = search.counts else { return }
    try streamRows(plan, results) { rows, row in
      let rowID = rows.int(row, 0)
      guard counts.read(rows.bytes(row, 2)), let length = rows.optionalInt(row, 1) else {
        matches.uncounted.append(rowID)
        return true
      }
      matches.add(rowID, ranker.rank(length: Int(length)) { counts.count($0, $1) })
      return true
    }
  }

  /// Ranks documents by their texts that were stored without occurrences.
  private func rankUncounted(
    _ search: RankedSearch, _ ranker: FullTextRanker, _ metadata: PostgresCollectionMetadata,
    _ matches: inout RankedMatches
  ) throws {
    let ids = matches.uncounted
    try visitDocuments(ids, metadata, PostgresQueryCompiler.columns) { document in
      matches.add(document.rowID, try Self.rank(document, ranker))
      return true
    }
  }

  /// Ranks matches by their texts.
  private func rankDocuments(
    _ search: RankedSearch, _ ranker: FullTextRanker?, _ collection: String,
    _ matches: inout RankedMatches
  ) throws {
    try find(search.matching, in: collection) { document in
      if !seesOneState { matches.kept[document.rowID] = KnownDocument(document) }
      matches.add(document.rowID, try ranker.map { try Self.rank(document, $0) } ?? 0)
      return true
    }
  }

  private static func rank(_ document: StoredDocument, _ ranker: FullTextRanker) throws -> Double {
    var reader = JSONReader(document.body)
    let subject = DocumentSubject(try reader.object())
    return ranker.rank { subject.texts(at: $0) }
  }

  /// Returns the ranker for a search: from the number of documents, their total length, and the number of documents
  /// with each phrase.
  ///
  /// - Parameter first: The first matches of a counted search.
  private func ranker(
    _ search: RankedSearch, _ totals: PostgresResult, _ first: PostgresResult?,
    _ metadata: PostgresCollectionMetadata, _ collection: String
  ) throws -> FullTextRanker {
    if seesOneState, totals.int(0, 3) > 0 {
      core.tokens.noteStatistics(rows: totals.int(0, 3), core)
    }
    let state = totals.optionalInt(0, 2)
    var hits = try phraseCounts(search, state, metadata)
    if search.isOnePhrase, hits == [nil], let plan = search.plan, let first, plan.holdsAll(first) {
      hits = [first.count]
      noteCounts(search, hits, state)
    }
    try count(search, &hits, metadata, collection)
    noteCounts(search, hits, state)
    var next = hits.makeIterator()
    let documents = Int(totals.int(0, 0))
    // Where statements see different states, there may be more documents with a phrase than there were in total.
    return FullTextRanker(
      search.search.query, in: search.scope, search.ranking, documents: documents,
      tokens: Int(totals.int(0, 1))
    ) { _ in min((next.next() ?? 0) ?? 0, documents) }
  }

  /// Returns the known numbers of documents with each phrase.
  private func phraseCounts(
    _ search: RankedSearch, _ state: Int64?, _ metadata: PostgresCollectionMetadata
  ) throws -> [Int?] {
    guard let state, let table = search.index.statistics, search.counts != nil else {
      return search.phrases.map { _ in nil }
    }
    return search.phrases.map { core.phraseCounts.count(search.token($0), table, state: state) }
  }

  private func noteCounts(_ search: RankedSearch, _ hits: [Int?], _ state: Int64?) {
    guard let state, let table = search.index.statistics, search.counts != nil else { return }
    for case (let phrase, let count?) in zip(search.phrases, hits) {
      core.phraseCounts.store(count, search.token(phrase), table, state: state)
    }
  }

  /// Counts the documents with each phrase whose number is unknown: it is the count of a search for the phrase.
  private func count(
    _ search: RankedSearch, _ hits: inout [Int?], _ metadata: PostgresCollectionMetadata,
    _ collection: String
  ) throws {
    let queries = search.phrases.map { search.query(for: $0) }
    var statements: [(number: Int, statement: PostgresStatement)] = []
    let compiler = PostgresQueryCompiler(metadata: metadata)
    for (number, query) in queries.enumerated() where hits[number] == nil && seesOneState {
      guard let sql = compiler.count(try resolved(query, metadata)) else { continue }
      statements.append((number, sql.statement))
    }
    if !statements.isEmpty {
      let counts = try session.run(statements.map(\.statement))
      for (found, result) in zip(statements, counts) { hits[found.number] = Int(result.int(0, 0)) }
    }
    for (number, query) in queries.enumerated() where hits[number] == nil {
      hits[number] = try count(query, in: collection)
    }
  }
}

/// The ranks of matches.
private struct RankedMatches {
  private var ranks: [(rowID: Int64, rank: Double)] = []
  /// Matches that are not ranked yet.
  var uncounted: [Int64] = []
  /// The documents, if they cannot be read again as they were.
  var kept: [Int64: KnownDocument] = [:]

  mutating func add(_ rowID: Int64, _ rank: Double) { ranks.append((rowID, rank)) }

  /// Returns the best matches in order.
  func page(_ query: Query) -> [(rowID: Int64, rank: Double)] {
    let sorted = ranks.sorted { $0.rank != $1.rank ? $0.rank > $1.rank : $0.rowID < $1.rowID }
    let page = sorted.dropFirst(query.offset)
    return Array(page.prefix(query.limit ?? page.count))
  }
}
