// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

extension QueryParser {
  /// The name before the parentheses of a call.
  enum Callee {
    case function(Function)
    case text(TextMatch)
    /// `like(pattern, text)`: SQLite's functional form, with the operands in reverse order.
    case pattern(TextMatch)
    case jsonArray, jsonObject
    /// `array_filter(array, condition)`, `array_map(array, expression)`
    case arrayFilter, arrayMap
  }

  /// Parses a function name, or a typed literal.
  mutating func start(_ word: String) throws(StoreError) -> Start {
    if isAt(.leftParenthesis, ahead: 1) {
      let callee = try callee(word)
      next += 1
      return .call(callee)
    }
    guard next + 1 < tokens.count, case .text(let text) = tokens[next + 1].kind,
      let kind = TypedLiteral(rawValue: word)
    else {
      throw error(
        "A word is not a condition or a value",
        expected: "a field in square brackets", hint: Self.nameHint)
    }
    next += 1
    guard let value = kind.value(text) else {
      throw error(kind.message(text), expected: kind.expected)
    }
    next += 1
    return .leaf(.value(value))
  }

  private func callee(_ name: String) throws(StoreError) -> Callee {
    if let match = TextMatch(functionName: name) { return .text(match) }
    if let function = Function(name: name) { return .function(function) }
    switch name {
    case "json_array": return .jsonArray
    case "json_object": return .jsonObject
    case "array_filter": return .arrayFilter
    case "array_map": return .arrayMap
    default: throw unknownFunction(name)
    }
  }

  mutating func call(_ callee: Callee) throws(StoreError) -> Operand {
    let position = next - 1
    switch callee {
    case .arrayFilter, .arrayMap: return try elements(callee)
    default: break
    }
    let operands = try arguments()
    return try call(callee, operands, at: tokens[position].range)
  }

  /// Parses a parenthesized, comma-separated list.
  mutating func arguments() throws(StoreError) -> [Operand] {
    try expect(.leftParenthesis)
    if take(.rightParenthesis) { return [] }
    var operands: [Operand] = []
    repeat { operands.append(try operand()) } while take(.comma)
    guard take(.rightParenthesis) else { throw unexpected(", or )") }
    return operands
  }

  private func call(
    _ callee: Callee, _ operands: [Operand], at position: Range<Int>
  ) throws(StoreError) -> Operand {
    switch callee {
    case .function(let function):
      try check(operands, function.arity, at: position)
      if let failure = function.failure(of: operands.map(\.expression)) {
        throw source.error(
          failure.message, at: position, expected: failure.expected, hint: failure.hint)
      }
      return Operand(
        node: .expression(.function(function, operands.map(\.expression))),
        height: try height(over: operands))
    case .text(let match):
      try check(operands, 2...2, at: position)
      return try text(operands[0], match, operands[1])
    case .pattern(let match):
      try check(operands, 2...2, at: position)
      return try text(operands[1], match, operands[0])
    case .jsonArray: return try node(.value(.array(try values(operands, at: position))))
    case .jsonObject: return try node(.value(.object(try object(operands, at: position))))
    case .arrayFilter, .arrayMap: throw unexpected("an array")
    }
  }

  /// Parses the rest of `array_map(array, expression)`, whose second argument starts at an element.
  private mutating func elements(_ callee: Callee) throws(StoreError) -> Operand {
    try expect(.leftParenthesis)
    let array = try operand()
    try expect(.comma)
    openElements += 1
    defer { openElements -= 1 }
    let inner = try operand()
    try expect(.rightParenthesis)
    if case .arrayFilter = callee {
      return try node(
        .elements(array.expression, where: inner.condition, select: .field(.element)),
        over: array, inner)
    }
    // A map of a filter is one pass over the array.
    if case .elements(let filtered, let condition, .field(.element)) = array.expression {
      return try node(
        .elements(filtered, where: condition, select: inner.expression), over: array, inner)
    }
    return try node(
      .elements(array.expression, where: .constant(true), select: inner.expression),
      over: array, inner)
  }

  private func text(
    _ text: Operand, _ match: TextMatch, _ pattern: Operand
  ) throws(StoreError) -> Operand {
    try node(.text(text.expression, match, pattern.expression), over: text, pattern)
  }

  private func check(
    _ operands: [Operand], _ arity: ClosedRange<Int>, at position: Range<Int>
  ) throws(StoreError) {
    guard !arity.contains(operands.count) else { return }
    throw source.error(
      "A function has the wrong number of arguments", at: position, expected: arity.argumentCount
    ).adding(.actual, "\(operands.count)")
  }
}

// MARK: Literals

extension QueryParser {
  /// Literals of types without SQL syntax: `DATE '2026-11-20'`.
  private enum TypedLiteral: String {
    case date, url, real, decimal

    func value(_ text: String) -> DocumentValue? {
      switch self {
      case .date: QueryDate.date(text).map { .date($0) }
      case .url: URL(string: text).map { .url($0) }
      case .real: text.lowercased() == "nan" ? .double(.nan) : nil
      case .decimal: DecimalValue(text).map { .decimal($0) }
      }
    }

    func message(_ text: String) -> String {
      switch self {
      case .date where QueryDate.isOutsideYears(text): "A date is outside the years 0 to 9999"
      case .date: "A date is malformed"
      case .url: "A URL is malformed"
      case .real: "A REAL literal is malformed"
      case .decimal: "A decimal is malformed, has too many digits or is out of range"
      }
    }

    var expected: String {
      switch self {
      case .date: "an ISO 8601 date such as '2026-11-20T21:17:00Z' or '2026-11-20'"
      case .url: "a URL such as 'https://example.org/'"
      case .real: "'nan'"
      case .decimal: "a decimal of at most 34 digits such as '9.99'"
      }
    }
  }

  /// Arrays and objects can be compared as a whole, but not computed.
  private func values(
    _ operands: [Operand], at position: Range<Int>
  ) throws(StoreError) -> [DocumentValue] {
    var values: [DocumentValue] = []
    for operand in operands {
      guard case .expression(.value(let value)) = operand.node else {
        throw source.error(
          "An array or object literal contains an expression", at: position,
          expected: "literals only")
      }
      values.append(value)
    }
    return values
  }

  private func object(
    _ operands: [Operand], at position: Range<Int>
  ) throws(StoreError) -> DocumentObject {
    let values = try values(operands, at: position)
    var object = DocumentObject()
    for index in stride(from: 0, to: values.count, by: 2) {
      guard let name = values[index].string, index + 1 < values.count else {
        throw source.error(
          "An object literal is malformed", at: position, expected: "alternating names and values")
      }
      object[name] = values[index + 1]
    }
    return object
  }
}

// MARK: Unknown names

extension QueryParser {
  private func unknownFunction(_ name: String) -> StoreError {
    if ["count", "sum", "avg", "total", "group_concat"].contains(name) {
      return error(
        "Aggregate functions are not allowed in a condition",
        expected: "a function of one document",
        hint: "compute aggregates over the query's results")
    }
    let known =
      Function.allCases.map(\.rawValue) + TextMatch.allCases.compactMap(\.functionName)
      + [
        "exists", "element", "leaf", "cast", "json_array", "json_object", "array_filter",
        "array_map",
      ]
    let near = known.filter { Self.isNear(name, $0) }
    return error(
      "The function is unknown",
      expected: "one of \(known.sorted().joined(separator: ", "))",
      hint: near.isEmpty ? nil : "did you mean \(near.joined(separator: " or "))?")
  }

  /// Returns whether the edit distance of two names is at most two, and less than half the length of
  /// the shorter name.
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
