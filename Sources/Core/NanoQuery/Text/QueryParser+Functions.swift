// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

extension QueryParser {
  /// A function, or a literal that a word introduces.
  mutating func named(_ word: String) throws(StoreError) -> Operand {
    if isAt(.leftParenthesis, ahead: 1) { return try function(word) }
    guard next + 1 < tokens.count, case .text(let text) = tokens[next + 1].kind,
      let kind = TypedLiteral(rawValue: word)
    else {
      throw error(
        "A word stands where a condition or a value should", expected: "a field in square brackets",
        hint: Self.nameHint)
    }
    next += 1
    guard let value = kind.value(text) else {
      throw error(
        "The text of a \(word.uppercased()) literal is malformed", expected: kind.expected)
    }
    next += 1
    return try node(.value(value))
  }

  /// Literals of types that SQL has no sign for: `DATE '2026-11-20'`.
  private enum TypedLiteral: String {
    case date, url, real

    func value(_ text: String) -> DocumentValue? {
      switch self {
      case .date: QueryDate.date(text).map { .date($0) }
      case .url: URL(string: text).map { .url($0) }
      case .real: text.lowercased() == "nan" ? .double(.nan) : nil
      }
    }

    var expected: String {
      switch self {
      case .date: "an ISO 8601 date such as DATE '2026-11-20T21:17:00Z' or DATE '2026-11-20'"
      case .url: "a URL such as URL 'https://example.org/'"
      case .real: "REAL 'nan'"
      }
    }
  }

  private mutating func function(_ name: String) throws(StoreError) -> Operand {
    let place = next
    if let match = TextMatch(functionName: name) {
      next += 1
      let operands = try arguments()
      try check(operands.count, in: 2...2, at: place)
      return try node(
        .text(operands[0].expression, match, operands[1].expression), over: operands[0],
        operands[1])
    }
    if name == "json_array" || name == "json_object" { return try jsonLiteral(name) }
    guard let function = Function(name: name) else { throw unknownFunction(name) }
    next += 1
    let operands = try arguments()
    try check(operands.count, in: function.arity, at: place)
    return Operand(
      node: .expression(.function(function, operands.map(\.expression))),
      height: try height(over: operands))
  }

  /// `like(pattern, text)`: SQLite's functional form, with the operands the other way round.
  mutating func patternFunction(_ keyword: QueryToken.Keyword) throws(StoreError) -> Operand {
    let place = next
    next += 1
    let operands = try arguments()
    try check(operands.count, in: 2...2, at: place)
    let match: TextMatch = keyword == .like ? .like : keyword == .glob ? .glob : .regexp
    return try node(
      .text(operands[1].expression, match, operands[0].expression), over: operands[0], operands[1])
  }

  /// What stands in parentheses, separated by commas.
  mutating func arguments() throws(StoreError) -> [Operand] {
    try expect(.leftParenthesis)
    if take(.rightParenthesis) { return [] }
    if isAt(.select) { throw subselect() }
    var operands: [Operand] = []
    repeat { operands.append(try operand()) } while take(.comma)
    guard take(.rightParenthesis) else { throw unexpected(", or )") }
    return operands
  }

  private func check(
    _ count: Int, in arity: ClosedRange<Int>, at place: Int
  ) throws(StoreError) {
    guard !arity.contains(count) else { return }
    let least = arity.lowerBound
    throw source.error(
      "A function has the wrong number of arguments", at: tokens[place].range,
      expected: arity.count == 1 ? "\(least)" : "\(least) to \(arity.upperBound)"
    ).adding(.actual, "\(count)")
  }

  /// Arrays and objects can be compared as a whole, but not computed.
  private mutating func jsonLiteral(_ name: String) throws(StoreError) -> Operand {
    let place = next
    next += 1
    var values: [DocumentValue] = []
    for operand in try arguments() {
      guard case .expression(.value(let value)) = operand.node else {
        throw source.error(
          "An array or object literal holds something that is no literal",
          at: tokens[place].range, expected: "literals only")
      }
      values.append(value)
    }
    if name == "json_array" { return try node(.value(.array(values))) }
    var object = DocumentObject()
    for index in stride(from: 0, to: values.count, by: 2) {
      guard let key = values[index].string, index + 1 < values.count else {
        throw source.error(
          "An object literal is malformed", at: tokens[place].range,
          expected: "a text and a value in turn")
      }
      object[key] = values[index + 1]
    }
    return try node(.value(.object(object)))
  }

  private func unknownFunction(_ name: String) -> StoreError {
    let known =
      Function.allCases.map(\.rawValue) + TextMatch.allCases.compactMap(\.functionName)
      + ["exists", "element", "cast", "json_array", "json_object"]
    let near = known.filter { Self.isNear(name, $0) }
    if ["count", "sum", "avg", "total", "group_concat"].contains(name) {
      return error(
        "Aggregate functions are not part of a condition", expected: "a function of one document",
        hint: "ask for aggregates of the query's results")
    }
    return error(
      "There is no function of this name",
      expected: "one of \(known.sorted().joined(separator: ", "))",
      hint: near.isEmpty ? nil : "did you mean \(near.joined(separator: " or "))?")
  }

  /// Whether two names differ by at most two letters, and by less than half of the shorter.
  private static func isNear(_ a: String, _ b: String) -> Bool {
    let (a, b) = (Array(a.utf8), Array(b.utf8))
    guard abs(a.count - b.count) <= 2 else { return false }
    var row = Array(0...b.count)
    for (i, byte) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, other) in b.enumerated() {
        let substituted = diagonal + (byte == other ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(substituted, row[j] + 1, row[j + 1] + 1)
      }
    }
    return row[b.count] <= 2 && row[b.count] * 2 < min(a.count, b.count)
  }
}
