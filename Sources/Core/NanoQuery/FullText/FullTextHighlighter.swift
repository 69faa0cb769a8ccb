// SPDX-License-Identifier: MIT

package import NanoDocument

/// Highlights the matches of a query in a text.
package struct FullTextHighlighter: Sendable {
  private let tokens: Tokenizer
  private let phrases: [FullTextPhrase]
  private let parts: [String]

  /// - Parameter field: The field that contains the texts. Matches restricted to other fields are not
  ///   highlighted.
  package init(_ query: FullTextQuery, in scope: FullTextScope, field: FieldPath) {
    tokens = scope.tokens
    let (phrases, parts) = query.simplified(scope.tokens)?.marked(field, within: nil) ?? ([], [])
    // In an index of substrings, a phrase may be shorter than a token.
    let isByPart = scope.tokens == .substrings
    self.phrases = isByPart ? [] : phrases
    self.parts = (parts + (isByPart ? phrases.map(\.text) : [])).map { scope.tokens.folded($0) }
  }

  /// Returns the text with markers before and after each match.
  ///
  /// ```swift
  /// highlighter.highlighted("Sloe gin fizz", "<b>", "</b>")    // "Sloe <b>gin</b> fizz"
  /// ```
  package func highlighted(_ text: String, _ begin: String, _ end: String) -> String {
    let bytes = Array(text.utf8)
    return Self.marked(bytes, ranges(in: text, bytes), within: bytes.indices, begin, end)
  }

  /// Returns the part of a text with the most matches, highlighted.
  ///
  /// - Parameters:
  ///   - words: The maximum number of words.
  ///   - ellipsis: Marks omitted text.
  /// - Returns: The snippet and the number of matches in it.
  package func snippet(
    _ text: String, words: Int, _ begin: String, _ end: String, ellipsis: String
  ) -> (text: String, found: Int) {
    let bytes = Array(text.utf8)
    let found = ranges(in: text, bytes)
    let positions = Tokenizer.words.tokens(of: text).map(\.range)
    guard positions.count > max(1, words) else {
      return (Self.marked(bytes, found, within: bytes.indices, begin, end), found.count)
    }
    let window = Self.window(positions, found, max(1, words))
    let isFirst = window.lowerBound == 0
    let isLast = window.upperBound == positions.count
    let start = isFirst ? 0 : positions[window.lowerBound].lowerBound
    let stop = isLast ? bytes.count : positions[window.upperBound - 1].upperBound
    let inside = found.filter { $0.lowerBound < stop && $0.upperBound > start }
    let content = Self.marked(bytes, inside, within: start..<stop, begin, end)
    return ((isFirst ? "" : ellipsis) + content + (isLast ? "" : ellipsis), inside.count)
  }

  /// Returns the window of words with the most matches, which are sorted and disjoint, centered on them.
  private static func window(
    _ words: [Range<Int>], _ found: [Range<Int>], _ length: Int
  ) -> Range<Int> {
    // The matches inside a window are consecutive: those from `first` to before `end`.
    var (first, end) = (0, 0)
    let counts = (0...(words.count - length)).map { start in
      let (low, high) = (words[start].lowerBound, words[start + length - 1].upperBound)
      while first < found.count, found[first].lowerBound < low { first += 1 }
      while end < found.count, found[end].upperBound <= high { end += 1 }
      return max(0, end - first)
    }
    var best = 0
    var most = counts[0]
    var lastOfBest = 0
    for start in counts.indices.dropFirst() {
      let here = counts[start]
      if here > most { (best, most) = (start, here) }
      if here == most, start - best <= length { lastOfBest = start }
    }
    if most == 0, let match = found.first {
      // The match is longer than a window; use the window at its start.
      best = words.firstIndex { $0.upperBound > match.lowerBound } ?? 0
      best = min(best, words.count - length)
      return best..<(best + length)
    }
    // The windows between the first and the last best one contain the same matches, with more and more
    // words after them; take the middle one.
    let middle = lastOfBest > best && most > 0 ? (best + lastOfBest) / 2 : best
    let chosen = counts[middle] == most ? middle : best
    return chosen..<(chosen + length)
  }

  /// Returns the matches as sorted, disjoint UTF-8 ranges.
  private func ranges(in text: String, _ bytes: [UInt8]) -> [Range<Int>] {
    let contents = FullTextContents(FullTextScope([.element], tokens: tokens)) { _ in [text] }
    let positions = contents.tokens[0]
    var found = phrases.flatMap { phrase in
      contents.spans(of: phrase, 0).map {
        positions[$0.lowerBound].range.lowerBound..<positions[$0.upperBound - 1].range.upperBound
      }
    }
    found += parts.flatMap { tokens.ranges(of: $0, in: text) }
    return Self.joined(found)
  }

  private static func joined(_ ranges: [Range<Int>]) -> [Range<Int>] {
    var joined: [Range<Int>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      guard let last = joined.last, range.lowerBound < last.upperBound else {
        joined.append(range)
        continue
      }
      joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
    }
    return joined
  }

  private static func marked(
    _ bytes: [UInt8], _ found: [Range<Int>], within: Range<Int>, _ begin: String, _ end: String
  ) -> String {
    var marked: [UInt8] = []
    var position = within.lowerBound
    for range in found {
      let range = range.clamped(to: within)
      marked += bytes[position..<range.lowerBound]
      marked += begin.utf8
      marked += bytes[range]
      marked += end.utf8
      position = range.upperBound
    }
    marked += bytes[position..<within.upperBound]
    return String(decoding: marked, as: UTF8.self)
  }
}

extension Tokenizer {
  /// Returns the UTF-8 ranges of a folded string in the unfolded text.
  fileprivate func ranges(of needle: String, in text: String) -> [Range<Int>] {
    var positions: [Int] = []
    var folded: [UInt8] = []
    var position = 0
    for scalar in text.unicodeScalars {
      for byte in UnicodeTokenizer.folded(scalar, self).map({ Array(String($0).utf8) }) ?? [] {
        folded.append(byte)
        positions.append(position)
      }
      position += UTF8.width(scalar)
    }
    positions.append(position)
    return folded.ranges(of: Array(needle.utf8)).filter { !$0.isEmpty }
      .map { positions[$0.lowerBound]..<positions[$0.upperBound] }
  }
}

extension FullTextQuery {
  /// Returns the phrases and substrings to highlight in a field, without those that are excluded.
  fileprivate func marked(
    _ field: FieldPath, within path: FieldPath?
  ) -> (phrases: [FullTextPhrase], parts: [String]) {
    switch self {
    case .phrase(let text) where path == nil || path == field:
      return ([FullTextPhrase(text: text)], [])
    case .prefix(let text) where path == nil || path == field:
      return ([FullTextPhrase(text: text, isPrefix: true)], [])
    case .near(let texts, _) where path == nil || path == field:
      return (texts.map { FullTextPhrase(text: $0) }, [])
    case .part(let text, _) where path == nil || path == field: return ([], [text])
    case .phrase, .prefix, .near, .part: return ([], [])
    case .all(let queries), .any(let queries):
      return queries.map { $0.marked(field, within: path) }.reduce(into: ([], [])) {
        $0.0 += $1.phrases
        $0.1 += $1.parts
      }
    case .excluding(let query, _): return query.marked(field, within: path)
    case .field(let inner, let query): return query.marked(field, within: inner)
    }
  }
}
