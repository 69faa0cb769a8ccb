// SPDX-License-Identifier: MIT

import NanoDocument

extension QueryParser {
  /// The operand and what the next operator makes of it; nil if that one binds too loosely.
  mutating func combination(
    with left: Operand, above floor: Precedence
  ) throws(StoreError) -> Operand? {
    switch token.kind {
    case .symbol(let symbol): try binary(left, symbol, above: floor)
    case .keyword(.or) where floor < .or: try chain(left, .or, .or)
    case .keyword(.and) where floor < .and: try chain(left, .and, .and)
    case .keyword(.collate), .keyword(.match), .keyword(.escape): throw unsupportedOperator()
    case .keyword(let keyword) where floor < .equality: try relation(left, keyword)
    default: nil
    }
  }

  private mutating func binary(
    _ left: Operand, _ symbol: QueryToken.Symbol, above floor: Precedence
  ) throws(StoreError) -> Operand? {
    if let comparison = symbol.comparison, floor < comparison.precedence {
      next += 1
      let right = try operand(above: comparison.precedence)
      return try node(
        .comparison(left.expression, comparison, right.expression), over: left, right)
    }
    if let arithmetic = symbol.arithmetic, floor < arithmetic.precedence {
      next += 1
      let right = try operand(above: arithmetic.precedence)
      return try node(
        .arithmetic(left.expression, arithmetic, right.expression), over: left, right)
    }
    if symbol == .arrow || symbol == .doubleArrow { throw unsupportedOperator() }
    return nil
  }

  /// Reads the whole of `a AND b AND c` in one go: built up in pairs, a long one would be copied
  /// at each step.
  private mutating func chain(
    _ first: Operand, _ keyword: QueryToken.Keyword, _ precedence: Precedence
  ) throws(StoreError) -> Operand {
    var operands = [first]
    while take(keyword) { operands.append(try operand(above: precedence)) }
    let isAll = keyword == .and
    let parts = operands.flatMap { operand in
      switch operand.condition {
      case .all(let parts) where isAll: parts
      case .any(let parts) where !isAll: parts
      case let part: [part]
      }
    }
    return Operand(
      node: .condition(isAll ? .all(parts) : .any(parts)), height: try height(over: operands))
  }

  /// The operators that are words. `NOT` before them is the exact complement.
  private mutating func relation(
    _ left: Operand, _ keyword: QueryToken.Keyword
  ) throws(StoreError) -> Operand? {
    switch keyword {
    case .is:
      next += 1
      return try identity(left)
    case .isnull:
      next += 1
      return try node(.isNull(left.expression), over: left)
    case .notnull:
      next += 1
      return try node(.not(.isNull(left.expression)), over: left)
    case .not:
      next += 1
      if take(.null) { return try node(.not(.isNull(left.expression)), over: left) }
      guard let positive = try match(left) else {
        throw unexpected("NULL, LIKE, GLOB, REGEXP, IN or BETWEEN")
      }
      return try node(.not(positive.condition), over: positive)
    default:
      return try match(left)
    }
  }

  /// What stands behind `IS`.
  private mutating func identity(_ left: Operand) throws(StoreError) -> Operand {
    var isNegated = take(.not)
    if take(.distinct) {
      try expect(.from)
      isNegated.toggle()
    }
    let right = try operand(above: .equality)
    let positive: Condition
    if case .expression(.value(.null)) = right.node {
      positive = .isNull(left.expression)
    } else {
      positive = .same(left.expression, right.expression)
    }
    return try node(isNegated ? .not(positive) : positive, over: left, right)
  }

  private mutating func match(_ left: Operand) throws(StoreError) -> Operand? {
    switch token.kind {
    case .keyword(.like): return try text(left, .like)
    case .keyword(.glob): return try text(left, .glob)
    case .keyword(.regexp): return try text(left, .regexp)
    case .keyword(.in): return try membership(left)
    case .keyword(.between): return try between(left)
    case .keyword(.match): throw unsupportedOperator()
    default: return nil
    }
  }

  private mutating func text(_ left: Operand, _ match: TextMatch) throws(StoreError) -> Operand {
    next += 1
    let right = try operand(above: .equality)
    return try node(.text(left.expression, match, right.expression), over: left, right)
  }

  private mutating func membership(_ left: Operand) throws(StoreError) -> Operand {
    next += 1
    if case .parameter(let parameter) = token.kind {
      next += 1
      return try node(.membership(left.expression, [.parameter(parameter)]), over: left)
    }
    guard isAt(.leftParenthesis) else { throw unexpected("a list in parentheses or a parameter") }
    let list = try arguments()
    return Operand(
      node: .condition(.membership(left.expression, list.map(\.expression))),
      height: try height(over: [left] + list))
  }

  private mutating func between(_ left: Operand) throws(StoreError) -> Operand {
    next += 1
    // Anything may stand before the AND, as in SQLite's grammar; it is the first AND that counts.
    let low = try operand(above: .and)
    try expect(.and)
    let high = try operand(above: .equality)
    return try node(
      .between(left.expression, low.expression, high.expression), over: left, low, high)
  }

  private func unsupportedOperator() -> StoreError {
    switch token.kind {
    case .keyword(.collate):
      error(
        "COLLATE is not supported", expected: "an expression without a collation",
        hint: "write lower([name]), or iequals and its kind for text in either case")
    case .keyword(.match):
      error(
        "MATCH is not supported", expected: "LIKE, GLOB or REGEXP",
        hint: "text indexes are searched with search()")
    case .keyword(.escape):
      error(
        "ESCAPE is not supported", expected: "a pattern without an escape character",
        hint: "write GLOB, or contains, begins_with and ends_with, which take text literally")
    default:
      error(
        "The JSON operators are not supported", expected: "a path in square brackets",
        hint: "write [a.b] for a field within a field")
    }
  }
}
