// SPDX-License-Identifier: MIT

package import NanoDocument

/// A string match with a pattern, compiled once and applied to many strings.
package struct TextPattern {
  private let match: TextMatch
  private let pattern: String
  private let scalars: [Unicode.Scalar]
  private let regex: Regex<AnyRegexOutput>?

  /// Compiles a pattern.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` for a malformed regular expression.
  package init(_ match: TextMatch, _ pattern: String) throws(StoreError) {
    self.match = match
    self.pattern = match.ignoresCase ? TextFolding.fold(pattern) : pattern
    scalars = match == .like || match == .glob ? Array(pattern.unicodeScalars) : []
    guard match == .regexp else {
      regex = nil
      return
    }
    do {
      regex = try Regex(pattern).matchingSemantics(.unicodeScalar)
    } catch {
      throw StoreError(
        .invalidArgument, "A regular expression does not parse",
        [.value: pattern, .engineMessage: "\(error)"])
    }
  }

  /// Returns whether the text matches.
  package func matches(_ text: String) -> Bool {
    switch match {
    case .beginsWith: return text.utf8.starts(with: pattern.utf8)
    case .endsWith: return text.utf8.reversed().starts(with: pattern.utf8.reversed())
    case .contains: return Self.contains(text, pattern)
    case .insensitiveEqualTo: return TextFolding.fold(text).utf8.elementsEqual(pattern.utf8)
    case .insensitiveBeginsWith: return TextFolding.fold(text).utf8.starts(with: pattern.utf8)
    case .insensitiveEndsWith:
      return TextFolding.fold(text).utf8.reversed().starts(with: pattern.utf8.reversed())
    case .insensitiveContains: return Self.contains(TextFolding.fold(text), pattern)
    case .like: return Wildcards.like(Array(text.unicodeScalars), scalars)
    case .glob: return Wildcards.glob(Array(text.unicodeScalars), scalars)
    case .regexp: return regex.map { (try? $0.firstMatch(in: text)) != nil } ?? false
    }
  }

  private static func contains(_ text: String, _ part: String) -> Bool {
    Array(text.utf8).withUnsafeBytes { ByteSearch.contains($0, Array(part.utf8)) }
  }
}

/// SQLite's `LIKE` and `GLOB` over Unicode scalars. Source:
/// https://www.sqlite.org/lang_expr.html#the_like_glob_regexp_match_and_extract_operators
enum Wildcards {
  typealias Text = [Unicode.Scalar]

  static func like(_ text: Text, _ pattern: Text) -> Bool {
    walk(text, pattern, many: "%") { pattern, at, scalar in
      if pattern[at] == "_" { return at + 1 }
      return lowerASCII(pattern[at]) == lowerASCII(scalar) ? at + 1 : nil
    }
  }

  static func glob(_ text: Text, _ pattern: Text) -> Bool {
    walk(text, pattern, many: "*") { pattern, at, scalar in
      switch pattern[at] {
      case "?": return at + 1
      case "[": return matchSet(pattern, at, scalar)
      default: return pattern[at] == scalar ? at + 1 : nil
      }
    }
  }

  /// Matches with two pointers: on a mismatch, the last `many` wildcard is extended by one scalar.
  /// `step` returns the pattern position after matching one scalar, or `nil` for a mismatch.
  private static func walk(
    _ text: Text, _ pattern: Text, many: Unicode.Scalar,
    step: (Text, Int, Unicode.Scalar) -> Int?
  ) -> Bool {
    var (at, position) = (0, 0)
    var resume: (at: Int, position: Int)?
    while at < text.count {
      if position < pattern.count, pattern[position] == many {
        position += 1
        resume = (at, position)
      } else if position < pattern.count, let next = step(pattern, position, text[at]) {
        at += 1
        position = next
      } else if let last = resume {
        at = last.at + 1
        position = last.position
        resume = (at, position)
      } else {
        return false
      }
    }
    return pattern[position...].allSatisfy { $0 == many }
  }

  /// Matches `[abc]`, `[a-z]` or `[^…]`. A leading `]` is a member. An unclosed set matches nothing.
  private static func matchSet(_ pattern: Text, _ start: Int, _ scalar: Unicode.Scalar) -> Int? {
    var at = start + 1
    let negated = at < pattern.count && pattern[at] == "^"
    if negated { at += 1 }
    var found = false
    var first = true
    while at < pattern.count, first || pattern[at] != "]" {
      first = false
      if at + 2 < pattern.count, pattern[at + 1] == "-", pattern[at + 2] != "]" {
        if pattern[at] <= scalar, scalar <= pattern[at + 2] { found = true }
        at += 3
      } else {
        if pattern[at] == scalar { found = true }
        at += 1
      }
    }
    guard at < pattern.count else { return nil }
    return found != negated ? at + 1 : nil
  }

  private static func lowerASCII(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    guard scalar.value >= 0x41, scalar.value <= 0x5A else { return scalar }
    return Unicode.Scalar(UInt8(scalar.value + 0x20))
  }
}
