// SPDX-License-Identifier: MIT

import NanoDocument

extension QueryParser {
  /// `CASE [base] WHEN … THEN … [ELSE …] END`. With a base, each branch compares with it.
  mutating func choice() throws(StoreError) -> Operand {
    next += 1
    let base = isAt(.when) ? nil : try countedBase()
    var operands: [Operand] = []
    var branches: [Expression.Branch] = []
    while isAt(.when) {
      let place = next
      next += 1
      var when = try operand()
      if let base {
        try count(copiesOf: base.nodes, at: place)
        when = try node(
          .comparison(base.operand.expression, .equal, when.expression), over: base.operand, when)
      }
      try expect(.then)
      let then = try operand()
      operands += [when, then]
      branches.append(Expression.Branch(when: when.condition, then: then.expression))
    }
    guard !branches.isEmpty else { throw unexpected("WHEN") }
    var otherwise = Expression.value(.null)
    if take(.else) {
      let operand = try operand()
      operands.append(operand)
      otherwise = operand.expression
    }
    guard take(.end) else { throw unexpected("WHEN, ELSE or END") }
    return Operand(
      node: .expression(.choice(branches, otherwise: otherwise)),
      height: try height(over: operands))
  }

  private mutating func countedBase() throws(StoreError) -> (operand: Operand, nodes: Int) {
    let start = (next, copiedNodes)
    let operand = try operand()
    return (operand, next - start.0 + copiedNodes - start.1)
  }

  /// The base stands in the tree once per branch. Bases within bases would double it each time, a
  /// short text could make a tree that is never walked to its end.
  private mutating func count(copiesOf nodes: Int, at place: Int) throws(StoreError) {
    copiedNodes += nodes
    guard copiedNodes <= Self.maximumCopiedNodes else {
      throw source.error(
        "The bases of CASE are too large", at: tokens[place].range,
        expected: "a smaller expression between CASE and WHEN")
    }
  }

  /// Arbitrary; a base is usually one field.
  private static let maximumCopiedNodes = 10_000

  /// `CAST(x AS type)`, with SQLite's names of types.
  mutating func cast() throws(StoreError) -> Operand {
    next += 1
    try expect(.leftParenthesis)
    let operand = try operand()
    try expect(.as)
    let type = try castType()
    try expect(.rightParenthesis)
    return try node(.cast(operand.expression, type), over: operand)
  }

  private mutating func castType() throws(StoreError) -> CastType {
    let place = next
    var name = ""
    while case .word(let word) = token.kind {
      name += word
      next += 1
    }
    guard !name.isEmpty else { throw unexpected(Self.typeNames) }
    try skipTypeLength()
    guard let type = CastType(sqlName: name) else {
      throw source.error(
        "There is no type of this name", at: tokens[place].range, expected: Self.typeNames)
    }
    return type
  }

  /// `VARCHAR(20)`, `DECIMAL(10, 2)`: read and ignored, as in SQLite.
  private mutating func skipTypeLength() throws(StoreError) {
    guard take(.leftParenthesis) else { return }
    repeat {
      guard case .integer = token.kind else { throw unexpected("an integer") }
      next += 1
    } while take(.comma)
    try expect(.rightParenthesis)
  }

  private static let typeNames = "INTEGER, REAL, TEXT or BOOLEAN"
}

extension CastType {
  /// By parts of names, as SQLite finds the affinity: `BIGINT` and `UNSIGNED INT` are integers.
  init?(sqlName name: String) {
    func has(_ parts: String...) -> Bool { parts.contains { name.contains($0) } }
    if has("int") {
      self = .integer
    } else if has("char", "clob", "text") {
      self = .text
    } else if has("real", "floa", "doub", "numeric", "decimal") {
      self = .real
    } else if has("bool") {
      self = .boolean
    } else {
      return nil
    }
  }
}
