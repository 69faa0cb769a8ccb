// SPDX-License-Identifier: MIT

package import NanoDocument

extension Evaluator {
  /// Creates an evaluator for the expressions of a pipeline's row, in which the array at the end of a path
  /// is only its elements.
  package init(row subject: Input) { self.init(subject, EvaluationBudget(), splitsArrays: true) }

  /// The evaluator for conditions inside expressions.
  var forConditions: Evaluator { splitsArrays ? Evaluator(subject, budget) : self }

  /// Returns the values of an operand that functions of arrays take as a whole, or null if it has none:
  /// an array at the end of a path is one value.
  func wholeValues(_ expression: QueryExpression) throws(StoreError) -> [DocumentValue] {
    if case .choice(let branches, let otherwise) = expression {
      return try wholeValues(selected(branches, otherwise))
    }
    var values = try values(expression)
    if case .field = expression { values = PathValues.ends(amongValues: values) }
    return values.isEmpty ? [.null] : values
  }

  /// Returns an array for each array of the operand: the values of an expression for the elements that
  /// satisfy a condition.
  func elements(
    _ operand: QueryExpression, where condition: Condition, select value: QueryExpression
  ) throws(StoreError) -> [DocumentValue] {
    var results: [DocumentValue] = []
    for whole in try wholeValues(operand) {
      guard case .array(let array) = whole else {
        results.append(.null)
        continue
      }
      var found: [DocumentValue] = []
      for element in array {
        let inner = Evaluator<ElementSubject<Input>>(
          ElementSubject(element: element, document: subject), budget, splitsArrays: true)
        guard try inner.forConditions.holds(condition) else { continue }
        found.append(try inner.singleValue(value) ?? .null)
      }
      try budget.spend(elements: found.count)
      results.append(.array(found))
    }
    return results
  }

  /// Returns the one value of an expression in a row: an array at the end of a path as a whole, an array
  /// of the values if there are several, `nil` if there is none.
  package func singleValue(_ expression: QueryExpression) throws(StoreError) -> DocumentValue? {
    var values: [DocumentValue]
    switch expression {
    case .field:
      values = PathValues.ends(amongValues: try self.values(expression))
    case .choice(let branches, let otherwise):
      return try singleValue(selected(branches, otherwise))
    default: values = try self.values(expression)
    }
    return values.count > 1 ? .array(values) : values.first
  }

  /// Returns the values of an expression that groups and aggregates use: the elements of the arrays of a
  /// field, and all values of other expressions.
  package func elementValues(_ expression: QueryExpression) throws(StoreError) -> [DocumentValue] {
    switch expression {
    case .field: return try values(expression).filter(Aggregation.counts)
    case .choice(let branches, let otherwise):
      return try elementValues(selected(branches, otherwise))
    default: return try values(expression)
    }
  }
}

extension PathValues {
  /// Returns the values at the ends of a path, given all values that it yields, in which the elements of
  /// an array follow the array.
  static func ends(amongValues values: [DocumentValue]) -> [DocumentValue] {
    guard values.contains(where: { !Aggregation.counts($0) }) else { return values }
    var ends: [DocumentValue] = []
    var index = 0
    while index < values.count {
      ends.append(values[index])
      index += spreadCount(values[index])
    }
    return ends
  }

  /// The number of values that a value contributes to ``values(in:at:)``.
  private static func spreadCount(_ value: DocumentValue) -> Int {
    guard case .array(let array) = value else { return 1 }
    return array.reduce(1) { $0 + spreadCount($1) }
  }
}
