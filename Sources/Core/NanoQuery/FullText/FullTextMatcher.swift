// SPDX-License-Identifier: MIT

package import NanoDocument

/// Evaluates a full-text query on the texts of a document. **This is the definition** of search results
/// (docs/TEXT-SEARCH.md); engines are tested against it.
package struct FullTextMatcher: Sendable {
  /// The fields and their tokenizer.
  package let scope: FullTextScope
  /// The simplified query, or `nil` if it matches nothing.
  package let query: FullTextQuery?

  package init(_ query: FullTextQuery, in scope: FullTextScope) {
    self.scope = scope
    self.query = query.simplified(scope.tokens)
  }

  /// - Parameter texts: Returns the texts of a field, in document order.
  package func matches(_ texts: (FieldPath) -> [String]) -> Bool {
    guard let query else { return false }
    return matches(query, FullTextContents(scope, texts), nil)
  }

  func matches(_ query: FullTextQuery, _ contents: FullTextContents, _ field: FieldPath?) -> Bool {
    switch query {
    case .phrase(let text): return holds(text, isPrefix: false, contents, field)
    case .prefix(let text): return holds(text, isPrefix: true, contents, field)
    case .near(let texts, let distance):
      return contents.fields(field).contains { position in
        Self.isNear(
          texts.map { contents.spans(of: FullTextPhrase(text: $0), position) }, distance: distance)
      }
    case .all(let parts): return parts.allSatisfy { matches($0, contents, field) }
    case .any(let parts): return parts.contains { matches($0, contents, field) }
    case .excluding(let part, let other):
      return matches(part, contents, field) && !matches(other, contents, field)
    case .field(let path, let part): return matches(part, contents, path)
    case .part(let text, let position):
      let needle = scope.tokens.folded(text)
      return contents.fields(field).contains { number in
        contents.texts[number].contains { position.holds(needle, in: scope.tokens.folded($0)) }
      }
    }
  }

  private func holds(
    _ text: String, isPrefix: Bool, _ contents: FullTextContents, _ field: FieldPath?
  ) -> Bool {
    let positions = contents.fields(field)
    if scope.tokens == .substrings {
      let needle = scope.tokens.folded(text)
      return positions.contains { number in
        contents.texts[number].contains {
          TextPosition.anywhere.holds(needle, in: scope.tokens.folded($0))
        }
      }
    }
    let phrase = FullTextPhrase(text: text, isPrefix: isPrefix)
    return positions.contains { !contents.spans(of: phrase, $0).isEmpty }
  }

  /// Returns whether one occurrence of each phrase can be chosen such that at most `distance` words lie
  /// between the end of each and the start of the last.
  static func isNear(_ spans: [[Range<Int>]], distance: Int) -> Bool {
    // Each list is sorted, so of the occurrences that start up to this position, the last one also ends
    // last.
    spans.joined().map(\.lowerBound).contains { last in
      spans.allSatisfy { positions in
        let nearest = positions.partitioningIndex { $0.lowerBound > last } - 1
        return nearest >= 0 && last - positions[nearest].upperBound <= distance
      }
    }
  }
}

extension [Range<Int>] {
  /// Returns the first index at which the condition is true, assuming it is false before and true
  /// after.
  fileprivate func partitioningIndex(where condition: (Range<Int>) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if condition(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// The tokenized texts of one document in the fields of a scope.
struct FullTextContents {
  let scope: FullTextScope
  /// The texts of each field.
  let texts: [[String]]
  /// The tokens of each field, with a separator between texts.
  let tokens: [[FullTextToken]]

  init(_ scope: FullTextScope, _ texts: (FieldPath) -> [String]) {
    self.scope = scope
    self.texts = scope.fields.map(texts)
    tokens = self.texts.map { texts in
      scope.tokens.tokens(of: texts.joined(separator: FullTextScope.separator))
    }
  }

  /// Returns the indices of the fields to search.
  func fields(_ field: FieldPath?) -> [Int] { scope.numbers(of: field) }

  /// Returns the occurrences of a phrase in a field, in tokens.
  func spans(of phrase: FullTextPhrase, _ field: Int) -> [Range<Int>] {
    let needle = scope.tokens.tokens(of: phrase.text).map(\.text)
    let words = tokens[field]
    guard !needle.isEmpty, words.count >= needle.count else { return [] }
    return (0...(words.count - needle.count)).compactMap { start in
      for (index, word) in needle.enumerated() {
        let found = words[start + index].text
        let allowsPrefix = phrase.isPrefix && index == needle.count - 1
        guard found.hasScalars(word, allowsPrefix: allowsPrefix) else { return nil }
      }
      return start..<(start + needle.count)
    }
  }
}

extension String {
  /// Compares bytes: string comparison would ignore differences in Unicode normalization.
  fileprivate func hasScalars(_ other: String, allowsPrefix: Bool) -> Bool {
    allowsPrefix ? utf8.starts(with: other.utf8) : utf8.elementsEqual(other.utf8)
  }
}

extension TextPosition {
  /// Returns whether the folded text contains the folded string at this position.
  func holds(_ needle: String, in text: String) -> Bool {
    guard !needle.isEmpty else { return false }
    switch self {
    case .anywhere: return text.utf8.firstRange(of: Array(needle.utf8)) != nil
    case .beginning: return text.utf8.starts(with: needle.utf8)
    case .end: return text.utf8.reversed().starts(with: needle.utf8.reversed())
    case .token, .tokenBeginning, .tokenEnd:
      return text.utf8.split(whereSeparator: { $0 <= 0x20 }).contains { token in
        switch self {
        case .token: token.elementsEqual(needle.utf8)
        case .tokenBeginning: token.starts(with: needle.utf8)
        default: token.reversed().starts(with: needle.utf8.reversed())
        }
      }
    }
  }
}
