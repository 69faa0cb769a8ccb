// SPDX-License-Identifier: MIT

/// A token of a text: a word or a trigram.
package struct FullTextToken: Sendable, Hashable {
  /// The token in folded form, as it is compared.
  package var text: String
  /// The token's UTF-8 range in the text.
  package var range: Range<Int>
}

extension Tokenizer {
  /// Returns the tokens of a text, in order.
  ///
  /// ```swift
  /// Tokenizer.words.tokens(of: "Crème, brûlée!").map(\.text)     // ["creme", "brulee"]
  /// Tokenizer.substrings.tokens(of: "Café").map(\.text)          // ["caf", "afé"]
  /// ```
  package func tokens(of text: String) -> [FullTextToken] {
    switch self {
    case .words: Self.words(of: text)
    case .substrings: Self.trigrams(of: text)
    }
  }

  /// Returns the text in folded form, as it is compared.
  package func folded(_ text: String) -> String {
    var folded = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if let scalar = UnicodeTokenizer.folded(scalar, self) { folded.append(scalar) }
    }
    return String(folded)
  }

  private static func words(of text: String) -> [FullTextToken] {
    var tokens: [FullTextToken] = []
    var word = String.UnicodeScalarView()
    var start = 0
    var position = 0
    func end() {
      if !word.isEmpty { tokens.append(FullTextToken(text: String(word), range: start..<position)) }
      word = String.UnicodeScalarView()
    }
    for scalar in text.unicodeScalars {
      defer { position += UTF8.width(scalar) }
      let isInside = UnicodeTokenizer.isInWord(scalar)
      // A combining diacritic continues a word but does not start one.
      guard isInside || (!word.isEmpty && UnicodeTokenizer.isAccent(scalar)) else {
        end()
        continue
      }
      if word.isEmpty { start = position }
      if let folded = UnicodeTokenizer.folded(scalar, .words) { word.append(folded) }
    }
    end()
    return tokens
  }

  private static func trigrams(of text: String) -> [FullTextToken] {
    var scalars: [(scalar: Unicode.Scalar, start: Int, end: Int)] = []
    var position = 0
    for scalar in text.unicodeScalars {
      let end = position + UTF8.width(scalar)
      if let folded = UnicodeTokenizer.folded(scalar, .substrings) {
        scalars.append((folded, position, end))
      }
      position = end
    }
    guard scalars.count >= trigramLength else { return [] }
    return (0...(scalars.count - trigramLength)).map { first in
      let run = scalars[first..<(first + trigramLength)]
      var text = String.UnicodeScalarView()
      text.append(contentsOf: run.lazy.map(\.scalar))
      return FullTextToken(text: String(text), range: run.first!.start..<run.last!.end)
    }
  }

  /// The length of a token in an index of substrings, in characters.
  static let trigramLength = 3
}
