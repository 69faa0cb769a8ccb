// SPDX-License-Identifier: MIT

package import NanoDocument

/// A document as conditions evaluate it.
package protocol Subject: SendableMetatype {
  /// Returns all values at a path, in document order, traversing arrays; see ``PathValues``.
  func values(at path: FieldPath) -> [DocumentValue]
  /// Returns whether the path has a value, including null.
  func exists(at path: FieldPath) -> Bool
  /// Returns a metadata value of the document, or null if it is absent.
  func attribute(_ attribute: Attribute) -> DocumentValue
  /// Returns all leaves with their paths, in document order; see ``Leaves``.
  func leaves() -> [Leaf]
  /// Returns all strings at a path, as full-text indexes contain them: without defaults.
  func texts(at path: FieldPath) -> [String]
}

extension Subject {
  package func texts(at path: FieldPath) -> [String] { values(at: path).compactMap(\.string) }
}

/// Evaluates conditions on a document. **This is the definition** of conditions
/// (docs/QUERY-SEMANTICS.md follows it rule by rule); engines are tested against it.
package struct Evaluator<Input: Subject> {
  package let subject: Input
  let budget: EvaluationBudget
  /// Whether the array at the end of a path is only its elements, and not itself a value: in the
  /// expressions of pipelines, but not in conditions.
  let splitsArrays: Bool

  package init(_ subject: Input) { self.init(subject, EvaluationBudget()) }

  /// - Parameter budget: The remaining budget for the document.
  init(_ subject: Input, _ budget: EvaluationBudget, splitsArrays: Bool = false) {
    self.subject = subject
    self.budget = budget
    self.splitsArrays = splitsArrays
  }

  /// Returns whether the document satisfies the condition.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` for a malformed regular expression or an unbound
  ///   parameter, ``StoreError/Code/tooComplex``.
  package func holds(_ condition: Condition) throws(StoreError) -> Bool {
    switch condition {
    case .constant(let truth): return truth
    case .all(let parts):
      for part in parts where try !holds(part) { return false }
      return true
    case .any(let parts):
      for part in parts where try holds(part) { return true }
      return false
    case .not(let part): return try !holds(part)
    case .comparison(let left, let comparison, let right):
      return try isAny(values(left), values(right)) { Self.compares($0, comparison, $1) }
    case .text(let operand, let match, let pattern):
      let texts = try values(operand).filter(Self.isText).map(ValueOrder.text)
      guard !texts.isEmpty else { return false }
      let patterns = try values(pattern)
      let cost = texts.reduce(0) { $0 + 1 + $1.utf8.count / Self.bytesPerComparison }
      for pattern in patterns where Self.isText(pattern) {
        if patterns.count > 1 { try budget.spend(comparisons: cost) }
        let pattern = try TextPattern(match, ValueOrder.text(pattern))
        if texts.contains(where: pattern.matches) { return true }
      }
      return false
    case .membership(let operand, let list):
      let values = try values(operand)
      for candidate in list
      where try isAny(self.values(candidate), values, { Self.compares($1, .equal, $0) }) {
        return true
      }
      return false
    case .between(let operand, let low, let high):
      let (lows, highs) = (try values(low), try values(high))
      for value in try values(operand) {
        if lows.count > 1 || highs.count > 1 {
          try budget.spend(comparisons: lows.count + highs.count)
        }
        if lows.contains(where: { Self.compares(value, .greaterOrEqual, $0) }),
          highs.contains(where: { Self.compares(value, .lessOrEqual, $0) })
        {
          return true
        }
      }
      return false
    case .isNull(let operand):
      let values = try values(operand)
      return values.isEmpty || values.contains(.null)
    case .same(let left, let right):
      return try isAny(scalarValues(left), scalarValues(right)) { ValueOrder.compare($0, $1) == 0 }
    case .exists(let path): return subject.exists(at: path)
    case .element(let path, let condition):
      for element in subject.values(at: path) {
        if case .array = element { continue }
        let inner = Evaluator<ElementSubject<Input>>(
          ElementSubject(element: element, document: subject), budget)
        if try inner.holds(condition) { return true }
      }
      return false
    case .leaf(let condition):
      for leaf in subject.leaves() {
        let inner = Evaluator<LeafSubject<Input>>(
          LeafSubject(leaf: leaf, document: subject), budget)
        if try inner.holds(condition) { return true }
      }
      return false
    case .truth(let operand): return try values(operand).contains(where: Self.isTrue)
    case .search(let search): return try search.matcher().matches(subject.texts)
    case .related(let related): return try related.holds(for: values(related.local))
    }
  }

  /// The number of text bytes that can be matched in about the time of one comparison. Arbitrary.
  private static var bytesPerComparison: Int { 64 }

  /// Returns whether the relation is true for some pair of values.
  private func isAny(
    _ values: [DocumentValue], _ others: [DocumentValue],
    _ relation: (DocumentValue, DocumentValue) -> Bool
  ) throws(StoreError) -> Bool {
    let isProduct = values.count > 1 && others.count > 1
    for value in values {
      if isProduct { try budget.spend(comparisons: others.count) }
      if others.contains(where: { relation(value, $0) }) { return true }
    }
    return false
  }

  /// Returns all values of an expression; empty if it has none.
  package func values(_ expression: QueryExpression) throws(StoreError) -> [DocumentValue] {
    switch expression {
    case .value(let value): return [value]
    case .field(let path): return subject.values(at: path)
    case .attribute(let attribute): return [subject.attribute(attribute)]
    case .parameter(let parameter):
      throw StoreError(
        .invalidArgument, "A parameter of the condition has no argument",
        [.expected: parameter.description])
    case .negated(let operand):
      return try scalarValues(operand).map { Computation.arithmetic(.int(0), .subtract, $0) }
    case .arithmetic(let left, let operation, let right):
      let others = try scalarValues(right)
      let values = try scalarValues(left)
      try budget.spend(combining: [values.count, others.count])
      var results: [DocumentValue] = []
      results.reserveCapacity(values.count * others.count)
      for value in values {
        for other in others {
          let result = Computation.arithmetic(value, operation, other)
          if operation == .concatenate { try budget.spend(text: result) }
          results.append(result)
        }
      }
      return results
    case .function(let function, let operands):
      return try combined(function, operands)
    case .cast(let operand, let type):
      return try scalarValues(operand).map { Computation.cast($0, to: type) }
    case .choice(let branches, let otherwise):
      return try values(selected(branches, otherwise))
    case .truth(let condition): return [.bool(try forConditions.holds(condition))]
    case .elements(let operand, let condition, let value):
      return try elements(operand, where: condition, select: value)
    }
  }

  /// Returns the expression of the first branch whose condition is true.
  func selected(
    _ branches: [QueryExpression.Branch], _ otherwise: QueryExpression
  ) throws(StoreError) -> QueryExpression {
    for branch in branches where try forConditions.holds(branch.condition) { return branch.value }
    return otherwise
  }

  /// Returns the values of an expression, or null if it has none, so that a computation over it has a
  /// result.
  private func scalarValues(_ expression: QueryExpression) throws(StoreError) -> [DocumentValue] {
    if case .choice(let branches, let otherwise) = expression {
      return try scalarValues(selected(branches, otherwise))
    }
    var values = try values(expression)
    if splitsArrays, case .field = expression { values.removeAll { !Aggregation.counts($0) } }
    return values.isEmpty ? [.null] : values
  }

  /// Returns the result for each combination of the operands' values. The last operand varies fastest.
  private func combined(
    _ function: Function, _ operands: [QueryExpression]
  ) throws(StoreError) -> [DocumentValue] {
    var lists: [[DocumentValue]] = []
    for (position, operand) in operands.enumerated() {
      let isWhole = function.takesArray(at: position, splitsArrays: splitsArrays)
      lists.append(isWhole ? try wholeValues(operand) : try scalarValues(operand))
    }
    try budget.spend(combining: lists.map(\.count))
    let isRepeated = lists.contains { $0.count > 1 }
    var results: [DocumentValue] = []
    var positions = Array(repeating: 0, count: lists.count)
    var values = lists.map { $0[0] }
    while true {
      let result = try Computation.call(function, values, budget)
      if isRepeated { try budget.spend(repeating: result) }
      results.append(result)
      var turned = lists.count - 1
      while turned >= 0, positions[turned] == lists[turned].count - 1 {
        positions[turned] = 0
        values[turned] = lists[turned][0]
        turned -= 1
      }
      guard turned >= 0 else { return results }
      positions[turned] += 1
      values[turned] = lists[turned][positions[turned]]
    }
  }

  /// Compares two values. Null never compares; other values compare only within their rank, and arrays
  /// and objects only for equality.
  static func compares(_ a: DocumentValue, _ comparison: Comparison, _ b: DocumentValue) -> Bool {
    let rank = ValueOrder.rank(a)
    guard rank != .none, rank == ValueOrder.rank(b) else { return false }
    let order = ValueOrder.compare(a, b)
    switch comparison {
    case .equal: return order == 0
    case .notEqual: return order != 0
    case .less: return order < 0 && !rank.isContainer
    case .lessOrEqual: return order <= 0 && !rank.isContainer
    case .greater: return order > 0 && !rank.isContainer
    case .greaterOrEqual: return order >= 0 && !rank.isContainer
    }
  }

  static func isText(_ value: DocumentValue) -> Bool { ValueOrder.rank(value) == .text }

  static func isTrue(_ value: DocumentValue) -> Bool {
    switch value {
    case .bool(let flag): flag
    case .int(let number): number != 0
    case .double(let number): number != 0 && !number.isNaN
    case .decimal(let number): number.sign != 0 && !number.isNaN
    case .null, .string, .date, .data, .url, .array, .object: false
    }
  }
}

