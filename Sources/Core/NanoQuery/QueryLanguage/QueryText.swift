// SPDX-License-Identifier: MIT

package import NanoDocument

/// A parsed query text with parameters.
///
/// The syntax is SQLite's expression language over the fields of one collection, written in square
/// brackets. The text never becomes part of an SQL statement: it is parsed into a ``Condition``, and
/// unsupported syntax is an error. docs/QUERY-TEXT.md has the grammar.
///
/// ```swift
/// let text = try QueryText("[address.country] = ? AND [age] > 30 ORDER BY [name] LIMIT 10")
/// let query = try text.query(["US"])
/// ```
package struct QueryText: Sendable, Hashable {
  private let parts: Parts
  /// The number of positional arguments that ``query(_:named:)`` requires: the largest position of a
  /// `?`.
  package let positionCount: Int
  /// The distinct names of `:name` parameters, sorted by UTF-8 bytes.
  package var names: [String] { exactNames.sorted().map(\.text) }
  let exactNames: Set<ExactName>

  struct Parts: Sendable, Hashable {
    var condition = Condition.constant(true)
    var orderings: [Ordering] = []
    var limit: QueryExpression?
    var offset: QueryExpression?
  }

  /// Parses query text. Empty text matches every document.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery``, or ``StoreError/Code/invalidPath`` for a malformed
  ///   path. `position` is the column in characters, starting at 1; `line` is present if the text has
  ///   several lines; `expected` describes what is valid there, and `text` (not logged) is the
  ///   offending text.
  package init(_ text: String) throws(StoreError) {
    var parser = QueryParser(text)
    parts = try parser.wholeText()
    (positionCount, exactNames) = parser.parameters
  }

  /// The condition, with unbound parameters; true if the text has none.
  package var condition: Condition { parts.condition }
  /// The `ORDER BY` terms, with unbound parameters.
  package var orderings: [Ordering] { parts.orderings }
  /// The limit: an integer or a parameter. `nil` or a negative number means no limit.
  package var limit: QueryExpression? { parts.limit }
  /// The offset: an integer or a parameter. A negative number counts as zero.
  package var offset: QueryExpression? { parts.offset }
}

extension QueryText {
  /// Parses a condition on an element of an array, in which `[@]` is the element itself, as in `ELEMENT`.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` or ``StoreError/Code/invalidPath``, as ``init(_:)`` does.
  static func elementCondition(_ text: String) throws(StoreError) -> Condition {
    var parser = QueryParser(text)
    return try parser.wholeElementCondition()
  }

  /// Parses the terms of an `ORDER BY` clause. Empty text means no ordering.
  ///
  /// ```swift
  /// try QueryText.orderings("[last] DESC, [first]")
  /// ```
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` or ``StoreError/Code/invalidPath``, as ``init(_:)``
  ///   does, and ``StoreError/Code/invalidQuery`` for a parameter, which could not be bound.
  package static func orderings(_ text: String) throws(StoreError) -> [Ordering] {
    var parser = QueryParser(text)
    let orderings = try parser.wholeOrderings()
    for token in parser.tokens {
      guard case .parameter = token.kind else { continue }
      throw parser.source.error(
        "Standalone orderings cannot have parameters", at: token.range, expected: "a field")
    }
    return orderings
  }
}
