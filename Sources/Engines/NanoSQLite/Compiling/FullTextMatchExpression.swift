// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery
import NanoSQL

/// An FTS5 query (https://sqlite.org/fts5.html#full_text_query_syntax).
///
/// Texts are in double quotes, with quotes in them doubled, so that nothing in them is an operator.
struct FullTextMatchExpression {
  let text: String

  init(_ node: FullTextPlan.Node, in scope: FullTextScope) {
    text = Self.expression(node, scope)
  }

  /// Returns the name of a column. Names of fields could have a special meaning in FTS5.
  static func column(_ number: Int) -> String { "f\(number)" }

  /// FTS5 computes distances with 32 bits. No text has more tokens: SQLite's values have at most 10^9 bytes.
  private static let maximumDistance = 1 << 30

  private static func expression(_ node: FullTextPlan.Node, _ scope: FullTextScope) -> String {
    switch node {
    case .phrase(let phrase):
      return filter(phrase.field, scope) + quoted(phrase.text, scope)
        + (phrase.isPrefix ? " *" : "")
    case .near(let phrases, let distance):
      let texts = phrases.map { quoted($0.text, scope) }.joined(separator: " ")
      return filter(phrases.first?.field, scope)
        + "NEAR(\(texts), \(min(distance, maximumDistance)))"
    case .all(let parts): return joined(parts, " AND ", scope)
    case .any(let parts): return joined(parts, " OR ", scope)
    case .excluding(let part, let other):
      return "(" + expression(part, scope) + ") NOT (" + expression(other, scope) + ")"
    }
  }

  private static func joined(
    _ parts: [FullTextPlan.Node], _ operation: String, _ scope: FullTextScope
  ) -> String {
    parts.map { "(" + expression($0, scope) + ")" }.joined(separator: operation)
  }

  private static func filter(_ field: FieldPath?, _ scope: FullTextScope) -> String {
    guard let field, let number = scope.fields.firstIndex(of: field) else { return "" }
    return column(number) + " : "
  }

  /// Returns the replacement for a NUL, which would end the expression, and which ends a text for SQLite's JSON
  /// functions. For words, it is a separator; for substrings, a character that no query looks up in an index
  /// (``FullTextPlan``).
  static func replacement(forNULIn tokens: Tokenizer) -> Unicode.Scalar {
    switch tokens {
    case .words: " "
    case .substrings: FullTextScope.border
    }
  }

  private static func quoted(_ text: String, _ scope: FullTextScope) -> String {
    let withoutNUL = text.unicodeScalars.map {
      $0 == "\0" ? replacement(forNULIn: scope.tokens) : $0
    }
    return String(String.UnicodeScalarView(withoutNUL)).quoted(with: "\"")
  }
}
