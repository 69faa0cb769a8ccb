// SPDX-License-Identifier: MIT

package import NanoDocument

extension QueryText {
  /// The query with its parameters filled.
  ///
  /// Other than in SQLite, nothing is assumed: each parameter needs its argument, each argument its
  /// parameter. An array is taken as the whole list of `IN ?` and nowhere else.
  ///
  /// ```swift
  /// try QueryText("[age] > ? AND [tag] IN :tags").query([30], named: ["tags": ["a", "b"]])
  /// ```
  ///
  /// - Throws: ``StoreError/Code/invalidArgument``; `expected` names the parameter.
  package func query(
    _ arguments: [DocumentValue] = [], named: [String: DocumentValue] = [:]
  ) throws(StoreError) -> Query {
    guard arguments.count <= positionCount else {
      throw StoreError(
        .invalidArgument, "A query text has more arguments than parameters",
        [.expected: "\(positionCount)", .actual: "\(arguments.count)"])
    }
    let named = named.byExactName
    if let unknown = named.keys.filter({ !exactNames.contains($0) }).min() {
      throw StoreError(
        .invalidArgument, "A query text has no parameter of this name",
        [.expected: names.joined(separator: ", "), .actual: unknown.text])
    }
    let filler = ParameterFiller(positional: arguments, named: named)
    try filler.check(positionCount, exactNames)
    let isFilled = positionCount == 0 && exactNames.isEmpty
    return Query(
      isFilled ? condition : try filler.filled(condition),
      orderings: isFilled ? orderings : try filler.filled(orderings),
      limit: try filler.count(limit).flatMap { $0 < 0 ? nil : $0 },
      offset: max(0, try filler.count(offset) ?? 0))
  }
}

/// Puts arguments in the place of parameters.
private struct ParameterFiller {
  let positional: [DocumentValue]
  let named: [ExactName: DocumentValue]

  func check(_ positionCount: Int, _ names: Set<ExactName>) throws(StoreError) {
    if positional.count < positionCount { throw missing(.position(positional.count + 1)) }
    if let name = names.filter({ named[$0] == nil }).min() { throw missing(.name(name.text)) }
  }

  private func missing(_ parameter: Parameter) -> StoreError {
    StoreError(
      .invalidArgument, "A parameter of the query text has no argument",
      [.expected: parameter.description])
  }

  private func argument(_ parameter: Parameter) throws(StoreError) -> DocumentValue {
    let found: DocumentValue? =
      switch parameter {
      case .position(let number): positional.count >= number ? positional[number - 1] : nil
      case .name(let name): named[ExactName(name)]
      }
    guard let found else { throw missing(parameter) }
    return found
  }

  private func scalar(_ value: DocumentValue, _ parameter: Parameter) throws(StoreError)
    -> QueryExpression
  {
    switch value {
    case .array, .object:
      throw StoreError(
        .invalidArgument, "An argument of a query text is an array or an object",
        [.expected: "a plain value for \(parameter)"])
    default: return .value(value)
    }
  }

  func count(_ expression: QueryExpression?) throws(StoreError) -> Int? {
    switch expression {
    case .value(.int(let number)): return Int(clamping: number)
    case .parameter(let parameter):
      guard case .int(let number) = try argument(parameter) else {
        throw StoreError(
          .invalidArgument, "The argument of a LIMIT or OFFSET is no integer",
          [.expected: "an integer for \(parameter)"])
      }
      return Int(clamping: number)
    default: return nil
    }
  }

  func filled(_ orderings: [Ordering]) throws(StoreError) -> [Ordering] {
    var list: [Ordering] = []
    for ordering in orderings {
      list.append(
        Ordering(try filled(ordering.expression), descending: ordering.descending))
    }
    return list
  }

  func filled(_ condition: Condition) throws(StoreError) -> Condition {
    switch condition {
    case .constant, .exists, .search: return condition
    case .all(let parts): return .all(try filled(parts))
    case .any(let parts): return .any(try filled(parts))
    case .not(let part): return .not(try filled(part))
    case .comparison(let left, let comparison, let right):
      return .comparison(try filled(left), comparison, try filled(right))
    case .text(let left, let match, let right):
      return .text(try filled(left), match, try filled(right))
    case .membership(let operand, let list):
      return .membership(try filled(operand), try filledList(list))
    case .between(let operand, let low, let high):
      return .between(try filled(operand), try filled(low), try filled(high))
    case .isNull(let operand): return .isNull(try filled(operand))
    case .same(let left, let right): return .same(try filled(left), try filled(right))
    case .element(let path, let part): return .element(path, try filled(part))
    case .leaf(let part): return .leaf(try filled(part))
    case .truth(let operand): return .truth(try filled(operand))
    }
  }

  private func filled(_ conditions: [Condition]) throws(StoreError) -> [Condition] {
    var list: [Condition] = []
    for condition in conditions { list.append(try filled(condition)) }
    return list
  }

  private func filledList(_ list: [QueryExpression]) throws(StoreError) -> [QueryExpression] {
    guard list.count == 1, case .parameter(let parameter) = list[0],
      case .array(let elements) = try argument(parameter)
    else { return try filled(list) }
    var expanded: [QueryExpression] = []
    for element in elements { expanded.append(try scalar(element, parameter)) }
    return expanded
  }

  private func filled(_ expression: QueryExpression) throws(StoreError) -> QueryExpression {
    switch expression {
    case .value, .field, .attribute: return expression
    case .parameter(let parameter): return try scalar(try argument(parameter), parameter)
    case .negated(let operand): return .negated(try filled(operand))
    case .arithmetic(let left, let operation, let right):
      return .arithmetic(try filled(left), operation, try filled(right))
    case .function(let function, let operands):
      return .function(function, try filled(operands))
    case .cast(let operand, let type): return .cast(try filled(operand), type)
    case .choice(let branches, let otherwise):
      var list: [QueryExpression.Branch] = []
      for branch in branches {
        list.append(
          QueryExpression.Branch(when: try filled(branch.condition), then: try filled(branch.value))
        )
      }
      return .choice(list, otherwise: try filled(otherwise))
    case .truth(let condition): return .truth(try filled(condition))
    }
  }

  private func filled(_ expressions: [QueryExpression]) throws(StoreError) -> [QueryExpression] {
    var list: [QueryExpression] = []
    for expression in expressions { list.append(try filled(expression)) }
    return list
  }
}
