// SPDX-License-Identifier: MIT

import NanoDocument

/// Conditions on related documents: `SELECT` in the positions where SQL allows a subquery on another collection.
extension QueryParser {
  /// Parses `(SELECT expression FROM collection [WHERE condition])` after `IN`.
  mutating func related(to local: Operand, _ isNegated: Bool) throws(StoreError) -> Operand {
    try expect(.leftParenthesis)
    try expect(.select)
    guard !isAt(.star) else {
      throw error(
        "A subquery selects no expression", expected: "a field or an attribute",
        hint: "select what the values are compared with, such as [__key__]")
    }
    let (remote, collection, condition) = try inner { (parser) throws(StoreError) in
      let remote = try parser.operand()
      let collection = try parser.takeCollection()
      return (remote, collection, try parser.takeCondition())
    }
    let related = Condition.related(
      RelatedCondition(
        local: local.expression, collection: collection, remote: remote.expression,
        condition: condition?.condition ?? .constant(true)))
    return Operand(
      node: .condition(isNegated ? .not(related) : related),
      height: try height(over: [local, remote] + (condition.map { [$0] } ?? [])))
  }

  /// Parses `SELECT * FROM collection WHERE expression = PARENT expression [AND condition])` after `EXISTS(`.
  mutating func relatedExists() throws(StoreError) -> Operand {
    try expect(.select)
    guard take(.star) || isAt(.integer) && takeAny() else { throw unexpected("*") }
    return try correlated(.greaterOrEqual) { (_) throws(StoreError) in .value(.int(1)) }
  }

  /// Parses `SELECT COUNT(*) FROM collection WHERE expression = PARENT expression [AND condition]) > 2` after `(`.
  mutating func relatedCount() throws(StoreError) -> Operand {
    let outer = floor
    try expect(.select)
    guard isAtWord("count") else {
      throw error(
        "A subquery is not allowed here", expected: "COUNT(*)",
        hint: "write [field] IN (SELECT …), EXISTS (SELECT …) or (SELECT COUNT(*) …) > 2")
    }
    next += 1
    try expect(.leftParenthesis)
    try expect(.star)
    try expect(.rightParenthesis)
    var comparison = Comparison.equal
    return try correlated(nil) { (parser) throws(StoreError) in
      guard case .symbol(let symbol) = parser.token.kind, let found = symbol.comparison,
        outer < found.precedence
      else {
        throw parser.error(
          "The number of related documents is not compared with a constant",
          expected: "a comparison such as > 2", hint: "write the subquery on the left")
      }
      comparison = found
      parser.next += 1
      return try parser.takeBound(above: found.precedence)
    } comparison: {
      comparison
    }
  }

  /// Parses the rest of a subquery that refers to the outer document, and then the bound of the count.
  private mutating func correlated(
    _ comparison: Comparison?,
    _ bound: (inout QueryParser) throws(StoreError) -> QueryExpression,
    comparison later: () -> Comparison = { .greaterOrEqual }
  ) throws(StoreError) -> Operand {
    let outerElements = openElements
    var local: Operand?
    let (remote, collection, condition) = try inner { (parser) throws(StoreError) in
      let collection = try parser.takeCollection()
      try parser.expect(.where)
      let isReversed = parser.isAtWord("parent")
      if isReversed { local = try parser.takeParent(outerElements) }
      if isReversed { try parser.expectEquals() }
      let remote = try parser.operand(above: .equality)
      if !isReversed {
        try parser.expectEquals()
        local = try parser.takeParent(outerElements)
      }
      var parts: [Operand] = []
      while parser.take(.and) { parts.append(try parser.operand(above: .and)) }
      guard !parser.isAt(.or) else {
        throw parser.error(
          "OR follows the comparison with PARENT", expected: "AND or )",
          hint: "write the rest of the condition in parentheses")
      }
      return (remote, collection, parts)
    }
    let number = try bound(&self)
    guard let local else { throw unexpected("PARENT") }
    let flat = condition.flatMap { part in
      if case .all(let inner) = part.condition, condition.count > 1 { return inner }
      return [part.condition]
    }
    let related = RelatedCondition(
      local: local.expression, collection: collection, remote: remote.expression,
      condition: flat.isEmpty ? .constant(true) : flat.count == 1 ? flat[0] : .all(flat),
      comparison: comparison ?? later(), bound: number)
    return Operand(
      node: .condition(.related(related)), height: try height(over: [local, remote] + condition))
  }

  /// Parses a part of the subquery, in which `[@]` does not denote an element of the outer document, and its
  /// closing parenthesis.
  private mutating func inner<Result>(
    _ parse: (inout QueryParser) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let outer = openElements
    openElements = 0
    defer { openElements = outer }
    let result = try parse(&self)
    if isAt(.order) || isAt(.limit) {
      throw error(
        "A subquery has no order and no limit", expected: ")",
        hint: "related documents are counted, and the order does not matter")
    }
    try closeParenthesis()
    return result
  }

  /// Parses `FROM collection`: a word, or any name in brackets.
  private mutating func takeCollection() throws(StoreError) -> String {
    try expect(.from)
    switch token.kind {
    case .word:
      defer { next += 1 }
      return source.text(token.range)
    case .field(.path(let path)) where path.components.count == 1:
      next += 1
      return path.components[0]
    default: throw unexpected("the name of a collection")
    }
  }

  private mutating func takeCondition() throws(StoreError) -> Operand? {
    take(.where) ? try operand() : nil
  }

  private mutating func expectEquals() throws(StoreError) {
    guard take(.equal) || take(.doubleEqual) else { throw unexpected("=") }
  }

  /// Parses `PARENT[field]` or `PARENT(expression)`, in which names are those of the outer document.
  private mutating func takeParent(_ outerElements: Int) throws(StoreError) -> Operand {
    guard isAtWord("parent") else {
      throw error(
        "A subquery does not begin with a comparison with the outer document",
        expected: "PARENT[field] or PARENT(expression)",
        hint: "write WHERE [field] = PARENT[__key__] AND …")
    }
    next += 1
    openElements = outerElements
    defer { openElements = 0 }
    guard isAt(.leftParenthesis) || isAtField else {
      throw unexpected("a field in square brackets, or an expression in parentheses")
    }
    return try operand(above: .unary)
  }

  private mutating func takeBound(
    above floor: Precedence
  ) throws(StoreError) -> QueryExpression {
    let start = next
    let operand = try operand(above: floor)
    switch operand.node {
    case .expression(.value), .expression(.parameter): return operand.expression
    default:
      next = start
      throw error(
        "The number of related documents is not compared with a constant",
        expected: "a number or a parameter")
    }
  }

  private func isAtWord(_ word: String) -> Bool {
    if case .word(word) = token.kind { true } else { false }
  }

  private var isAtField: Bool { if case .field = token.kind { true } else { false } }

  private enum Literal { case integer }
  private func isAt(_ literal: Literal) -> Bool {
    if case .integer = token.kind { true } else { false }
  }

  private mutating func takeAny() -> Bool {
    next += 1
    return true
  }
}
