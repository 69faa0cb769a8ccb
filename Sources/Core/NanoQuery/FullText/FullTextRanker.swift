// SPDX-License-Identifier: MIT

import Foundation
package import NanoDocument

/// Computes BM25 ranks with a straightforward implementation. **This is the definition** of ranks;
/// engines are tested against it.
///
/// ```
/// rank = Σ over phrases  idf · f · (k + 1) / (f + k · (1 - b + b · length / mean length))
/// idf  = ln((documents - hits + 0.5) / (hits + 0.5)), one millionth at least
/// ```
///
/// `f` is the frequency of the phrase in the document, weighted by field; a length is the number of
/// tokens in all fields. Excluded phrases do not count.
package struct FullTextRanker {
  private let scope: FullTextScope
  private let weights: [Double]
  private let documents: [FullTextContents]
  private let phrases: [FullTextPhrase]
  /// The numbers of the fields in which each phrase counts.
  private let fields: [[Int]]
  private let frequencies: [Double]
  private let meanLength: Double

  private static let k = 1.2
  private static let b = 0.75

  /// - Parameter documents: The texts of each document of the collection, by field.
  package init(
    _ query: FullTextQuery, in scope: FullTextScope, _ ranking: FullTextRanking,
    documents: [(FieldPath) -> [String]]
  ) {
    let contents = documents.map { FullTextContents(scope, $0) }
    self.init(
      query, scope, ranking, contents, count: contents.count,
      tokens: contents.reduce(0) { $0 + $1.length }
    ) { phrase in contents.count { $0.count(of: phrase) != 0 } }
  }

  /// Creates a ranker from an engine's statistics, for documents ranked one at a time.
  ///
  /// - Parameters:
  ///   - documents: The number of documents in the collection.
  ///   - tokens: The number of their tokens in all fields.
  ///   - hits: Returns the number of documents that contain a phrase.
  package init(
    _ query: FullTextQuery, in scope: FullTextScope, _ ranking: FullTextRanking, documents: Int,
    tokens: Int,
    hits: (FullTextPhrase) throws -> Int
  ) rethrows {
    try self.init(query, scope, ranking, [], count: documents, tokens: tokens, hits: hits)
  }

  private init(
    _ query: FullTextQuery, _ scope: FullTextScope, _ ranking: FullTextRanking,
    _ contents: [FullTextContents],
    count: Int, tokens: Int, hits: (FullTextPhrase) throws -> Int
  ) rethrows {
    self.scope = scope
    weights = scope.fields.map { ranking.weights[$0] ?? 1 }
    documents = contents
    phrases = Self.phrases(of: query, in: scope)
    fields = phrases.map { scope.numbers(of: $0.field) }
    meanLength = Double(tokens) / Double(max(1, count))
    frequencies = try phrases.map { phrase in
      let hits = try hits(phrase)
      let idf = log((Double(count - hits) + 0.5) / (Double(hits) + 0.5))
      return idf <= 0 ? 1e-6 : idf
    }
  }

  /// Returns the phrases that contribute to the rank, in the order of their contributions.
  package static func phrases(
    of query: FullTextQuery, in scope: FullTextScope
  ) -> [FullTextPhrase] {
    let plan = query.simplified(scope.tokens).map { FullTextPlan($0, scope.tokens) }
    return plan?.node?.ranked ?? []
  }

  /// Returns the rank of the document with this number. Higher is more relevant.
  package func rank(ofDocument number: Int) -> Double { rank(documents[number]) }

  /// Returns the rank of a document with these texts.
  package func rank(of texts: (FieldPath) -> [String]) -> Double {
    rank(FullTextContents(scope, texts))
  }

  private func rank(_ contents: FullTextContents) -> Double {
    rank(length: contents.length) { phrase, field in
      contents.spans(of: phrases[phrase], field).count
    }
  }

  /// Returns the rank of a document from the term frequencies that an index stores.
  ///
  /// - Parameters:
  ///   - length: The number of tokens in all fields.
  ///   - count: Returns how often a phrase occurs in a field, given their numbers in ``phrases(of:in:)`` and the scope.
  package func rank(length: Int, _ count: (Int, Int) -> Int) -> Double {
    let norm = Self.k * (1 - Self.b + Self.b * Double(length) / meanLength)
    var sum = 0.0
    for number in phrases.indices {
      var f = 0.0
      for field in fields[number] { f += Double(count(number, field)) * weights[field] }
      sum += frequencies[number] * (f * (Self.k + 1)) / (f + norm)
    }
    return sum
  }
}

extension FullTextPlan.Node {
  /// The phrases that contribute to the rank.
  fileprivate var ranked: [FullTextPhrase] {
    switch self {
    case .excluding(let part, _): part.ranked
    case .all(let parts), .any(let parts): parts.flatMap(\.ranked)
    case .phrase, .near: phrases
    }
  }
}

extension FullTextContents {
  fileprivate var length: Int { tokens.reduce(0) { $0 + $1.count } }

  fileprivate func count(of phrase: FullTextPhrase) -> Int {
    fields(phrase.field).reduce(0) { $0 + spans(of: phrase, $1).count }
  }
}
