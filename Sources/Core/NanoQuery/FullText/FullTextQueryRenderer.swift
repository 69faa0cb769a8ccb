// SPDX-License-Identifier: MIT

/// Formats a search in user syntax, for displaying a query.
enum FullTextQueryRenderer {
  /// Returns text such as `'gin tonic'`, preceded by the index name if there is one.
  static func text(_ search: FullTextSearch) -> String {
    let query = text(search.query).quoted(with: "'")
    return search.index.map { $0.quoted(with: "'") + ", " + query } ?? query
  }

  private static func text(_ query: FullTextQuery) -> String {
    switch query {
    case .phrase(let text): return word(text)
    case .prefix(let text): return word(text) + "*"
    case .near(let texts, let distance):
      return "NEAR(" + texts.map(word).joined(separator: " ") + ", \(distance))"
    case .all(let parts): return parts.map(operand).joined(separator: " ")
    case .any(let parts): return parts.map(operand).joined(separator: " OR ")
    case .excluding(let part, .any(let others)):
      return ([operand(part)] + others.map { "-" + operand($0) }).joined(separator: " ")
    case .excluding(let part, let other): return operand(part) + " -" + operand(other)
    case .field(let path, let part): return path.description + ":" + operand(part)
    case .part(let text, let position): return "\(position.rawValue)(\(word(text)))"
    }
  }

  private static func operand(_ query: FullTextQuery) -> String {
    switch query {
    case .all, .excluding: "(" + text(query) + ")"
    default: text(query)
    }
  }

  private static func word(_ text: String) -> String {
    let isPlain = !text.isEmpty && !text.unicodeScalars.contains { $0.properties.isWhitespace }
    return isPlain ? text : "\"" + text + "\""
  }
}
