// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension PostgresConditionCompiler {
  /// Translates a full-text search. The SQL selects at least all matches.
  func searched(_ search: FullTextSearch) -> Translation? {
    guard let scope = search.scope,
      let index = metadata.collection.fullTextIndexes.first(where: { $0.definition.scope == scope }
      ),
      let query = search.query.simplified(scope.tokens),
      case let plan = FullTextPlan(query, scope.tokens), let node = plan.node,
      // A lexeme cannot contain NUL.
      !node.phrases.contains(where: { $0.text.utf8.contains(0) })
    else { return nil }
    let expression = TokenQuery.text(node, scope.tokens)
    guard expression.utf8.count <= TokenQuery.maximumSize else { return nil }
    return Translation(
      sql: "\(index.column) @@ " + .value(.text(expression)) + "::tsquery",
      isExact: plan.isExact && TokenQuery.isExact(node, scope))
  }
}

/// A `tsquery` for the column of tokens.
///
/// Tokens are those of ``Tokenizer``, stored in the column one by one; the server's dictionaries are not used.
/// Positions are not stored, so the order and distance of tokens are checked on the documents.
enum TokenQuery {
  static func text(_ node: FullTextPlan.Node, _ tokens: Tokenizer) -> String {
    switch node {
    case .phrase(let phrase): return self.phrase(phrase, tokens)
    case .near(let phrases, _):
      return joined(phrases.map { self.phrase($0, tokens) }, "&")
    case .all(let parts): return joined(parts.map { text($0, tokens) }, "&")
    case .any(let parts): return joined(parts.map { text($0, tokens) }, "|")
    // The excluded part selects a superset, so excluding it would lose matches.
    case .excluding(let part, _): return text(part, tokens)
    }
  }

  /// Returns whether the query selects only matches, as for single words at any position.
  static func isExact(_ node: FullTextPlan.Node, _ scope: FullTextScope) -> Bool {
    switch node {
    case .phrase(let phrase):
      let words = scope.tokens.tokens(of: phrase.text)
      return words.count == 1 && scope.tokens == .words && !phrase.isPrefix
        && (phrase.field == nil || scope.fields.count == 1)
        && TokenVector.isWhole(words[0].text)
    case .all(let parts), .any(let parts): return parts.allSatisfy { isExact($0, scope) }
    case .near, .excluding: return false
    }
  }

  /// The maximum length in bytes. The server's limit is 2^20 bytes for all lexemes.
  static let maximumSize = 1_000_000

  /// The maximum number of tokens of a phrase. Arbitrary: more narrow the search hardly further, and the server accepts
  /// about 16,000 in a sequence. The rest is checked on the documents, as the order is.
  private static let maximumTokens = 100

  private static func phrase(_ phrase: FullTextPhrase, _ tokens: Tokenizer) -> String {
    let words = tokens.tokens(of: phrase.text)
    var parts: [String] = []
    var seen: Set<ExactName> = []
    for (number, word) in words.enumerated() where parts.count < maximumTokens {
      let isLast = number == words.count - 1
      let stored = TokenVector.truncated(word.text)
      // A truncated token is a prefix.
      let isPrefix =
        (phrase.isPrefix && isLast) || stored.utf8.count < word.text.utf8.count
      let part = quoted(stored) + (isPrefix ? ":*" : "")
      if seen.insert(ExactName(part)).inserted { parts.append(part) }
    }
    return joined(parts, "&")
  }

  private static func joined(_ parts: [String], _ sign: String) -> String {
    parts.count == 1 ? parts[0] : "(" + parts.joined(separator: " \(sign) ") + ")"
  }

  /// Returns a lexeme of a `tsquery`: in single quotes, with quotes and backslashes doubled.
  private static func quoted(_ text: String) -> String {
    var quoted = "'".unicodeScalars
    for scalar in text.unicodeScalars {
      if scalar == "'" || scalar == "\\" { quoted.append(scalar) }
      quoted.append(scalar)
    }
    quoted.append("'")
    return String(quoted)
  }
}
