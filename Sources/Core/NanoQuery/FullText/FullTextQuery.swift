// SPDX-License-Identifier: MIT

public import NanoDocument

/// What is searched for in texts. docs/TEXT-SEARCH.md says what each form finds.
///
/// ```swift
/// FullTextQuery.all([.phrase("gin"), .prefix("ton")])                  // gin tonic, tonics and gin
/// FullTextQuery.excluding(.phrase("gin"), .field("title", .phrase("sloe")))
/// FullTextQuery("\"gin and tonic\" OR spritz -sloe")                    // what people write
/// ```
public indirect enum FullTextQuery: Sendable, Hashable {
  /// These words in a row, perhaps one alone; in an index of substrings this text anywhere.
  case phrase(String)
  /// The same, and the last word may go on.
  case prefix(String)
  /// Each of these phrases, in any order, with at most so many words between the end of the first
  /// and the beginning of the last.
  case near([String], distance: Int)
  case all([FullTextQuery])
  case any([FullTextQuery])
  /// The first and not the second.
  case excluding(FullTextQuery, FullTextQuery)
  /// Only in this field of the index.
  case field(FieldPath, FullTextQuery)
  /// This text at a place that has nothing to do with words, without regard to case.
  case part(String, TextPosition)

  /// Finds nothing.
  public static let nothing = FullTextQuery.any([])
}

extension FullTextQuery {
  /// Texts are the same if they have the same UTF-8 bytes: an index of substrings finds nothing else.
  public static func == (a: FullTextQuery, b: FullTextQuery) -> Bool {
    switch (a, b) {
    case (.phrase(let a), .phrase(let b)), (.prefix(let a), .prefix(let b)): a.isSame(as: b)
    case (.near(let a, let distance), .near(let b, let other)):
      distance == other && a.isSame(as: b)
    case (.all(let a), .all(let b)), (.any(let a), .any(let b)): a == b
    case (.excluding(let a, let without), .excluding(let b, let other)): a == b && without == other
    case (.field(let path, let a), .field(let other, let b)): path == other && a == b
    case (.part(let a, let place), .part(let b, let other)): place == other && a.isSame(as: b)
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

/// Where a part of a text stands. A token is what blanks and control characters enclose.
public enum TextPosition: String, Sendable, Hashable, CaseIterable {
  case anywhere
  /// A whole token, the beginning of one, the end of one.
  case token, tokenBeginning, tokenEnd
  /// At the beginning or at the end of a text.
  case beginning, end
}

/// A search by text as a condition has it.
public struct FullTextSearch: Sendable, Hashable {
  public var query: FullTextQuery
  /// The name of the text index; nil for the only one of the collection.
  public var index: String?
  /// What is searched; engines find it by the name, if it is nil.
  package var scope: FullTextScope?

  package init(_ query: FullTextQuery, index: String? = nil, scope: FullTextScope? = nil) {
    self.query = query
    self.index = index
    self.scope = scope
  }

  public static func == (a: FullTextSearch, b: FullTextSearch) -> Bool {
    a.query == b.query && a.index.isSame(as: b.index) && a.scope == b.scope
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(query)
    hasher.combine(index.map { ExactName($0) })
    hasher.combine(scope)
  }
}

/// How what a search finds is sorted by how well it fits, the best first.
package struct FullTextRanking: Sendable, Hashable {
  /// How much a word in a field counts; 1 for fields that are not mentioned.
  package var weights: [FieldPath: Double]

  package init(weights: [FieldPath: Double] = [:]) { self.weights = weights }
}

extension FullTextQuery {
  /// Operators inside of operators. Arbitrary; SQLite's parser stops at about twice as many.
  static let maximumDepth = 40

  /// Words and phrases in one query. Arbitrary: nobody writes as many, and SQLite does more.
  static let maximumPhrases = 1_000

  /// - Throws: ``StoreError/Code/invalidArgument`` for a query that is too large, has a negative distance, or
  ///   names a field that the index does not have.
  package func validate(in scope: FullTextScope? = nil) throws(StoreError) {
    var phrases = 0
    try validate(scope, depth: 0, &phrases)
  }

  private func validate(
    _ scope: FullTextScope?, depth: Int, _ phrases: inout Int
  ) throws(StoreError) {
    guard depth <= Self.maximumDepth, phrases <= Self.maximumPhrases else {
      throw StoreError(
        .invalidArgument, "A search by text is too large",
        [.expected: "\(Self.maximumDepth) levels and \(Self.maximumPhrases) phrases at most"])
    }
    switch self {
    case .phrase, .prefix, .part: phrases += 1
    case .near(let texts, let distance):
      phrases += texts.count
      guard distance < 0 else { return }
      throw StoreError(.invalidArgument, "A distance is negative", [.actual: "\(distance)"])
    case .all(let parts), .any(let parts):
      // Also without a phrase they take their time.
      phrases += parts.isEmpty ? 1 : 0
      for part in parts { try part.validate(scope, depth: depth + 1, &phrases) }
    case .excluding(let part, let other):
      try part.validate(scope, depth: depth + 1, &phrases)
      try other.validate(scope, depth: depth + 1, &phrases)
    case .field(let path, let part):
      try path.validate()
      if let scope, !scope.fields.contains(path) {
        throw StoreError(
          .invalidArgument, "The text index does not have this field",
          [
            .field: path.description,
            .expected: scope.fields.map(\.description).joined(separator: ", "),
          ])
      }
      try part.validate(scope, depth: depth + 1, &phrases)
    }
  }
}
