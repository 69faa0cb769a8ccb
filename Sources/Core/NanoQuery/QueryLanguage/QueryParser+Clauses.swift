// SPDX-License-Identifier: MIT

import NanoDocument

extension QueryParser {
  /// Parses `[WHERE] condition ORDER BY … LIMIT … OFFSET …`, each part of which is optional.
  mutating func wholeText() throws(StoreError) -> QueryText.Parts {
    var parts = QueryText.Parts()
    let hasWhere = take(.where)
    if hasWhere || !(isAtEnd || isAt(.order) || isAt(.limit)) {
      parts.condition = try operand().condition
    }
    var expected = "an operator, ORDER BY, LIMIT or the end"
    if take(.order) {
      try expect(.by)
      parts.orderings = try orderings()
      expected = "a comma, LIMIT or the end"
    }
    if take(.limit) {
      try page(&parts)
      expected = "the end"
    }
    guard isAtEnd else { throw unexpected(expected) }
    return parts
  }

  /// Parses a condition on an element of an array.
  mutating func wholeElementCondition() throws(StoreError) -> Condition {
    openElements = 1
    let condition = try operand().condition
    guard isAtEnd else { throw unexpected("an operator or the end") }
    return condition
  }

  /// Parses an `ORDER BY` list, which may be empty. The `ORDER BY` keywords are optional.
  mutating func wholeOrderings() throws(StoreError) -> [Ordering] {
    let hasOrder = take(.order)
    if hasOrder { try expect(.by) }
    let list = isAtEnd && !hasOrder ? [] : try orderings()
    guard isAtEnd else { throw unexpected("a comma or the end") }
    return list
  }

  var isAtEnd: Bool { if case .end = token.kind { true } else { false } }

  mutating func orderings() throws(StoreError) -> [Ordering] {
    var list: [Ordering] = []
    repeat {
      let expression = try operand().expression
      let descending = take(.desc)
      if !descending { _ = take(.asc) }
      try nullsPosition(descending: descending)
      list.append(Ordering(expression, descending: descending))
    } while take(.comma)
    return list
  }

  /// Null is the smallest value. A request for a different position is an error, because it would have
  /// no effect.
  private mutating func nullsPosition(descending: Bool) throws(StoreError) {
    guard take(.nulls) else { return }
    guard isAt(.first) || isAt(.last) else { throw unexpected("FIRST or LAST") }
    guard isAt(descending ? .last : .first) else {
      throw error(
        "The position of nulls in the order cannot be changed",
        expected: descending ? "LAST" : "FIRST",
        hint: "order by [name] IS NULL first")
    }
    next += 1
  }

  /// Parses `LIMIT n`, `LIMIT n OFFSET m`, or SQLite's alternative `LIMIT m, n`.
  private mutating func page(_ parts: inout QueryText.Parts) throws(StoreError) {
    parts.limit = try count()
    if take(.offset) {
      parts.offset = try count()
    } else if take(.comma) {
      parts.offset = parts.limit
      parts.limit = try count()
    }
  }

  private mutating func count() throws(StoreError) -> QueryExpression {
    let operand = try operand(above: .concatenation)
    switch operand.node {
    case .expression(.value(.int)), .expression(.parameter): return operand.expression
    default:
      next -= 1
      throw unexpected("an integer or a parameter")
    }
  }
}
