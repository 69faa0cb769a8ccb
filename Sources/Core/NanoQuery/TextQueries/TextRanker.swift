// SPDX-License-Identifier: MIT

import Foundation
public import NanoDocument

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
public struct TextRanker {
  private let matcher: TextMatcher
  private let weights: [Double]
  private let documents: [TextContents]
  private let phrases: [TextPhrase]
  private let frequencies: [Double]
  private let meanLength: Double

  private static let k = 1.2
  private static let b = 0.75

  /// - Parameter documents: The texts of each document of the collection, by field.
  public init(
    _ query: TextQuery, in scope: TextScope, _ ranking: TextRanking,
    documents: [(FieldPath) -> [String]]
  ) {
    let contents = documents.map { TextContents(scope, $0) }
    matcher = TextMatcher(query, in: scope)
    weights = scope.fields.map { ranking.weights[$0] ?? 1 }
    self.documents = contents
    let plan = matcher.query.map { TextPlan($0, scope.tokens) }
    let phrases = plan?.node?.ranked ?? []
    self.phrases = phrases
    let length = contents.reduce(0) { $0 + $1.length }
    meanLength = Double(length) / Double(max(1, documents.count))
    frequencies = phrases.map { phrase in
      let hits = contents.count { $0.count(of: phrase) != 0 }
      let idf = log((Double(contents.count - hits) + 0.5) / (Double(hits) + 0.5))
      return idf <= 0 ? 1e-6 : idf
    }
  }

  /// The rank of the document with this number; the larger, the better it fits.
  public func rank(ofDocument number: Int) -> Double {
    let contents = documents[number]
    let norm = Self.k * (1 - Self.b + Self.b * Double(contents.length) / meanLength)
    return zip(phrases, frequencies).reduce(0) { sum, phrase in
      let f = contents.count(of: phrase.0, weights)
      return sum + phrase.1 * (f * (Self.k + 1)) / (f + norm)
    }
  }
}

extension TextPlan.Node {
  /// The phrases that count.
  fileprivate var ranked: [TextPhrase] {
    switch self {
    case .excluding(let part, _): part.ranked
    case .all(let parts), .any(let parts): parts.flatMap(\.ranked)
    case .phrase, .near: phrases
    }
  }
}

extension TextContents {
  fileprivate var length: Int { tokens.reduce(0) { $0 + $1.count } }

  fileprivate func count(of phrase: TextPhrase, _ weights: [Double]? = nil) -> Double {
    fields(phrase.field).reduce(0) { sum, field in
      sum + Double(spans(of: phrase, field).count) * (weights?[field] ?? 1)
    }
  }
}
