// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery
import NanoSQL

/// What FTS5 is asked (https://sqlite.org/fts5.html#full_text_query_syntax).
///
/// Texts stand in double quotes, with their own doubled, so that nothing in them is an operator.
struct FullTextMatchExpression {
  let text: String

  init(_ node: FullTextPlan.Node, in scope: FullTextScope) {
    text = Self.expression(node, scope)
  }

  /// The name of a column. Those of fields could be names that FTS5 has a meaning for.
  static func column(_ number: Int) -> String { "f\(number)" }

  private static func expression(_ node: FullTextPlan.Node, _ scope: FullTextScope) -> String {
    switch node {
    case .phrase(let phrase):
      return filter(phrase.field, scope) + quoted(phrase.text, scope)
        + (phrase.isPrefix ? " *" : "")
    case .near(let phrases, let distance):
      let texts = phrases.map { quoted($0.text, scope) }.joined(separator: " ")
      return filter(phrases.first?.field, scope) + "NEAR(\(texts), \(distance))"
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

  /// What stands for a NUL, which would end the expression, and does end a text for SQLite's JSON functions:
  /// a character between words; among the parts of a text one that no query asks an index for (``FullTextPlan``).
  static func replacement(forNULIn tokens: Tokenizer) -> Unicode.Scalar {
    switch tokens {
    case .words: " "
    case .substrings: FullTextScope.border
    }
  }

  private static func quoted(_ text: String, _ scope: FullTextScope) -> String {
    var quoted = String.UnicodeScalarView("\"".unicodeScalars)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\0": quoted.append(replacement(forNULIn: scope.tokens))
      case "\"": quoted.append(contentsOf: "\"\"".unicodeScalars)
      default: quoted.append(scalar)
      }
    }
    quoted.append("\"")
    return String(quoted)
  }
}
