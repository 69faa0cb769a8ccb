// SPDX-License-Identifier: MIT

import NanoDocument

extension QueryParser {
  /// An infix operator, including all of its keywords.
  enum Infix {
    case comparison(Comparison)
    case arithmetic(Arithmetic)
    case and, or
    case identity(negated: Bool)
    case isNull(negated: Bool)
    case match(Match, negated: Bool)
  }

  enum Match {
    case text(TextMatch)
    case membership, between
  }

  /// Consumes the next operator if it binds tighter than `floor`.
  mutating func infix(above floor: Precedence) throws(StoreError) -> Infix? {
    switch token.kind {
    case .symbol(let symbol): return try infix(symbol, above: floor)
    case .keyword(let keyword): return try infix(keyword, above: floor)
    default: return nil
    }
  }

  private mutating func infix(
    _ symbol: QueryToken.Symbol, above floor: Precedence
  ) throws(StoreError) -> Infix? {
    if symbol == .arrow || symbol == .doubleArrow { throw unsupportedOperator() }
    if let comparison = symbol.comparison, floor < comparison.precedence {
      next += 1
      return .comparison(comparison)
    }
    if let arithmetic = symbol.arithmetic, floor < arithmetic.precedence {
      next += 1
      return .arithmetic(arithmetic)
    }
    return nil
  }

  private mutating func infix(
    _ keyword: QueryToken.Keyword, above floor: Precedence
  ) throws(StoreError) -> Infix? {
    switch keyword {
    case .or where floor < .or:
      next += 1
      return .or
    case .and where floor < .and:
      next += 1
      return .and
    case .or, .and: return nil
    case .collate, .escape: throw unsupportedOperator()
    default: return floor < .equality ? try relation(keyword) : nil
    }
  }

  /// Parses the keyword operators, all of which have the precedence of `=`.
  private mutating func relation(_ keyword: QueryToken.Keyword) throws(StoreError) -> Infix? {
    switch keyword {
    case .is:
      next += 1
      return .identity(negated: try takeIdentityWords())
    case .isnull, .notnull:
      next += 1
      return .isNull(negated: keyword == .notnull)
    case .not:
      next += 1
      if take(.null) { return .isNull(negated: true) }
      guard let match = try takeMatch() else {
        throw unexpected("NULL, LIKE, GLOB, REGEXP, IN or BETWEEN")
      }
      return .match(match, negated: true)
    default: return try takeMatch().map { .match($0, negated: false) }
    }
  }

  /// `IS NOT` and `IS DISTINCT FROM` are equivalent; `IS NOT DISTINCT FROM` is the opposite.
  private mutating func takeIdentityWords() throws(StoreError) -> Bool {
    let isNegated = take(.not)
    guard take(.distinct) else { return isNegated }
    try expect(.from)
    return !isNegated
  }

  private mutating func takeMatch() throws(StoreError) -> Match? {
    let match: Match
    switch token.kind {
    case .keyword(.like): match = .text(.like)
    case .keyword(.glob): match = .text(.glob)
    case .keyword(.regexp): match = .text(.regexp)
    case .keyword(.in): match = .membership
    case .keyword(.between): match = .between
    case .keyword(.match): throw unsupportedOperator()
    default: return nil
    }
    next += 1
    return match
  }

  private func unsupportedOperator() -> StoreError {
    switch token.kind {
    case .keyword(.collate):
      error(
        "COLLATE is not supported", expected: "an expression without a collation",
        hint: "write lower([name]), or use iequals and the other case-insensitive functions")
    case .keyword(.match):
      error(
        "MATCH is not supported", expected: "LIKE, GLOB or REGEXP",
        hint: "use search() with a full-text index")
    case .keyword(.escape):
      error(
        "ESCAPE is not supported", expected: "a pattern without an escape character",
        hint: "use GLOB, or contains, begins_with and ends_with, which take text literally")
    default:
      error(
        "The JSON operators are not supported", expected: "a path in square brackets",
        hint: "write [a.b] for a nested field")
    }
  }
}

// MARK: Combining operands

