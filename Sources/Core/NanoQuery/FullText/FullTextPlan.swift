// SPDX-License-Identifier: MIT

package import NanoDocument

/// What an index of tokens can answer of a query: it finds at least what the query finds.
///
/// All engines rank by the phrases that stand here.
package struct FullTextPlan: Sendable, Hashable {
  /// A part of what the index is asked.
  package indirect enum Node: Sendable, Hashable {
    /// Tokens in a row, of which the last may go on.
    case phrase(FullTextPhrase)
    case near([FullTextPhrase], distance: Int)
    case all([Node])
    case any([Node])
    case excluding(Node, Node)
  }
  /// Nil if the index is of no use.
  package var node: Node?
  /// Whether it finds nothing else.
  package var isExact: Bool

  /// The plan of a query that has something to be found.
  package init(_ query: FullTextQuery, _ tokens: Tokenizer) {
    self = TextPlanner(tokens: tokens).plan(query, nil)
  }

  fileprivate init(_ node: Node?, isExact: Bool) {
    self.node = node
    self.isExact = isExact && node != nil
  }
}

/// Words in a row.
package struct FullTextPhrase: Sendable, Hashable {
  package var text: String
  package var isPrefix = false
  /// The only field in which it is looked for; nil for all of the index.
  package var field: FieldPath?
}

extension FullTextPlan.Node {
  /// The phrases, those of what is excluded after the others.
  package var phrases: [FullTextPhrase] {
    switch self {
    case .phrase(let phrase): [phrase]
    case .near(let phrases, _): phrases
    case .all(let parts), .any(let parts): parts.flatMap(\.phrases)
    case .excluding(let part, let other): part.phrases + other.phrases
    }
  }
}

private struct TextPlanner {
  let tokens: Tokenizer

  func plan(_ query: FullTextQuery, _ field: FieldPath?) -> FullTextPlan {
    switch query {
    case .phrase(let text): return phrase(text, field, isPrefix: false)
    case .prefix(let text): return phrase(text, field, isPrefix: tokens == .words)
    case .near(let texts, let distance):
      let phrases = texts.map { FullTextPhrase(text: $0, field: field) }
      guard texts.allSatisfy(isAnswered) else { return FullTextPlan(nil, isExact: false) }
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
      // What finds too much would exclude too much.
      guard excluded.isExact, let other = excluded.node else {
        return FullTextPlan(node, isExact: false)
      }
      return FullTextPlan(.excluding(node, other), isExact: kept.isExact)
    case .field(let path, let part): return plan(part, path)
    case .part(let text, let place): return part(text, place, field)
    }
  }

  private func phrase(_ text: String, _ field: FieldPath?, isPrefix: Bool) -> FullTextPlan {
    guard isAnswered(text) else { return FullTextPlan(nil, isExact: false) }
    return FullTextPlan(
      .phrase(FullTextPhrase(text: text, isPrefix: isPrefix, field: field)), isExact: isExact(text))
  }

  /// A token between blanks holds whole words, and begins with one; it ends anywhere.
  private func part(_ text: String, _ place: TextPosition, _ field: FieldPath?) -> FullTextPlan {
    var found: FullTextPlan
    switch (tokens, place) {
    case (.substrings, _): found = phrase(text, field, isPrefix: false)
    case (.words, .token): found = phrase(text, field, isPrefix: false)
    case (.words, .tokenBeginning), (.words, .beginning):
      found = phrase(text, field, isPrefix: true)
    case (.words, .anywhere), (.words, .tokenEnd), (.words, .end):
      found = FullTextPlan(nil, isExact: false)
    }
    if tokens == .words || place != .anywhere { found.isExact = false }
    return found
  }

  /// Whether the index knows the text: it has a token, and not what stands between two texts there.
  private func isAnswered(_ text: String) -> Bool {
    !text.unicodeScalars.contains(FullTextScope.border) && !tokens.tokens(of: text).isEmpty
  }

  /// An index of substrings has another character for NUL.
  private func isExact(_ text: String) -> Bool {
    tokens == .words || !text.utf8.contains(0)
  }
}

extension FullTextQuery {
  /// The query without what no text could hold, such as a phrase of punctuation; nil if nothing is left.
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
