// SPDX-License-Identifier: MIT

import NanoDocument

/// Parses tokens into conditions and expressions, by precedence climbing over SQLite's operator table.
///
/// The extensions in the other files parse operators, primaries, functions and clauses.
struct QueryParser {
  let source: QuerySource
  let tokens: [QueryToken]
  var next = 0
  /// The number of open `ELEMENT(` and `LEAF(`. `[@]` is valid only inside them.
  var openElements = 0
  /// The number of nodes duplicated in the tree; see `choice`.
  var copiedNodes = 0
  /// The precedence that operators of the current operand have to exceed.
  var floor = Precedence.none
  private var openOperands = 0
  private var openParentheses = 0

  init(_ text: String) {
    source = QuerySource(text)
    tokens = QueryLexer.tokens(of: source)
  }

  /// The maximum height of a tree. The parser and every tree walk are recursive, on threads with a 512
  /// KiB stack on Apple platforms. To limit stack use even in unoptimized builds, functions here either
  /// decide or recurse: the frame of a deciding function is popped before the recursion.
  static let maximumHeight = 64

  /// A parsed operand: an expression or a condition, converted on demand.
  struct Operand {
    enum Node {
      case expression(QueryExpression)
      case condition(Condition)
    }
    var node: Node
    /// The height of the operand's tree. A chain such as `1 + 1 + 1` nests without parentheses.
    var height: Int

    var expression: QueryExpression {
      switch node {
      case .expression(let expression): expression
      case .condition(let condition): .truth(condition)
      }
    }

    var condition: Condition {
      switch node {
      case .condition(let condition): condition
      case .expression(.value(.bool(let value))): .constant(value)
      case .expression(let expression): .truth(expression)
      }
    }
  }

  /// Parses an operand up to an operator that binds no tighter than `floor`.
  mutating func operand(above floor: Precedence = .none) throws(StoreError) -> Operand {
    openOperands += 1
    defer { openOperands -= 1 }
    guard openOperands <= Self.maximumHeight else { throw tooDeep() }
    self.floor = floor
    return try operators(on: try prefix(try start()), above: floor)
  }

  /// Parses an operand in parentheses. Parentheses have their own limit: a tree of maximum height may
  /// need one pair per level in text form.
  mutating func parenthesized() throws(StoreError) -> Operand {
    openParentheses += 1
    defer { openParentheses -= 1 }
    guard openParentheses <= Self.maximumHeight else { throw tooDeep() }
    floor = .none
    let inner = try operators(on: try prefix(try start()), above: .none)
    try closeParenthesis()
    return inner
  }

  private mutating func operators(
    on first: Operand, above floor: Precedence
  ) throws(StoreError) -> Operand {
    var left = first
    while let infix = try infix(above: floor) { left = try combination(left, infix) }
    return left
  }

  func node(_ expression: QueryExpression, over parts: Operand...) throws(StoreError) -> Operand {
    Operand(node: .expression(expression), height: try height(over: parts))
  }

  func node(_ condition: Condition, over parts: Operand...) throws(StoreError) -> Operand {
    Operand(node: .condition(condition), height: try height(over: parts))
  }

  func height(over parts: [Operand]) throws(StoreError) -> Int {
    let height = 1 + (parts.map(\.height).max() ?? 0)
    guard height <= Self.maximumHeight else { throw tooDeep() }
    return height
  }

  private func tooDeep() -> StoreError {
    error(
      "The query text is nested too deeply",
      expected: "at most \(Self.maximumHeight) levels")
  }
}

// MARK: Tokens

extension QueryParser {
  var token: QueryToken { tokens[next] }

  func isAt(_ keyword: QueryToken.Keyword, ahead: Int = 0) -> Bool {
    guard next + ahead < tokens.count, case .keyword(keyword) = tokens[next + ahead].kind else {
      return false
    }
    return true
  }

  func isAt(_ symbol: QueryToken.Symbol, ahead: Int = 0) -> Bool {
    guard next + ahead < tokens.count, case .symbol(symbol) = tokens[next + ahead].kind else {
      return false
    }
    return true
  }

  mutating func take(_ keyword: QueryToken.Keyword) -> Bool {
    guard isAt(keyword) else { return false }
    next += 1
    return true
  }

  mutating func take(_ symbol: QueryToken.Symbol) -> Bool {
    guard isAt(symbol) else { return false }
    next += 1
    return true
  }

  mutating func expect(_ keyword: QueryToken.Keyword) throws(StoreError) {
    guard take(keyword) else { throw unexpected(keyword.rawValue.uppercased()) }
  }

  mutating func expect(_ symbol: QueryToken.Symbol) throws(StoreError) {
    guard take(symbol) else { throw unexpected(symbol.rawValue) }
  }

  /// Returns the error for the current token where `expected` is required.
  func unexpected(_ expected: String, hint: String? = nil) -> StoreError {
    let message = "The query text does not parse"
    switch token.kind {
    case .failure(let error): return error
    case .symbol(.semicolon):
      return error(
        "A query text is a condition, not a statement", expected: expected,
        hint: "remove the semicolon")
    case .keyword(.select): return subselect()
    case .word: return error(message, expected: expected, hint: Self.nameHint)
    case .symbol(.ampersand): return error(message, expected: expected, hint: "write AND")
    default: return error(message, expected: expected, hint: hint)
    }
  }

  func error(_ message: String, expected: String? = nil, hint: String? = nil) -> StoreError {
    if case .failure(let error) = token.kind { return error }
    return source.error(message, at: token.range, expected: expected, hint: hint)
  }

  func subselect() -> StoreError {
    error(
      "A subquery is not allowed here", expected: "an expression over one collection",
      hint: "write [field] IN (SELECT …), EXISTS (SELECT …) or (SELECT COUNT(*) …) > 2")
  }

  static let nameHint = "write [name] for a field, 'text' for a string"
}
