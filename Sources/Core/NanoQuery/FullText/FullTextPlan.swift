// SPDX-License-Identifier: MIT

package import NanoDocument

/// The part of a query that a token index can evaluate. Its results are a superset of the query's.
///
/// All engines compute ranks from its phrases.
package struct FullTextPlan: Sendable, Hashable {
  /// A node of the index query.
  package indirect enum Node: Sendable, Hashable {
    /// Consecutive tokens. If the phrase is a prefix, the last token may be longer.
    case phrase(FullTextPhrase)
    case near([FullTextPhrase], distance: Int)
    case all([Node])
    case any([Node])
    case excluding(Node, Node)
  }
  /// The index query, or `nil` if the index cannot narrow the query.
  package var node: Node?
  /// Whether the index returns exactly the query's results.
  package var isExact: Bool

  /// Creates the plan for a nonempty query.
  package init(_ query: FullTextQuery, _ tokens: Tokenizer) {
    self = FullTextPlanner(tokens: tokens).plan(query, nil)
  }

  fileprivate init(_ node: Node?, isExact: Bool) {
    self.node = node
    self.isExact = isExact && node != nil
  }
}

/// Consecutive words.
package struct FullTextPhrase: Sendable, Hashable {
  package var text: String
  package var isPrefix = false
  /// The field to search, or `nil` for all fields of the index.
  package var field: FieldPath?
}

extension FullTextPlan.Node {
  /// All phrases; those that are excluded come last.
  package var phrases: [FullTextPhrase] {
    switch self {
    case .phrase(let phrase): [phrase]
    case .near(let phrases, _): phrases
    case .all(let parts), .any(let parts): parts.flatMap(\.phrases)
    case .excluding(let part, let other): part.phrases + other.phrases
    }
  }
}

private struct FullTextPlanner {
  let tokens: Tokenizer

  func plan(_ query: FullTextQuery, _ field: FieldPath?) -> FullTextPlan {
    switch query {
    case .phrase(let text): return phrase(text, field, isPrefix: false)
    case .prefix(let text): return phrase(text, field, isPrefix: tokens == .words)
    case .near(let texts, let distance):
      let phrases = texts.map { FullTextPhrase(text: $0, field: field) }
      guard texts.allSatisfy(isIndexed) else { return FullTextPlan(nil, isExact: false) }
      return FullTextPlan(.near(phrases, distance: distance), isExact: texts.allSatisfy(isExact))
    case .all(let parts):
      let plans = parts.map { plan($0, field) }
      let nodes = plans.compactMap(\.node)
      guard let first = nodes.first else { return FullTextPlan(nil, isExact: false) }
      return FullTextPlan(
        nodes.count == 1 ? first : .all(nodes), isExact: plans.allSatisfy(\.isExact))
    case .any(let parts):
      let plans = parts.map { plan($0, field) }
      let nodes = plans.compactMap(\.node)
      guard nodes.count == plans.count, let first = nodes.first else {
        return FullTextPlan(nil, isExact: false)
      }
      return FullTextPlan(
        nodes.count == 1 ? first : .any(nodes), isExact: plans.allSatisfy(\.isExact))
    case .excluding(let part, let other):
      let (kept, excluded) = (plan(part, field), plan(other, field))
      guard let node = kept.node else { return kept }
      // A superset would exclude too many results.
      guard excluded.isExact, let other = excluded.node else {
        return FullTextPlan(node, isExact: false)
      }
      return FullTextPlan(.excluding(node, other), isExact: kept.isExact)
    case .field(let path, let part): return plan(part, path)
    case .part(let text, let position): return part(text, position, field)
    }
  }

  private func phrase(_ text: String, _ field: FieldPath?, isPrefix: Bool) -> FullTextPlan {
    guard isIndexed(text) else { return FullTextPlan(nil, isExact: false) }
    return FullTextPlan(
      .phrase(FullTextPhrase(text: text, isPrefix: isPrefix, field: field)), isExact: isExact(text))
  }

  /// A token delimited by blanks starts with a whole word and contains whole words, but may end inside
  /// a word.
  private func part(_ text: String, _ position: TextPosition, _ field: FieldPath?) -> FullTextPlan {
    var found: FullTextPlan
    switch (tokens, position) {
    case (.substrings, _): found = phrase(text, field, isPrefix: false)
    case (.words, .token): found = phrase(text, field, isPrefix: false)
    case (.words, .tokenBeginning), (.words, .beginning):
      found = phrase(text, field, isPrefix: true)
    case (.words, .anywhere), (.words, .tokenEnd), (.words, .end):
      found = FullTextPlan(nil, isExact: false)
    }
    if tokens == .words || position != .anywhere { found.isExact = false }
    return found
  }

  /// Returns whether the index can find the text: it has a token, and does not contain the separator
  /// between texts.
  private func isIndexed(_ text: String) -> Bool {
    !text.unicodeScalars.contains(FullTextScope.border) && !tokens.tokens(of: text).isEmpty
  }

  /// An index of substrings stores a different character in place of NUL, and line feeds next to texts
  /// (``FullTextScope/separator``). SQLite's index of words stores the first 32,768 bytes of each word.
  private func isExact(_ text: String) -> Bool {
    // Folding a letter takes at most three times its bytes.
    if tokens == .words { return text.utf8.count < 32_768 / 3 }
    let scalars = text.unicodeScalars
    return !text.utf8.contains(0) && scalars.first != "\n" && scalars.last != "\n"
  }
}

extension FullTextQuery {
  /// Returns the query without parts that no text can contain, such as a phrase of punctuation, or
  /// `nil` if nothing remains.
  ///
  /// ```swift
  /// FullTextQuery.all([.phrase("gin"), .phrase("&")]).simplified(.words)     // .phrase("gin")
  /// ```
  package func simplified(_ tokens: Tokenizer) -> FullTextQuery? {
    switch self {
    case .phrase(let text), .prefix(let text):
      return Self.isEmpty(text, tokens) ? nil : self
    case .near(let texts, let distance):
      let left = texts.filter { !Self.isEmpty($0, tokens) }
      return left.count > 1
        ? .near(left, distance: distance) : left.first.map { .phrase($0) }
    case .all(let parts): return Self.simplified(parts, tokens, FullTextQuery.all)
    case .any(let parts): return Self.simplified(parts, tokens, FullTextQuery.any)
    case .excluding(let part, let other):
      guard let part = part.simplified(tokens) else { return nil }
      return other.simplified(tokens).map { .excluding(part, $0) } ?? part
    case .field(let path, let part): return part.simplified(tokens).map { .field(path, $0) }
    case .part(let text, _): return text.isEmpty ? nil : self
    }
  }

  private static func simplified(
    _ parts: [FullTextQuery], _ tokens: Tokenizer, _ join: ([FullTextQuery]) -> FullTextQuery
  ) -> FullTextQuery? {
    let left = parts.compactMap { $0.simplified(tokens) }
    return left.count > 1 ? join(left) : left.first
  }

  private static func isEmpty(_ text: String, _ tokens: Tokenizer) -> Bool {
    tokens == .words ? tokens.tokens(of: text).isEmpty : text.isEmpty
  }
}
