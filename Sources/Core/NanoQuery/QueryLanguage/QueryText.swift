// SPDX-License-Identifier: MIT

package import NanoDocument

/// A query written as text, parsed once, with places for arguments.
///
/// It is SQLite's expression language over the fields of one collection, which stand in square
/// brackets. The text never becomes part of a statement: it is parsed into a ``Condition``, and
/// what it cannot say is an error. docs/QUERY-TEXT.md has the grammar.
///
/// ```swift
/// let text = try QueryText("[address.country] = ? AND [age] > 30 ORDER BY [name] LIMIT 10")
/// let query = try text.query(["US"])
/// ```
package struct QueryText: Sendable, Hashable {
  private let parts: Parts
  /// How many positional arguments ``query(_:named:)`` takes: the largest number of a `?`.
  package let positionCount: Int
  /// The names of `:name` parameters, each once, in the order of their bytes.
  package var names: [String] { exactNames.sorted().map(\.text) }
  let exactNames: Set<ExactName>

  struct Parts: Sendable, Hashable {
    var condition = Condition.constant(true)
    var orderings: [Ordering] = []
    var limit: QueryExpression?
    var offset: QueryExpression?
  }

  /// Parses the text. An empty one finds every document.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery``, or ``StoreError/Code/invalidPath`` for a path that
  ///   is none. `position` is the column counted in characters from one, `line` is there if the
  ///   text has several; `expected` says what was, and `text` (not logged) what stands there.
  package init(_ text: String) throws(StoreError) {
    var parser = QueryParser(text)
    parts = try parser.wholeText()
    var positionCount = 0
    var names: Set<ExactName> = []
    for case .parameter(let parameter) in parser.tokens.map(\.kind) {
      switch parameter {
      case .position(let number): positionCount = max(positionCount, number)
      case .name(let name): names.insert(ExactName(name))
      }
    }
    self.positionCount = positionCount
    exactNames = names
  }

  /// What documents must fulfil, with open parameters; true if the text has no condition.
  package var condition: Condition { parts.condition }
  /// What stands behind `ORDER BY`, with open parameters.
  package var orderings: [Ordering] { parts.orderings }
  /// An integer or a parameter; nil and a negative number mean no limit.
  package var limit: QueryExpression? { parts.limit }
  /// An integer or a parameter; a negative number counts as zero.
  package var offset: QueryExpression? { parts.offset }
}

extension QueryText {
  /// What stands behind `ORDER BY`, alone. Empty text is no order.
  ///
  /// ```swift
  /// try QueryText.orderings("[last] DESC, [first]")
  /// ```
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` as ``init(_:)`` does, and for a parameter, which
  ///   nothing could fill.
  package static func orderings(_ text: String) throws(StoreError) -> [Ordering] {
    var parser = QueryParser(text)
    let orderings = try parser.wholeOrderings()
    for token in parser.tokens {
      guard case .parameter = token.kind else { continue }
      throw parser.source.error(
        "Orderings on their own take no parameters", at: token.range, expected: "a field")
    }
    return orderings
  }
}
