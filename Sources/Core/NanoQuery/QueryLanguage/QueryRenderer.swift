// SPDX-License-Identifier: MIT

import NanoDocument

extension Condition {
  /// The condition as query text, which parses to an equal condition.
  ///
  /// The text contains values as literals and so may contain user data: do not log it. A tree that the
  /// parser never produces, such as an `all` with one part, is written as an equivalent condition.
  ///
  /// ```swift
  /// (Field("age") > 30 && Field("name") == "O'Hara").queryText   // [age] > 30 AND [name] = 'O''Hara'
  /// ```
  public var queryText: String {
    var renderer = QueryRenderer()
    renderer.write(self, above: .none)
    return renderer.text
  }
}

extension QueryExpression {
  /// The expression as query text; see ``Condition/queryText``.
  public var queryText: String {
    var renderer = QueryRenderer()
    renderer.write(self, above: .none)
    return renderer.text
  }
}

extension Ordering {
  /// The ordering as a term of an `ORDER BY` clause.
  public var queryText: String { expression.queryText + (descending ? " DESC" : "") }
}

extension QueryText: CustomStringConvertible {
  /// The query in normalized form, which parses to an equal query. May contain user data.
  package var description: String {
    var clauses = condition == .constant(true) ? [] : [condition.queryText]
    if !orderings.isEmpty {
      clauses.append("ORDER BY " + orderings.map(\.queryText).joined(separator: ", "))
    }
    if let limit { clauses.append("LIMIT " + limit.queryText) }
    if let offset { clauses.append("OFFSET " + offset.queryText) }
    return clauses.joined(separator: " ")
  }
}

/// Writes a tree as query text, with parentheses only where the parser needs them and around conditions
/// used as values.
struct QueryRenderer {
  var text = ""

  /// Writes a condition, in parentheses unless it binds tighter than `floor`.
  mutating func write(_ condition: Condition, above floor: Precedence) {
    let isOpen = condition.precedence > floor
    if !isOpen { text += "(" }
    write(condition)
    if !isOpen { text += ")" }
  }

  mutating func write(_ expression: QueryExpression, above floor: Precedence) {
    let isOpen = expression.precedence > floor
    if !isOpen { text += "(" }
    write(expression)
    if !isOpen { text += ")" }
  }

  private mutating func write(_ condition: Condition) {
    switch condition {
    case .constant(let value): text += value ? "TRUE" : "FALSE"
    case .all(let parts): write(parts, " AND ", .and, empty: "TRUE")
    case .any(let parts): write(parts, " OR ", .or, empty: "FALSE")
    case .not(let part): writeNegation(part)
    case .comparison(let left, let comparison, let right):
      let precedence = comparison.precedence
      write(left, " \(comparison.rawValue) ", right, precedence)
    case .text(let left, let match, let right): write(left, match, right, "")
    case .membership(let operand, let list): write(operand, in: list, "")
    case .between(let operand, let low, let high): write(operand, low, high, "")
    case .isNull(let operand): write(operand, isNull: " IS NULL")
    case .same(let left, let right): write(left, " IS ", right, .equality)
    case .exists(let path): text += "EXISTS(\(path.queryText))"
    case .element(let path, let part):
      text += "ELEMENT(\(path.queryText), "
      write(part, above: .none)
      text += ")"
    case .leaf(let part):
      text += "LEAF("
      write(part, above: .none)
      text += ")"
    case .truth(let operand): write(operand)
    case .search(let search): text += "SEARCH(\(FullTextQueryRenderer.text(search)))"
    case .related(let related): write(related, "")
    }
  }

  /// Writes a negated condition. Some conditions have a dedicated negated form.
  private mutating func writeNegation(_ condition: Condition) {
    switch condition {
    case .text(let left, let match, let right) where match.functionName == nil:
      write(left, match, right, "NOT ")
    case .membership(let operand, let list): write(operand, in: list, "NOT ")
    case .between(let operand, let low, let high): write(operand, low, high, "NOT ")
    case .isNull(let operand): write(operand, isNull: " IS NOT NULL")
    case .same(let left, let right): write(left, " IS NOT ", right, .equality)
    case .related(let related) where related.isMembership: write(related, "NOT ")
    default:
      text += "NOT "
      write(condition, above: .not)
    }
  }

  private mutating func write(
    _ parts: [Condition], _ separator: String, _ precedence: Precedence, empty: String
  ) {
    if parts.isEmpty { text += empty }
    for (index, part) in parts.enumerated() {
      if index > 0 { text += separator }
      write(part, above: precedence)
    }
  }

  /// Operators are left-associative, so the right side needs parentheses at equal precedence. The left
  /// side gets them too, for readability, if it is a relation.
  private mutating func write(
    _ left: QueryExpression, _ sign: String, _ right: QueryExpression, _ precedence: Precedence
  ) {
    write(left, above: precedence)
    text += sign
    write(right, above: precedence)
  }

  private mutating func write(
    _ left: QueryExpression, _ match: TextMatch, _ right: QueryExpression, _ not: String
  ) {
    if let name = match.functionName {
      text += name
      write([left, right])
    } else {
      write(left, " \(not)\(match.rawValue.uppercased()) ", right, .equality)
    }
  }

