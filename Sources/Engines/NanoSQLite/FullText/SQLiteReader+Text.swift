// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQL

/// Full-text searches and the ranking of their results.
extension SQLiteReader {
  func fullTextIndexes(in collection: String) throws -> [FullTextIndexDefinition] {
    try connection.table(collection)?.text?.schemas.map(\.index) ?? []
  }

  func findRanked(
    _ query: Query, in collection: String, _ visit: (StoredDocument, Double) throws -> Bool
  ) throws {
    try querying(query, collection) { table, query in
      guard let search = query.condition.rankingSearch else {
        return try findUnranked(query, in: collection) { try visit($0, 0) }
      }
      let ranks = try ranks(search, query.ranking ?? FullTextRanking(), table)
      guard query.isRanked, let ranks else {
        // A damaged index may return a row twice.
        let ranks = Dictionary((ranks ?? []).map { ($0.rowID, $0.rank) }) { first, _ in first }
        return try findUnranked(query, in: collection) { try visit($0, ranks[$0.rowID] ?? 0) }
      }
      try visitRanked(ranks, query, table, visit)
    }
  }

  /// Passes the documents in the order of the query's orderings, or by row ID.
  private func findUnranked(
    _ query: Query, in collection: String, _ visit: (StoredDocument) throws -> Bool
  ) throws {
    var query = query
    query.ranking = nil
    try find(query, in: collection, visit)
  }

  private struct Ranked {
    let rank: Double
    let rowID: Int64
  }

  /// Returns every row that the index finds, without reading the documents; `nil` if there is no index.
  private func ranks(
    _ search: FullTextSearch, _ ranking: FullTextRanking, _ table: CollectionTable
  ) throws -> [Ranked]? {
    guard let statement = QueryCompiler(table.metadata).ranks(search, ranking) else { return nil }
    var found: [Ranked] = []
    try connection.with(statement) { row in
      while try row.step() {
        // SQLite's ranks are negative: the smallest is the best.
        found.append(Ranked(rank: -row.double(1), rowID: row.int(0)))
      }
    }
    return found
  }

  /// Returns the rows of other programs that are not in the index; they rank last.
  private func foreign(besides ranks: [Ranked], _ table: CollectionTable) throws -> [Ranked] {
    guard table.hasForeignRows else { return [] }
    let indexed = Set(ranks.lazy.map(\.rowID))
    let name = SQLName.quoted(table.description.name)
    return try connection.all(SQLFragment("SELECT id FROM \(name) WHERE revision IS NULL")) {
      $0.int(0)
    }.filter { !indexed.contains($0) }.map { Ranked(rank: 0, rowID: $0) }
  }

  /// Reads documents in rank order, so that none are read beyond those passed to the closure and those that do
  /// not satisfy the rest of the condition.
  private func visitRanked(
    _ ranks: [Ranked], _ query: Query, _ table: CollectionTable,
    _ visit: (StoredDocument, Double) throws -> Bool
  ) throws {
    let ranks = try (ranks + foreign(besides: ranks, table))
      .sorted { $0.rank > $1.rank || ($0.rank == $1.rank && $0.rowID < $1.rowID) }
    let compiler = QueryCompiler(table.metadata)
    let (rest, isWhole) = compiler.withoutRankingSearch(query)
    // If the search is the whole condition, skipped documents are not read. The index has expired documents too.
    let skipped = isWhole && query.expiredAt == nil ? min(query.offset, ranks.count) : 0
    var toSkip = query.offset - skipped
    var remaining = query.limit ?? .max
    guard remaining > 0 else { return }
    let compiled = compiler.candidate(rest).sql
    let layout = table.metadata.parts.layout
    try connection.with(compiled) { row in
      for ranked in ranks[skipped...] {
        defer { row.reset() }
        row.bind(ranked.rowID, at: Int32(compiled.bindings.count + 1))
        guard try row.step() else { continue }
        if toSkip > 0 {
          toSkip -= 1
          continue
        }
        guard try visit(Self.document(row, table.incarnation, layout), ranked.rank) else { return }
        remaining -= 1
        if remaining == 0 { return }
        try connection.interruption?.check()
      }
    }
  }
}
