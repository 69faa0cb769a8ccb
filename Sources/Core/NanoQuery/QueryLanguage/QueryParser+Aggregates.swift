// SPDX-License-Identifier: MIT

import NanoDocument

extension QueryParser {
  /// Parses `function(…) [FILTER (WHERE condition)] [AS name], …`.
  mutating func aggregates() throws(StoreError) -> [Pipeline.NamedAggregate] {
    var list: [Pipeline.NamedAggregate] = []
    repeat {
      let aggregate = try aggregate()
      let name = take(.as) ? try name() : aggregate.defaultName
      list.append(Pipeline.NamedAggregate(name, aggregate))
    } while take(.comma)
    return list
  }

  private mutating func aggregate() throws(StoreError) -> AggregateExpression {
    var aggregate = try takeAggregateFunction()
    if take(.distinct) { aggregate.isDistinct = true }
    if aggregate.function == .count, !aggregate.isDistinct, take(.star) {
      aggregate.operand = nil
    } else {
      aggregate.operand = try operand().expression
    }
    try expect(.rightParenthesis)
    guard take(word: "filter") else { return aggregate }
    try expect(.leftParenthesis)
    try expect(.where)
    aggregate.condition = try operand().condition
    try expect(.rightParenthesis)
    return aggregate
  }

  /// Parses the name of an aggregate and the parenthesis after it.
  private mutating func takeAggregateFunction() throws(StoreError) -> AggregateExpression {
    var found: AggregateExpression?
    switch token.kind {
    case .word(let word): found = AggregateExpression(aggregateName: word)
    case .keyword(.first): found = AggregateExpression(.first, nil)
    case .keyword(.last): found = AggregateExpression(.last, nil)
    default: break
    }
    guard let found, isAt(.leftParenthesis, ahead: 1) else {
      throw error(
        "An aggregate is required here",
        expected: AggregateExpression.Function.allCases.map { "\($0.rawValue)(…)" }
          .joined(separator: ", "),
        hint: "compute with the result in EXTEND or SELECT, after AGGREGATE")
    }
    next += 2
    return found
  }
}

extension AggregateExpression {
  /// Returns the aggregate of a name in query text, without its operand. Synonyms of other SQL databases
  /// are accepted.
  fileprivate init?(aggregateName name: String) {
    switch name {
    case "average": self.init(.average, nil)
    case "array_agg", "json_group_array": self.init(.push, nil)
    case "set": self.init(.push, nil, isDistinct: true)
    case "stddev": self.init(.sampleDeviation, nil)
    case "variance": self.init(.sampleVariance, nil)
    default:
      guard let function = Function(rawValue: name) else { return nil }
      self.init(function, nil)
    }
  }

  /// The name of the result in a row: the function, followed by the name of its operand.
  package var defaultName: String {
    guard let name = operand?.defaultName else { return function.rawValue }
    return "\(function.rawValue)_\(name)"
  }
}