extension QueryParser {
  mutating func combination(_ left: Operand, _ infix: Infix) throws(StoreError) -> Operand {
    switch infix {
    case .comparison(let comparison): try self.comparison(left, comparison)
    case .arithmetic(let arithmetic): try self.arithmetic(left, arithmetic)
    case .and: try chain(left, .and)
    case .or: try chain(left, .or)
    case .identity(let negated): try identity(left, negated)
    case .isNull(let negated): try complemented(.isNull(left.expression), negated, left)
    case .match(.text(let match), let negated): try text(left, match, negated)
    case .match(.membership, let negated): try membership(left, negated)
    case .match(.between, let negated): try between(left, negated)
    }
  }

  private func complemented(
    _ condition: Condition, _ isNegated: Bool, _ parts: Operand...
  ) throws(StoreError) -> Operand {
    Operand(
      node: .condition(isNegated ? .not(condition) : condition), height: try height(over: parts))
  }

  private mutating func comparison(
    _ left: Operand, _ comparison: Comparison
  ) throws(StoreError) -> Operand {
    let right = try operand(above: comparison.precedence)
    return try node(.comparison(left.expression, comparison, right.expression), over: left, right)
  }

  private mutating func arithmetic(
    _ left: Operand, _ arithmetic: Arithmetic
  ) throws(StoreError) -> Operand {
    let right = try operand(above: arithmetic.precedence)
    return try node(.arithmetic(left.expression, arithmetic, right.expression), over: left, right)
  }

  /// Parses the rest of `a AND b AND c` at once. Built up in pairs, a long chain would be copied at
  /// each step.
  private mutating func chain(
    _ first: Operand, _ keyword: QueryToken.Keyword
  ) throws(StoreError) -> Operand {
    var operands = [first]
    repeat {
      operands.append(try operand(above: keyword == .and ? .and : .or))
    } while take(keyword)
    return try flattened(operands, isAll: keyword == .and)
  }

  private func flattened(_ operands: [Operand], isAll: Bool) throws(StoreError) -> Operand {
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

  private mutating func identity(
    _ left: Operand, _ isNegated: Bool
  ) throws(StoreError) -> Operand {
    let right = try operand(above: .equality)
    if case .expression(.value(.null)) = right.node {
      return try complemented(.isNull(left.expression), isNegated, left)
    }
    return try complemented(.same(left.expression, right.expression), isNegated, left, right)
  }

  private mutating func text(
    _ left: Operand, _ match: TextMatch, _ isNegated: Bool
  ) throws(StoreError) -> Operand {
    let right = try operand(above: .equality)
    return try complemented(
      .text(left.expression, match, right.expression), isNegated, left, right)
  }

  private mutating func membership(
    _ left: Operand, _ isNegated: Bool
  ) throws(StoreError) -> Operand {
    if isAt(.leftParenthesis), isAt(.select, ahead: 1) { return try related(to: left, isNegated) }
    let list = try takeList()
    return Operand(
      node: .condition(membership(left, list, isNegated)),
      height: try height(over: [left] + list))
  }

  private func membership(_ left: Operand, _ list: [Operand], _ isNegated: Bool) -> Condition {
    let condition = Condition.membership(left.expression, list.map(\.expression))
    return isNegated ? .not(condition) : condition
  }

  private mutating func takeList() throws(StoreError) -> [Operand] {
    if let parameter = try takeParameter() { return [parameter] }
    guard isAt(.leftParenthesis) else { throw unexpected("a list in parentheses or a parameter") }
    return try arguments()
  }

  private mutating func takeParameter() throws(StoreError) -> Operand? {
    guard case .parameter(let parameter) = token.kind else { return nil }
    next += 1
    return try node(.parameter(parameter))
  }

  private mutating func between(_ left: Operand, _ isNegated: Bool) throws(StoreError) -> Operand {
    // Any expression without AND can precede the AND, as in SQLite's grammar; the first AND ends the
    // lower bound.
    let low = try operand(above: .and)
    try expect(.and)
    let high = try operand(above: .equality)
    return try complemented(
      .between(left.expression, low.expression, high.expression), isNegated, left, low, high)
  }
}
