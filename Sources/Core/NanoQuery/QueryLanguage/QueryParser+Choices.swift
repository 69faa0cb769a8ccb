// SPDX-License-Identifier: MIT

import NanoDocument

extension QueryParser {
  private struct Case {
    var position: Int
    var when: Operand
    var then: Operand
  }

  private struct Base {
    var operand: Operand
    var nodes: Int
  }

  /// Parses `CASE [base] WHEN … THEN … [ELSE …] END`. With a base, each branch compares with it.
  mutating func choice() throws(StoreError) -> Operand {
    let base = isAt(.when) ? nil : try base()
    guard isAt(.when) else { throw unexpected("WHEN") }
    var cases: [Case] = []
    while take(.when) { cases.append(try oneCase()) }
    let otherwise = take(.else) ? try operand() : try node(.value(.null))
    guard take(.end) else { throw unexpected("WHEN, ELSE or END") }
    return try choice(base, cases, otherwise)
  }

  private mutating func base() throws(StoreError) -> Base {
    let (start, copied) = (next, copiedNodes)
    let operand = try operand()
    return Base(operand: operand, nodes: next - start + copiedNodes - copied)
  }

  private mutating func oneCase() throws(StoreError) -> Case {
    let position = next - 1
    let when = try operand()
    try expect(.then)
    return Case(position: position, when: when, then: try operand())
  }

  private mutating func choice(
    _ base: Base?, _ cases: [Case], _ otherwise: Operand
  ) throws(StoreError) -> Operand {
    var branches: [QueryExpression.Branch] = []
    var operands = [otherwise]
    for one in cases {
      let when = try condition(base, one)
      branches.append(QueryExpression.Branch(when: when.condition, then: one.then.expression))
      operands += [when, one.then]
    }
    return Operand(
      node: .expression(.choice(branches, otherwise: otherwise.expression)),
      height: try height(over: operands))
  }

  private mutating func condition(_ base: Base?, _ one: Case) throws(StoreError) -> Operand {
    guard let base else { return one.when }
    try count(copiesOf: base.nodes, at: one.position)
    return try node(
      .comparison(base.operand.expression, .equal, one.when.expression), over: base.operand,
      one.when)
  }

  /// The tree contains a copy of the base for each branch. With nested bases, the copies multiply, so
  /// that a short text could produce a tree of exponential size.
  private mutating func count(copiesOf nodes: Int, at position: Int) throws(StoreError) {
    copiedNodes += nodes
    guard copiedNodes <= Self.maximumCopiedNodes else {
      throw source.error(
        "The expressions between CASE and WHEN are too large", at: tokens[position].range,
        expected: "a smaller expression between CASE and WHEN")
    }
  }

  /// Arbitrary; a base is usually a single field.
  private static let maximumCopiedNodes = 10_000

  /// Parses `CAST(x AS type)`, with SQLite's type names.
  mutating func cast() throws(StoreError) -> Operand {
    try expect(.leftParenthesis)
    let operand = try operand()
    try expect(.as)
    let type = try castType()
    try expect(.rightParenthesis)
    return try node(.cast(operand.expression, type), over: operand)
  }

  private mutating func castType() throws(StoreError) -> CastType {
    let position = next
    var name = ""
    while case .word(let word) = token.kind {
      name += word
      next += 1
    }
    guard !name.isEmpty else { throw unexpected(Self.typeNames) }
    try skipTypeLength()
    guard let type = CastType(sqlName: name) else {
      throw source.error(
        "The type name is unknown", at: tokens[position].range, expected: Self.typeNames)
    }
    return type
  }

  /// Skips the length of a type, as in `VARCHAR(20)` or `DECIMAL(10, 2)`, which is ignored, as in
  /// SQLite.
  private mutating func skipTypeLength() throws(StoreError) {
    guard take(.leftParenthesis) else { return }
    repeat {
      guard case .integer = token.kind else { throw unexpected("an integer") }
      next += 1
    } while take(.comma)
    try expect(.rightParenthesis)
  }

  private static let typeNames = "INTEGER, REAL, DECIMAL, TEXT or BOOLEAN"
}

extension CastType {
  /// Matches parts of the name, like SQLite's affinity rules: `BIGINT` and `UNSIGNED INT` are integers.
  init?(sqlName name: String) {
    func has(_ parts: String...) -> Bool { parts.contains { name.contains($0) } }
    if has("int") {
      self = .integer
    } else if has("char", "clob", "text") {
      self = .text
    } else if has("real", "floa", "doub", "numeric") {
      self = .real
    } else if has("decimal") {
      self = .decimal
    } else if has("bool") {
      self = .boolean
    } else {
      return nil
    }
  }
}
