// SPDX-License-Identifier: MIT

package import NanoDocument

extension QueryText {
  /// Returns the query with its parameters replaced by arguments.
  ///
  /// Unlike in SQLite, an unbound parameter is not null: each parameter requires an argument, and each
  /// argument a parameter. An array is allowed only as the entire list of `IN ?`.
  ///
  /// ```swift
  /// try QueryText("[age] > ? AND [tag] IN :tags").query([30], named: ["tags": ["a", "b"]])
  /// ```
  ///
  /// - Throws: ``StoreError/Code/invalidArgument``; `expected` names the parameter.
  package func query(
    _ arguments: [DocumentValue] = [], named: [String: DocumentValue] = [:]
  ) throws(StoreError) -> Query {
    let binder = try ParameterBinder(
      arguments, named, count: positionCount, names: exactNames)
    let hasNoParameters = positionCount == 0 && exactNames.isEmpty
    return Query(
      hasNoParameters ? condition : try binder.bound(condition),
      orderings: hasNoParameters ? orderings : try binder.bound(orderings),
      limit: try binder.count(limit).flatMap { $0 < 0 ? nil : $0 },
      offset: max(0, try binder.count(offset) ?? 0))
  }
}

/// Replaces parameters with arguments.
struct ParameterBinder {
  let positional: [DocumentValue]
  let named: [ExactName: DocumentValue]

  /// - Parameters:
  ///   - count: The number of positional parameters of the text.
  ///   - names: The names of its other parameters.
  /// - Throws: ``StoreError/Code/invalidArgument`` for a missing and for an unknown argument.
  init(
    _ positional: [DocumentValue], _ named: [String: DocumentValue], count: Int,
    names: Set<ExactName>
  ) throws(StoreError) {
    guard positional.count <= count else {
      throw StoreError(
        .invalidArgument, "A query text has more arguments than parameters",
        [.expected: "\(count)", .actual: "\(positional.count)"])
    }
    let named = named.byExactName
    if let unknown = named.keys.filter({ !names.contains($0) }).min() {
      throw StoreError(
        .invalidArgument, "A query text has no parameter of this name",
        [
          .expected: names.sorted().map(\.text).joined(separator: ", "), .actual: unknown.text,
        ])
    }
    self.positional = positional
    self.named = named
    if positional.count < count { throw missing(.position(positional.count + 1)) }
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
        [.expected: "a scalar value for \(parameter)"])
    default: return .value(value)
    }
  }

  func count(_ expression: QueryExpression?) throws(StoreError) -> Int? {
    switch expression {
    case .value(.int(let number)): return Int(clamping: number)
    case .parameter(let parameter):
      guard case .int(let number) = try argument(parameter) else {
        throw StoreError(
          .invalidArgument, "The argument of a LIMIT or OFFSET is not an integer",
          [.expected: "an integer for \(parameter)"])
      }
      return Int(clamping: number)
    default: return nil
    }
  }

  func bound(_ orderings: [Ordering]) throws(StoreError) -> [Ordering] {
    var list: [Ordering] = []
    for ordering in orderings {
      list.append(
        Ordering(try bound(ordering.expression), descending: ordering.descending))
    }
    return list
  }

  func bound(_ condition: Condition) throws(StoreError) -> Condition {
    switch condition {
    case .constant, .exists, .search: return condition
    case .all(let parts): return .all(try bound(parts))
    case .any(let parts): return .any(try bound(parts))
    case .not(let part): return .not(try bound(part))
    case .comparison(let left, let comparison, let right):
      return .comparison(try bound(left), comparison, try bound(right))
    case .text(let left, let match, let right):
      return .text(try bound(left), match, try bound(right))
    case .membership(let operand, let list):
      return .membership(try bound(operand), try boundList(list))
    case .between(let operand, let low, let high):
      return .between(try bound(operand), try bound(low), try bound(high))
    case .isNull(let operand): return .isNull(try bound(operand))
    case .same(let left, let right): return .same(try bound(left), try bound(right))
    case .element(let path, let part): return .element(path, try bound(part))
    case .leaf(let part): return .leaf(try bound(part))
    case .truth(let operand): return .truth(try bound(operand))
    case .related(var related):
      related.local = try bound(related.local)
      related.remote = try bound(related.remote)
      related.condition = try bound(related.condition)
      related.bound = try bound(related.bound)
      return .related(related)
    }
  }

  private func bound(_ conditions: [Condition]) throws(StoreError) -> [Condition] {
    var list: [Condition] = []
    for condition in conditions { list.append(try bound(condition)) }
    return list
  }

  private func boundList(_ list: [QueryExpression]) throws(StoreError) -> [QueryExpression] {
    guard list.count == 1, case .parameter(let parameter) = list[0],
      case .array(let elements) = try argument(parameter)
    else { return try bound(list) }
    var expanded: [QueryExpression] = []
    for element in elements { expanded.append(try scalar(element, parameter)) }
    return expanded
  }

  func bound(_ expression: QueryExpression) throws(StoreError) -> QueryExpression {
    switch expression {
    case .value, .field, .attribute: return expression
    case .parameter(let parameter): return try scalar(try argument(parameter), parameter)
    case .negated(let operand): return .negated(try bound(operand))
    case .arithmetic(let left, let operation, let right):
      return .arithmetic(try bound(left), operation, try bound(right))
    case .function(let function, let operands):
      return .function(function, try bound(operands))
    case .cast(let operand, let type): return .cast(try bound(operand), type)
    case .choice(let branches, let otherwise):
      var list: [QueryExpression.Branch] = []
      for branch in branches {
        list.append(
          QueryExpression.Branch(when: try bound(branch.condition), then: try bound(branch.value))
        )
      }
      return .choice(list, otherwise: try bound(otherwise))
    case .truth(let condition): return .truth(try bound(condition))
    case .elements(let operand, let condition, let value):
      return .elements(
        try bound(operand), where: try bound(condition), select: try bound(value))
    }
  }

  private func bound(_ expressions: [QueryExpression]) throws(StoreError) -> [QueryExpression] {
    var list: [QueryExpression] = []
    for expression in expressions { list.append(try bound(expression)) }
    return list
  }
}

extension QueryParser {
  /// The number of positional parameters of the text, and the names of the others.
  var parameters: (count: Int, names: Set<ExactName>) {
    var count = 0
    var names: Set<ExactName> = []
    for case .parameter(let parameter) in tokens.map(\.kind) {
      switch parameter {
      case .position(let number): count = max(count, number)
      case .name(let name): names.insert(ExactName(name))
      }
    }
    return (count, names)
  }
}
