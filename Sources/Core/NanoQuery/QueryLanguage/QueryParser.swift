// SPDX-License-Identifier: MIT

import NanoDocument

/// Reads tokens into conditions and expressions, by precedence climbing over SQLite's table.
///
/// The parts are in the files beside this one: operators, primaries, functions, clauses.
struct QueryParser {
  let source: QuerySource
  let tokens: [QueryToken]
  var next = 0
  /// How many `ELEMENT(` are open; `[@]` means something inside them only.
  var openElements = 0
  /// Nodes that stand in the tree more often than in the text, see `choice`.
  var copiedNodes = 0
  private var openOperands = 0
  private var openParentheses = 0

  init(_ text: String) {
    source = QuerySource(text)
    tokens = QueryLexer.tokens(of: source)
  }

  /// How high a tree may be. This parser and everything that walks a tree recurse, on threads that
  /// have 512 KiB of stack on Apple platforms. To need little of it in builds without optimiser
  /// too, functions here either decide or recurse: the frame of one that decides is gone by then.
  static let maximumHeight = 64

  /// What an operand turned out to be; it becomes the other when the place asks for it.
  struct Operand {
    enum Node {
      case expression(QueryExpression)
      case condition(Condition)
    }
    var node: Node
    /// Levels of tree in it. A chain such as `1 + 1 + 1` nests without brackets.
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

  /// Everything up to an operator that binds no tighter than the given one.
  mutating func operand(above floor: Precedence = .none) throws(StoreError) -> Operand {
    openOperands += 1
    defer { openOperands -= 1 }
    guard openOperands <= Self.maximumHeight else { throw tooDeep() }
    return try operators(on: try prefix(try start()), above: floor)
  }

  /// The same in parentheses. They are counted on their own: a tree of the full height may need
  /// one pair at each level when it is written out.
  mutating func parenthesised() throws(StoreError) -> Operand {
    openParentheses += 1
    defer { openParentheses -= 1 }
    guard openParentheses <= Self.maximumHeight else { throw tooDeep() }
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

  /// The error for the current token where something else should stand.
  func unexpected(_ expected: String, hint: String? = nil) -> StoreError {
    let message = "The query text does not parse"
    switch token.kind {
    case .failure(let error): return error
    case .symbol(.semicolon):
      return error(
        "A query text is one condition, no statement", expected: expected,
        hint: "leave out the semicolon")
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
      "Sub-selects are not supported", expected: "an expression over one collection",
      hint: "run the inner query first and hand its result over as an argument of IN")
  }

  static let nameHint = "write [name] for a field, 'text' for a text"
}
