// SPDX-License-Identifier: MIT

public import NanoDocument

/// A full-text query. docs/TEXT-SEARCH.md defines what each case matches.
///
/// ```swift
/// FullTextQuery.all([.phrase("gin"), .prefix("ton")])                  // gin tonic, tonics and gin
/// FullTextQuery.excluding(.phrase("gin"), .field("title", .phrase("sloe")))
/// FullTextQuery("\"gin and tonic\" OR spritz -sloe")                    // user-entered text
/// ```
public indirect enum FullTextQuery: Sendable, Hashable {
  /// One or more consecutive words; in an index of substrings, the text anywhere.
  case phrase(String)
  /// A phrase whose last word may be longer.
  case prefix(String)
  /// All phrases, in any order, with at most `distance` words between the end of the first and the
  /// start of the last.
  case near([String], distance: Int)
  /// Documents that match all queries.
  case all([FullTextQuery])
  /// Documents that match at least one query.
  case any([FullTextQuery])
  /// Documents that match the first query and not the second.
  case excluding(FullTextQuery, FullTextQuery)
  /// The query, restricted to one field of the index.
  case field(FieldPath, FullTextQuery)
  /// A substring at a position that is independent of words, case-insensitive.
  case part(String, TextPosition)

  /// Matches nothing.
  public static let nothing = FullTextQuery.any([])
}

extension FullTextQuery {
  /// Texts are equal if their UTF-8 bytes are equal, since an index of substrings distinguishes them.
  public static func == (a: FullTextQuery, b: FullTextQuery) -> Bool {
    switch (a, b) {
    case (.phrase(let a), .phrase(let b)), (.prefix(let a), .prefix(let b)): a.hasSameBytes(as: b)
    case (.near(let a, let distance), .near(let b, let other)):
      distance == other && a.hasSameBytes(as: b)
    case (.all(let a), .all(let b)), (.any(let a), .any(let b)): a == b
    case (.excluding(let a, let without), .excluding(let b, let other)): a == b && without == other
    case (.field(let path, let a), .field(let other, let b)): path == other && a == b
    case (.part(let a, let position), .part(let b, let other)):
      position == other && a.hasSameBytes(as: b)
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .phrase(let text), .prefix(let text), .part(let text, _): hasher.combine(ExactName(text))
    case .near(let texts, _): for text in texts { hasher.combine(ExactName(text)) }
    case .all(let parts), .any(let parts): hasher.combine(parts)
    case .excluding(let part, let other):
      hasher.combine(part)
      hasher.combine(other)
    case .field(let path, let part):
      hasher.combine(path)
      hasher.combine(part)
    }
  }
}

/// The position of a substring in a text. A token is delimited by blanks and control characters.
public enum TextPosition: String, Sendable, Hashable, CaseIterable {
  /// Anywhere in the text.
  case anywhere
  /// A whole token.
  case token
  /// The beginning of a token.
  case tokenBeginning
  /// The end of a token.
  case tokenEnd
  /// The beginning of the text.
  case beginning
  /// The end of the text.
  case end
}

/// A full-text search in a condition.
public struct FullTextSearch: Sendable, Hashable {
  /// The query.
  public var query: FullTextQuery
  /// The name of the full-text index, or `nil` if the collection has only one.
  public var index: String?
  /// The index to search if none is named and the collection has several.
  package var preferredIndex: String?
  /// The fields to search. If `nil`, the engine resolves them by the index name.
  package var scope: FullTextScope?

  /// Creates a search of an index.
  package init(
    _ query: FullTextQuery, index: String? = nil, preferredIndex: String? = nil,
    scope: FullTextScope? = nil
  ) {
    self.query = query
    self.index = index
    self.preferredIndex = preferredIndex
    self.scope = scope
  }

  /// Returns whether both searches are equal. Texts and names are compared by their UTF-8 bytes.
  public static func == (a: FullTextSearch, b: FullTextSearch) -> Bool {
    a.query == b.query && a.index.hasSameBytes(as: b.index)
      && a.preferredIndex.hasSameBytes(as: b.preferredIndex) && a.scope == b.scope
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(query)
    hasher.combine(index.map { ExactName($0) })
    hasher.combine(preferredIndex.map { ExactName($0) })
    hasher.combine(scope)
  }
}

/// The ranking of full-text results by relevance, best first.
package struct FullTextRanking: Sendable, Hashable {
  /// The weight of matches in each field; 1 for fields not listed.
  package var weights: [FieldPath: Double]

  /// Creates a ranking with field weights.
  package init(weights: [FieldPath: Double] = [:]) { self.weights = weights }
}

extension FullTextQuery {
  /// The maximum nesting of operators. Arbitrary; SQLite's parser stops at about twice as many.
  static let maximumDepth = 40

  /// The maximum number of words and phrases in one query. Arbitrary: far more than a user types;
  /// SQLite's limit is higher.
  static let maximumPhrases = 1_000

  /// Checks the query's size, distances and fields.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if the query is too large, contains a negative
  ///   distance, or names a field that is not in the index; ``StoreError/Code/invalidPath``.
  package func validate(in scope: FullTextScope? = nil) throws(StoreError) {
    var phrases = 0
    try validate(scope, depth: 0, &phrases)
  }

  private func validate(
    _ scope: FullTextScope?, depth: Int, _ phrases: inout Int
  ) throws(StoreError) {
    phrases += ownPhrases
    guard depth <= Self.maximumDepth, phrases <= Self.maximumPhrases else {
      throw StoreError(
        .invalidArgument, "A full-text query is too large",
        [.expected: "\(Self.maximumDepth) levels and \(Self.maximumPhrases) phrases at most"])
    }
    switch self {
    case .phrase, .prefix, .part: break
    case .near(_, let distance):
      guard distance < 0 else { return }
      throw StoreError(.invalidArgument, "A distance is negative", [.actual: "\(distance)"])
    case .all(let parts), .any(let parts):
      for part in parts { try part.validate(scope, depth: depth + 1, &phrases) }
    case .excluding(let part, let other):
      try part.validate(scope, depth: depth + 1, &phrases)
      try other.validate(scope, depth: depth + 1, &phrases)
    case .field(let path, let part):
      try path.validate()
      try scope?.requireField(path)
      try part.validate(scope, depth: depth + 1, &phrases)
    }
  }

  /// The number of phrases without those of inner queries.
  private var ownPhrases: Int {
    switch self {
    case .phrase, .prefix, .part: 1
    case .near(let texts, _): texts.count
    // Empty lists count too, since processing them takes time.
    case .all(let parts), .any(let parts): parts.isEmpty ? 1 : 0
    case .excluding, .field: 0
    }
  }
}