  private mutating func write(_ operand: QueryExpression, in list: [QueryExpression], _ not: String)
  {
    write(operand, above: .equality)
    text += " \(not)IN "
    write(list)
  }

  private mutating func write(
    _ operand: QueryExpression, _ low: QueryExpression, _ high: QueryExpression, _ not: String
  ) {
    write(operand, " \(not)BETWEEN ", low, .equality)
    text += " AND "
    write(high, above: .equality)
  }

  private mutating func write(_ operand: QueryExpression, isNull: String) {
    write(operand, above: .equality)
    text += isNull
  }

  private mutating func write(_ list: [QueryExpression]) {
    text += "("
    for (index, expression) in list.enumerated() {
      if index > 0 { text += ", " }
      write(expression, above: .none)
    }
    text += ")"
  }

  private mutating func write(_ expression: QueryExpression) {
    switch expression {
    case .value(let value): text += value.queryText
    case .field(let path): text += path.queryText
    case .attribute(let attribute): text += "[\(attribute.textName)]"
    case .parameter(let parameter): text += parameter.description
    case .negated(let operand): writeNegated(operand)
    case .arithmetic(let left, let operation, let right):
      let precedence = operation.precedence
      // Operators are left-associative: `a - b - c` needs no parentheses on the left.
      let isChain = left.precedence == precedence
      write(left, above: isChain ? .none : precedence)
      text += " \(operation.rawValue) "
      write(right, above: precedence)
    case .function(let function, let operands):
      text += function.rawValue
      write(operands)
    case .cast(let operand, let type):
      text += "CAST("
      write(operand, above: .none)
      text += " AS \(type.rawValue.uppercased()))"
    case .choice(let branches, let otherwise): write(branches, otherwise)
    // In parentheses, it would be parsed as its operand, which may be a number.
    case .truth(let condition) where condition.isOperand:
      write(
        [QueryExpression.Branch(when: condition, then: .value(.bool(true)))], .value(.bool(false)))
    case .truth(let condition):
      text += "("
      write(condition, above: .none)
      text += ")"
    case .elements(let operand, let condition, let value): write(operand, condition, value)
    }
  }

  /// Writes both forms if needed: `array_map(array_filter([a], [@] > 1), [@] * 2)`.
  private mutating func write(
    _ operand: QueryExpression, _ condition: Condition, _ value: QueryExpression
  ) {
    let maps = value != .field(.element)
    // A filter that keeps everything is written only if nothing else shows that this is an array.
    let filters = condition != .constant(true) || !maps
    if maps { text += "array_map(" }
    if filters { text += "array_filter(" }
    write(operand, above: .none)
    if filters {
      text += ", "
      write(condition, above: .none)
      text += ")"
    }
    if maps {
      text += ", "
      write(value, above: .none)
      text += ")"
    }
  }

  private mutating func writeNegated(_ operand: QueryExpression) {
    // Without parentheses, `-1` would be parsed as a literal and `--` as a comment.
    var needsParentheses = false
    if case .value = operand { needsParentheses = true }
    text += "-"
    write(operand, above: needsParentheses ? .primary : .unary)
  }

  private mutating func write(_ branches: [QueryExpression.Branch], _ otherwise: QueryExpression) {
    text += "CASE"
    for branch in branches {
      text += " WHEN "
      write(branch.condition, above: .none)
      text += " THEN "
      write(branch.value, above: .none)
    }
    if otherwise != .value(.null) {
      text += " ELSE "
      write(otherwise, above: .none)
    }
    text += " END"
  }
}

extension Condition {
  fileprivate var precedence: Precedence {
    switch self {
    case .constant, .exists, .element, .leaf, .search: .primary
    case .all(let parts): parts.isEmpty ? .primary : .and
    case .any(let parts): parts.isEmpty ? .primary : .or
    case .not(.text(_, let match, _)): match.functionName == nil ? .equality : .not
    case .not(.membership), .not(.between), .not(.isNull), .not(.same): .equality
    case .related(let related), .not(.related(let related)):
      related.isMembership ? .equality : self.isNegation ? .not : related.comparison.precedence
    case .not: .not
    case .comparison(_, let comparison, _): comparison.precedence
    case .text(_, let match, _): match.functionName == nil ? .equality : .primary
    case .membership, .between, .isNull, .same: .equality
    case .truth(let operand): operand.precedence
    }
  }
}

extension Condition {
  private var isNegation: Bool { if case .not = self { true } else { false } }

  /// Whether the text of the condition is that of an expression.
  fileprivate var isOperand: Bool {
    switch self {
    case .truth: true
    case .all(let parts), .any(let parts): parts.count == 1 && parts[0].isOperand
    default: false
    }
  }
}

extension QueryExpression {
  fileprivate var precedence: Precedence {
    switch self {
    case .value(.int(let value)): value < 0 ? .unary : .primary
    case .value(.double(let value)): value.sign == .minus ? .unary : .primary
    case .negated: .unary
    case .arithmetic(_, let operation, _): operation.precedence
    default: .primary
    }
  }
}
