// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

extension QueryParser {
  /// A literal, a field, or what begins with a sign, a word or a parenthesis.
  mutating func prefix() throws(StoreError) -> Operand {
    switch token.kind {
    case .keyword(let keyword): return try prefix(keyword)
    case .symbol(let symbol): return try prefix(symbol)
    case .word(let word): return try named(word)
    case .field(let name): return try leaf(try field(name))
    case .parameter(let parameter): return try leaf(.parameter(parameter))
    case .end, .failure: throw unexpected("a condition or a value")
    case .integer, .hexadecimal, .number, .text, .blob:
      guard let value = literal(token.kind) else { throw unexpected("a literal") }
      return try leaf(.value(value))
    }
  }

  private mutating func leaf(_ expression: Expression) throws(StoreError) -> Operand {
    next += 1
    return try node(expression)
  }

  private func literal(_ kind: QueryToken.Kind) -> DocumentValue? {
    switch kind {
    case .integer(let magnitude): Int64(exactly: magnitude).map { .int($0) } ?? .double(0x1p63)
    case .hexadecimal(let value): .int(value)
    case .number(let value): .double(value)
    case .text(let text): .string(text)
    case .blob(let data): .data(data)
    default: nil
    }
  }

  private mutating func prefix(_ keyword: QueryToken.Keyword) throws(StoreError) -> Operand {
    switch keyword {
    case .null: return try leaf(.value(.null))
    case .true: return try leaf(.value(.bool(true)))
    case .false: return try leaf(.value(.bool(false)))
    case .not:
      next += 1
      let negated = try operand(above: .not)
      return try node(.not(negated.condition), over: negated)
    case .case: return try choice()
    case .cast: return try cast()
    case .exists: return try exists()
    case .element: return try element()
    case .like, .glob, .regexp:
      guard isAt(.leftParenthesis, ahead: 1) else { throw unexpected("a condition or a value") }
      return try patternFunction(keyword)
    default: throw unexpected("a condition or a value", hint: Self.nameHint)
    }
  }

  private mutating func prefix(_ symbol: QueryToken.Symbol) throws(StoreError) -> Operand {
    switch symbol {
    case .leftParenthesis: return try parenthesised()
    case .plus:
      next += 1
      return try operand(above: .unary)
    case .minus:
      next += 1
      if let value = negativeLiteral() { return try leaf(.value(value)) }
      let negated = try operand(above: .unary)
      return try node(.negated(negated.expression), over: negated)
    case .tilde:
      next += 1
      // In two's complement ~x is -1 - x, and that never overflows.
      let inverted = try operand(above: .unary)
      return try node(
        .arithmetic(.value(.int(-1)), .subtract, inverted.expression), over: inverted)
    default: throw unexpected("a condition or a value")
    }
  }

  /// A number directly behind a minus is one literal, so that the smallest integer can be written.
  private func negativeLiteral() -> DocumentValue? {
    switch token.kind {
    case .integer(1 << 63): .int(.min)
    case .integer(let magnitude): .int(-Int64(magnitude))
    case .number(let value): .double(-value)
    default: nil
    }
  }

  private mutating func parenthesised() throws(StoreError) -> Operand {
    next += 1
    if isAt(.select) { throw subselect() }
    let inner = try operand()
    if isAt(.comma) {
      throw error(
        "Row values are not supported", expected: ")",
        hint: "compare the values one by one, with AND between")
    }
    try expect(.rightParenthesis)
    return inner
  }

  private func field(_ name: QueryToken.Name) throws(StoreError) -> Expression {
    switch name {
    case .attribute(let attribute): .attribute(attribute)
    case .path, .element: .field(try path(name))
    }
  }

  private func path(_ name: QueryToken.Name) throws(StoreError) -> FieldPath {
    switch name {
    case .path(let path): return path
    case .element(let path):
      guard openElements > 0 else {
        throw error(
          "The element is named outside of ELEMENT", expected: "a field of the document",
          hint: #"write ["@"] for a field of that name"#)
      }
      return path
    case .attribute:
      throw error(
        "An attribute of the document stands where a field is needed", expected: "a field")
    }
  }

  private mutating func takePath() throws(StoreError) -> FieldPath {
    guard case .field(let name) = token.kind else {
      throw unexpected("a field in square brackets")
    }
    let path = try path(name)
    next += 1
    return path
  }

  private mutating func exists() throws(StoreError) -> Operand {
    next += 1
    try expect(.leftParenthesis)
    let path = try takePath()
    try expect(.rightParenthesis)
    return try node(.exists(path))
  }

  private mutating func element() throws(StoreError) -> Operand {
    next += 1
    try expect(.leftParenthesis)
    let path = try takePath()
    try expect(.comma)
    openElements += 1
    defer { openElements -= 1 }
    let inner = try operand()
    try expect(.rightParenthesis)
    return try node(.element(path, inner.condition), over: inner)
  }
}
