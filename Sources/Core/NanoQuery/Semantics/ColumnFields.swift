// SPDX-License-Identifier: MIT

import NanoDocument

extension Query {
  /// The equivalent query under the semantics of SQL table columns, as in NTJsonStore: a field has one
  /// value, Booleans are 1.0 and 0.0, arrays are not traversed, arrays and objects count as null,
  /// numbers sort before strings and match `LIKE` and `GLOB` as text, and NOT of unknown is unknown.
  ///
  /// ```swift
  /// // {"a":[{"b":7}]} satisfies [a.b] IS NULL, {"t":true} satisfies [t] = 1, {} does not satisfy NOT [t] = 1
  /// ```
  package var withFieldsAsColumns: Query {
    var query = self
    query.condition = ColumnFields.isTrue(condition)
    query.orderings = orderings.map {
      Ordering(ColumnFields.value($0.expression), descending: $0.descending)
    }
    return query
  }
}

/// Rewrites conditions from SQL's three-valued logic (true, false or unknown) to two-valued conditions.
private enum ColumnFields {
  static func isTrue(_ condition: Condition) -> Condition {
    switch condition {
    case .all(let parts): .all(parts.map(isTrue))
    case .any(let parts): .any(parts.map(isTrue))
    case .not(let part): isFalse(part)
    case .comparison(let left, .notEqual, let right):
      .all([.not(compared(left, .equal, right)), isKnown(left), isKnown(right)])
    case .comparison(let left, let comparison, let right): compared(left, comparison, right)
    case .text(let text, let match, let pattern):
      match == .like || match == .glob
        ? .text(asText(text), match, asText(pattern)) : .text(value(text), match, value(pattern))
    case .membership(let operand, let list): .any(list.map { compared(operand, .equal, $0) })
    case .between(let operand, let low, let high):
      .all([
        compared(operand, .greaterOrEqual, low), compared(operand, .lessOrEqual, high),
      ])
    case .isNull(.field(let path)): .any([.isNull(.field(path)), .not(fitsColumn(path))])
    case .isNull(let operand): .isNull(value(operand))
    case .same(let left, let right): .same(value(left), value(right))
    case .truth(let operand): .truth(value(operand))
    case .constant, .exists, .element, .leaf, .search, .related: condition
    }
  }

  static func isFalse(_ condition: Condition) -> Condition {
    switch condition {
    case .all(let parts): .any(parts.map(isFalse))
    case .any(let parts): .all(parts.map(isFalse))
    case .not(let part): isTrue(part)
    case .comparison(let left, _, let right), .text(let left, _, let right):
      .all([.not(isTrue(condition)), isKnown(left), isKnown(right)])
    case .membership(let operand, let list):
      list.isEmpty
        ? .constant(true) : .all([.not(isTrue(condition))] + ([operand] + list).map(isKnown))
    case .between(let operand, let low, let high):
      isFalse(
        .all([
          .comparison(operand, .greaterOrEqual, low), .comparison(operand, .lessOrEqual, high),
        ]))
    case .truth(let operand): .all([.not(isTrue(condition)), isKnown(operand)])
    case .constant, .isNull, .same, .exists, .element, .leaf, .search, .related:
      .not(isTrue(condition))
    }
  }

  private static func isKnown(_ operand: QueryExpression) -> Condition {
    .not(isTrue(.isNull(operand)))
  }

  /// Returns the expression with fields treated as columns.
  static func value(_ expression: QueryExpression) -> QueryExpression {
    switch expression {
    case .value(.bool(let flag)): .value(.int(flag ? 1 : 0))
    case .value, .attribute, .parameter: expression
    case .field(let path):
      .choice(
        [
          .init(when: .not(fitsColumn(path)), then: .value(.null)),
          .init(when: hasType(expression, ["boolean"]), then: .cast(expression, .real)),
        ], otherwise: expression)
    case .negated(let operand): .negated(value(operand))
    case .arithmetic(let left, let operation, let right):
      .arithmetic(converted(left, for: operation), operation, converted(right, for: operation))
    case .function(let function, let operands) where function == .substr || function == .round:
      // SQL converts positions and numbers of digits to integers.
      .function(
        function,
        operands.enumerated().map {
          $0.offset == 0 ? value($0.element) : .cast(value($0.element), .integer)
        })
    case .function(let function, let operands): .function(function, operands.map(value))
    case .cast(let operand, let type): .cast(value(operand), type)
    case .choice(let branches, let otherwise):
      .choice(
        branches.map { .init(when: isTrue($0.condition), then: value($0.value)) },
        otherwise: value(otherwise))
    case .truth(let condition):
      .choice(
        [
          .init(when: isTrue(condition), then: .value(.int(1))),
          .init(when: isFalse(condition), then: .value(.int(0))),
        ], otherwise: .value(.null))
    // A column holds no array.
    case .elements: .value(.null)
    }
  }

