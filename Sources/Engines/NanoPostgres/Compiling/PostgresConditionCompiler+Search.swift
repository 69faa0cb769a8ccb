// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension PostgresConditionCompiler {
  /// A search by text: the server finds at least what is searched for.
  func searched(_ search: FullTextSearch) -> Answer? {
    guard let scope = search.scope,
      let index = facts.collection.textIndexes.first(where: { $0.definition.scope == scope }),
      let query = search.query.simplified(scope.tokens),
      case let plan = FullTextPlan(query, scope.tokens), let node = plan.node,
      // No lexeme holds it.
      !node.phrases.contains(where: { $0.text.utf8.contains(0) })
    else { return nil }
    let expression = TokenQuery.text(node, scope.tokens)
    return Answer(
      sql: "\(index.column) @@ " + .value(.text(expression)) + "::tsquery",
      isExact: plan.isExact && TokenQuery.isExact(node, scope))
  }
}

/// What the column of tokens is asked.
///
/// Tokens are those of ``Tokenizer``, put into the column one by one; nothing of the server's own
/// dictionaries takes part. Positions are not kept: what stands in a row is checked on the documents.
enum TokenQuery {
  static func text(_ node: FullTextPlan.Node, _ tokens: Tokenizer) -> String {
    switch node {
    case .phrase(let phrase): return self.phrase(phrase, tokens)
    case .near(let phrases, _):
      return joined(phrases.map { self.phrase($0, tokens) }, "&")
    case .all(let parts): return joined(parts.map { text($0, tokens) }, "&")
    case .any(let parts): return joined(parts.map { text($0, tokens) }, "|")
    // What is excluded is found too widely, so that nothing may be left out for it.
    case .excluding(let part, _): return text(part, tokens)
    }
  }

  /// Whether nothing else is found: single words, wherever they stand.
  static func isExact(_ node: FullTextPlan.Node, _ scope: FullTextScope) -> Bool {
    switch node {
    case .phrase(let phrase):
      let words = scope.tokens.tokens(of: phrase.text)
      return words.count == 1 && scope.tokens == .words && !phrase.isPrefix
        && (phrase.field == nil || scope.fields.count == 1)
        && TextTokenList.kept(words[0].text) == words[0].text
    case .all(let parts), .any(let parts): return parts.allSatisfy { isExact($0, scope) }
    case .near, .excluding: return false
    }
  }

  private static func phrase(_ phrase: FullTextPhrase, _ tokens: Tokenizer) -> String {
    let words = tokens.tokens(of: phrase.text)
    return joined(
      words.enumerated().map { number, word in
        let isLast = number == words.count - 1
        let kept = TextTokenList.kept(word.text)
        // A token that is cut may go on.
        return quoted(kept)
          + (phrase.isPrefix && isLast || kept.utf8.count < word.text.utf8.count ? ":*" : "")
      }, "&")
  }

  private static func joined(_ parts: [String], _ sign: String) -> String {
    parts.count == 1 ? parts[0] : "(" + parts.joined(separator: " \(sign) ") + ")"
  }

  /// A lexeme of `tsquery`: in single quotes, with quotes and backslashes doubled.
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

/// The tokens of a document as the column has them.
enum TextTokenList {
  /// The server keeps 2,046 bytes of a lexeme.
  private static let longest = 2_000

  static func kept(_ token: String) -> String {
    guard token.utf8.count > longest else { return token }
    var scalars = String.UnicodeScalarView()
    var count = 0
    for scalar in token.unicodeScalars {
      count += UTF8.width(scalar)
      if count > longest { break }
      scalars.append(scalar)
    }
    return String(scalars)
  }

  /// The different tokens of a document, and how many there are with repetitions.
  static func tokens(
    _ scope: FullTextScope, _ texts: (FieldPath) -> [String]
  ) -> (distinct: [String], count: Int) {
    var seen: Set<[UInt8]> = []
    var distinct: [String] = []
    var count = 0
    for field in scope.fields {
      let text = texts(field).joined(separator: FullTextScope.separator)
      for token in scope.tokens.tokens(of: text) {
        count += 1
        // A NUL is in no lexeme; no query asks for one.
        guard !token.text.utf8.contains(0) else { continue }
        let kept = kept(token.text)
        if seen.insert(Array(kept.utf8)).inserted { distinct.append(kept) }
      }
    }
    return (distinct, count)
  }
}
