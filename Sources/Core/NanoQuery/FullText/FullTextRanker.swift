// SPDX-License-Identifier: MIT

import Foundation
package import NanoDocument

/// How well documents fit a query, by BM25, in the most obvious code. **This is the definition** of
/// ranks; engines are compared with it.
///
/// ```
/// rank = Σ over phrases  idf · f · (k + 1) / (f + k · (1 - b + b · length / mean length))
/// idf  = ln((documents - hits + 0.5) / (hits + 0.5)), one millionth at least
/// ```
///
/// f is how often the phrase stands in the document, in each field times its weight; a length is that
/// of all fields in tokens. What is excluded does not count.
package struct FullTextRanker {
  private let scope: FullTextScope
  private let weights: [Double]
  private let documents: [TextContents]
  private let phrases: [FullTextPhrase]
  private let frequencies: [Double]
  private let meanLength: Double

  private static let k = 1.2
  private static let b = 0.75

  /// - Parameter documents: The texts of each document of the collection, by field.
  package init(
    _ query: FullTextQuery, in scope: FullTextScope, _ ranking: FullTextRanking,
    documents: [(FieldPath) -> [String]]
  ) {
    let contents = documents.map { TextContents(scope, $0) }
    self.init(
      query, scope, ranking, contents, count: contents.count,
      tokens: contents.reduce(0) { $0 + $1.length }
    ) { phrase in contents.count { $0.count(of: phrase) != 0 } }
  }

  /// From what an engine knows of a collection, for documents that come one by one.
  ///
  /// - Parameters:
  ///   - documents: How many the collection has.
  ///   - tokens: How many tokens they have in all fields.
  ///   - hits: How many documents have a phrase.
  package init(
    _ query: FullTextQuery, in scope: FullTextScope, _ ranking: FullTextRanking, documents: Int,
    tokens: Int,
    hits: (FullTextPhrase) throws -> Int
  ) rethrows {
    try self.init(query, scope, ranking, [], count: documents, tokens: tokens, hits: hits)
  }

  private init(
    _ query: FullTextQuery, _ scope: FullTextScope, _ ranking: FullTextRanking,
    _ contents: [TextContents],
    count: Int, tokens: Int, hits: (FullTextPhrase) throws -> Int
  ) rethrows {
    self.scope = scope
    weights = scope.fields.map { ranking.weights[$0] ?? 1 }
    documents = contents
    let plan = query.simplified(scope.tokens).map { FullTextPlan($0, scope.tokens) }
    phrases = plan?.node?.ranked ?? []
    meanLength = Double(tokens) / Double(max(1, count))
    frequencies = try phrases.map { phrase in
      let hits = try hits(phrase)
      let idf = log((Double(count - hits) + 0.5) / (Double(hits) + 0.5))
      return idf <= 0 ? 1e-6 : idf
    }
  }

  /// The rank of the document with this number; the larger, the better it fits.
  package func rank(ofDocument number: Int) -> Double { rank(documents[number]) }

  /// The rank of a document with these texts.
  package func rank(of texts: (FieldPath) -> [String]) -> Double {
    rank(TextContents(scope, texts))
  }

  private func rank(_ contents: TextContents) -> Double {
    let norm = Self.k * (1 - Self.b + Self.b * Double(contents.length) / meanLength)
    return zip(phrases, frequencies).reduce(0) { sum, phrase in
      let f = contents.count(of: phrase.0, weights)
      return sum + phrase.1 * (f * (Self.k + 1)) / (f + norm)
    }
  }
}

extension FullTextPlan.Node {
  /// The phrases that count.
  fileprivate var ranked: [FullTextPhrase] {
    switch self {
    case .excluding(let part, _): part.ranked
    case .all(let parts), .any(let parts): parts.flatMap(\.ranked)
    case .phrase, .near: phrases
    }
  }
}

extension TextContents {
  fileprivate var length: Int { tokens.reduce(0) { $0 + $1.count } }

  fileprivate func count(of phrase: FullTextPhrase, _ weights: [Double]? = nil) -> Double {
    fields(phrase.field).reduce(0) { sum, field in
      sum + Double(spans(of: phrase, field).count) * (weights?[field] ?? 1)
    }
  }
}
