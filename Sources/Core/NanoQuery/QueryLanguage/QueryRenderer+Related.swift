// SPDX-License-Identifier: MIT

import NanoDocument

extension QueryRenderer {
  /// Writes a condition on related documents as a subquery.
  ///
  /// - Parameter not: `NOT ` for the negation of a membership, otherwise empty.
  mutating func write(_ related: RelatedCondition, _ not: String) {
    guard related.isMembership else { return writeCount(related) }
    write(related.local, above: .equality)
    text += " \(not)IN (SELECT "
    write(related.remote, above: .none)
    text += " FROM \(Self.name(related.collection))"
    if related.condition != .constant(true) {
      text += " WHERE "
      write(related.condition, above: .none)
    }
    text += ")"
  }

  private mutating func writeCount(_ related: RelatedCondition) {
    text += "(SELECT COUNT(*) FROM \(Self.name(related.collection)) WHERE "
    write(related.remote, above: .equality)
    text += " = PARENT"
    switch related.local {
    case .field, .attribute: write(related.local, above: .none)
    default:
      text += "("
      write(related.local, above: .none)
      text += ")"
    }
    if related.condition != .constant(true) {
      text += " AND "
      write(related.condition, above: .and)
    }
    text += ") \(related.comparison.rawValue) "
    write(related.bound, above: related.comparison.precedence)
  }

  /// The name of a collection: as a word if it is one, otherwise in brackets.
  private static func name(_ collection: String) -> String {
    let bytes = Array(collection.utf8)
    let isWord =
      bytes.first?.isWordStart == true && bytes.allSatisfy(\.isWordByte)
      && bytes.allSatisfy { $0 < 0x80 }
    let lowercased = String(decoding: bytes.map(\.asciiLowercased), as: UTF8.self)
    if isWord, QueryToken.Keyword(rawValue: lowercased) == nil, lowercased != "x" {
      return collection
    }
    return FieldPath(components: [collection]).queryText
  }
}