/// An array element, evaluated inside ``Condition/element(_:_:)``.
struct ElementSubject<Input: Subject>: Subject {
  let element: DocumentValue
  let document: Input

  func values(at path: FieldPath) -> [DocumentValue] {
    path.isElement ? [element] : PathValues.values(in: element, at: path)
  }
  func exists(at path: FieldPath) -> Bool {
    path.isElement || PathValues.exists(in: element, at: path)
  }
  func attribute(_ attribute: Attribute) -> DocumentValue { document.attribute(attribute) }
  func leaves() -> [Leaf] {
    // A scalar element is itself a leaf, with no field names in its path.
    switch element {
    case .array, .object: Leaves.all(in: element)
    default: [Leaf(path: FieldPath(components: []), value: element)]
    }
  }
}

/// A leaf, evaluated inside ``Condition/leaf(_:)``.
struct LeafSubject<Input: Subject>: Subject {
  let leaf: Leaf
  let document: Input

  func values(at path: FieldPath) -> [DocumentValue] { path.isElement ? [leaf.value] : [] }
  func exists(at path: FieldPath) -> Bool { path.isElement }
  func attribute(_ attribute: Attribute) -> DocumentValue {
    attribute == .leafPath ? .string(leaf.path.description) : document.attribute(attribute)
  }
  func leaves() -> [Leaf] { [leaf] }
}