  /// SQL's operators on bits convert their operands to integers.
  private static func converted(
    _ expression: QueryExpression, for operation: Arithmetic
  ) -> QueryExpression {
    switch operation {
    case .bitAnd, .bitOr, .shiftLeft, .shiftRight: .cast(value(expression), .integer)
    case .add, .subtract, .multiply, .divide, .remainder, .concatenate: value(expression)
    }
  }

  /// SQL's `LIKE` and `GLOB` convert both operands to text.
  private static func asText(_ operand: QueryExpression) -> QueryExpression {
    if case .value(.string) = operand { operand } else { .cast(value(operand), .text) }
  }
}

extension ColumnFields {
  private static func compared(
    _ left: QueryExpression, _ comparison: Comparison, _ right: QueryExpression
  ) -> Condition {
    if case .field = right, case .value = left { return compared(right, comparison.mirrored, left) }
    guard case .field(let path) = left, case .value(let literal) = value(right) else {
      return .any(
        [.comparison(value(left), comparison, value(right))]
          + byType(value(left), comparison, value(right)))
    }
    // In this form, an index on the field can be used.
    var choices: [Condition] = [.comparison(left, comparison, .value(literal))]
    let flags: [DocumentValue] = [false, true]
    let equal = flags.filter { flag in
      Evaluator<DocumentSubject>.compares(.int(flag == true ? 1 : 0), comparison, literal)
    }
    if !equal.isEmpty { choices.append(.membership(left, equal.map { .value($0) })) }
    choices += byType(left, comparison, .value(literal))
    return .all([choices.count == 1 ? choices[0] : .any(choices), fitsColumn(path)])
  }

  private static let numbers: [DocumentValue] = ["boolean", "integer", "real", "decimal"]
  private static let texts: [DocumentValue] = ["text", "url"]
  private static let data: [DocumentValue] = ["data"]

  /// Returns the conditions under which values of different types compare as specified.
  private static func byType(
    _ left: QueryExpression, _ comparison: Comparison, _ right: QueryExpression
  ) -> [Condition] {
    let (low, high): (QueryExpression, QueryExpression)
    switch comparison {
    case .equal, .notEqual: return []
    case .less, .lessOrEqual: (low, high) = (left, right)
    case .greater, .greaterOrEqual: (low, high) = (right, left)
    }
    return [(numbers, texts + data), (texts, data)].compactMap { lower, higher in
      let parts = [(low, lower), (high, higher)].compactMap { operand, types -> Condition? in
        guard case .value(let literal) = operand else { return hasType(operand, types) }
        return types.contains(.string(type(of: literal))) ? nil : .constant(false)
      }
      return parts.contains(.constant(false)) ? nil : .all(parts)
    }
  }

  private static func type(of literal: DocumentValue) -> String {
    switch literal {
    case .bool, .int, .double, .decimal: "integer"
    case .string, .url: "text"
    case .data: "data"
    case .null, .date, .array, .object: "null"
    }
  }

  private static func hasType(
    _ operand: QueryExpression, _ types: [DocumentValue]
  ) -> Condition {
    .membership(.function(.typeof, [operand]), types.map { .value($0) })
  }

  /// Returns the condition that no value along the path, including its end, is an array, and the one at
  /// its end no object: a column holds neither.
  private static func fitsColumn(_ path: FieldPath) -> Condition {
    let end = path.components.indices.last
    return .not(
      .any(
        path.components.indices.map { last in
          hasType(.field(path[0..<last + 1]), last == end ? ["array", "object"] : ["array"])
        }))
  }
}
