// SPDX-License-Identifier: MIT

import NanoDocument

extension QueryParser {
  /// The start of an operand. Its first token has been consumed.
  enum Start {
    case leaf(QueryExpression)
    case parenthesis, not, plus, minus, tilde, choice, cast, exists, element, anyLeaf, relatedCount
    case call(Callee)
  }

  mutating func start() throws(StoreError) -> Start {
    switch token.kind {
    case .keyword(let keyword): return try start(keyword)
    case .symbol(let symbol): return try start(symbol)
    case .word(let word): return try start(word)
    case .field(.attribute(let attribute)): return leaf(.attribute(attribute))
    case .field: return .leaf(.field(try takePath()))
    case .parameter(let parameter): return leaf(.parameter(parameter))
    case .integer(let magnitude):
      return leaf(.value(Int64(exactly: magnitude).map { .int($0) } ?? .double(0x1p63)))
    case .hexadecimal(let value): return leaf(.value(.int(value)))
    case .number(let value): return leaf(.value(.double(value)))
    case .text(let text): return leaf(.value(.string(text)))
    case .blob(let data): return leaf(.value(.data(data)))
    case .end, .failure: throw unexpected(Self.operandName)
    }
  }

  private mutating func leaf(_ expression: QueryExpression) -> Start { taken(.leaf(expression)) }

  private mutating func taken(_ start: Start) -> Start {
    next += 1
    return start
  }

  private mutating func start(_ keyword: QueryToken.Keyword) throws(StoreError) -> Start {
    switch keyword {
    case .null: return leaf(.value(.null))
    case .true: return leaf(.value(.bool(true)))
    case .false: return leaf(.value(.bool(false)))
    case .not: return taken(.not)
    case .case: return taken(.choice)
    case .cast: return taken(.cast)
    case .exists: return taken(.exists)
    case .element: return taken(.element)
    case .leaf: return taken(.anyLeaf)
    case .like where isAt(.leftParenthesis, ahead: 1): return taken(.call(.pattern(.like)))
    case .glob where isAt(.leftParenthesis, ahead: 1): return taken(.call(.pattern(.glob)))
    case .regexp where isAt(.leftParenthesis, ahead: 1): return taken(.call(.pattern(.regexp)))
    default: throw unexpected(Self.operandName, hint: Self.nameHint)
    }
  }

  private mutating func start(_ symbol: QueryToken.Symbol) throws(StoreError) -> Start {
    switch symbol {
    case .leftParenthesis: return taken(isAt(.select, ahead: 1) ? .relatedCount : .parenthesis)
    case .plus: return taken(.plus)
    case .tilde: return taken(.tilde)
    case .minus:
      next += 1
      if let value = negativeLiteral() { return leaf(.value(value)) }
      return .minus
    default: throw unexpected(Self.operandName)
    }
  }

  /// A number directly after a minus sign is a single literal, so that the smallest integer can be
  /// written.
  private func negativeLiteral() -> DocumentValue? {
    switch token.kind {
    case .integer(1 << 63): .int(.min)
    case .integer(let magnitude): .int(-Int64(magnitude))
    case .number(let value): .double(-value)
    default: nil
    }
  }

  private static let operandName = "a condition or a value"
}

extension QueryParser {
  /// Parses the rest of an operand, up to the first operator after it.
  mutating func prefix(_ start: Start) throws(StoreError) -> Operand {
    switch start {
    case .leaf(let expression): try node(expression)
    case .parenthesis: try parenthesized()
    case .not: try negation()
    case .plus: try operand(above: .unary)
    case .minus: try negated()
    case .tilde: try inverted()
    case .choice: try choice()
    case .cast: try cast()
    case .exists: try exists()
    case .element: try element()
    case .anyLeaf: try leaf()
    case .relatedCount: try relatedCount()
    case .call(let callee): try call(callee)
    }
  }

  mutating func closeParenthesis() throws(StoreError) {
    if isAt(.comma) {
      throw error(
        "Row values are not supported", expected: ")",
        hint: "compare the values one by one, with AND between")
    }
    try expect(.rightParenthesis)
  }

  private mutating func negation() throws(StoreError) -> Operand {
    let part = try operand(above: .not)
    return try node(.not(part.condition), over: part)
  }

  private mutating func negated() throws(StoreError) -> Operand {
    let part = try operand(above: .unary)
    return try node(.negated(part.expression), over: part)
  }

  /// In two's complement, `~x` equals `-1 - x`, which never overflows.
  private mutating func inverted() throws(StoreError) -> Operand {
    let part = try operand(above: .unary)
    return try node(.arithmetic(.value(.int(-1)), .subtract, part.expression), over: part)
  }

  private mutating func exists() throws(StoreError) -> Operand {
    try expect(.leftParenthesis)
    if isAt(.select) { return try relatedExists() }
    let path = try takePath()
    try expect(.rightParenthesis)
    return try node(.exists(path))
  }

  private mutating func element() throws(StoreError) -> Operand {
    try expect(.leftParenthesis)
    let path = try takePath()
    try expect(.comma)
    openElements += 1
    defer { openElements -= 1 }
    let inner = try operand()
    try expect(.rightParenthesis)
    return try node(.element(path, inner.condition), over: inner)
  }

  /// Parses `LEAF(condition)`, in which `[@]` is the leaf and `[__leafpath__]` its path.
  private mutating func leaf() throws(StoreError) -> Operand {
    try expect(.leftParenthesis)
    openElements += 1
    defer { openElements -= 1 }
    let inner = try operand()
    try expect(.rightParenthesis)
    return try node(.leaf(inner.condition), over: inner)
  }

  mutating func takePath() throws(StoreError) -> FieldPath {
    switch token.kind {
    case .field(.path(let path)):
      next += 1
      return path
    case .field(.element(let path)):
      guard openElements > 0 else {
        throw error(
          "The element is referenced outside ELEMENT", expected: "a field of the document",
          hint: #"write ["@"] for a field of that name"#)
      }
      next += 1
      return path
    case .field(.attribute):
      throw error(
        "A metadata attribute is used where a field is required", expected: "a field")
    default: throw unexpected("a field in square brackets")
    }
  }
}
