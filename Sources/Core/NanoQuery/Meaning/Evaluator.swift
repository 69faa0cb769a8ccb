// SPDX-License-Identifier: MIT

public import NanoDocument

/// A document as conditions see it.
public protocol Subject: SendableMetatype {
  /// Every value the path reaches, in document order, arrays entered; see ``PathValues``.
  func values(at path: FieldPath) -> [DocumentValue]
  /// Whether the path reaches anything at all, be it null.
  func exists(at path: FieldPath) -> Bool
  /// What is known of the document beside its fields; null if it is not.
  func attribute(_ attribute: Attribute) -> DocumentValue
  /// Every leaf in document order, with its path; see ``Leaves``.
  func leaves() -> [Leaf]
  /// Every string that the path reaches, as text indexes see it: without defaults.
  func texts(at path: FieldPath) -> [String]
}

extension Subject {
  public func texts(at path: FieldPath) -> [String] { values(at: path).compactMap(\.string) }
}

/// Says whether a document fulfils a condition. **This is the definition** of what conditions mean
/// (docs/QUERY-SEMANTICS.md follows it rule by rule); engines are compared with it.
public struct Evaluator<Asked: Subject> {
  public let subject: Asked
  public init(_ subject: Asked) { self.subject = subject }

  /// - Throws: ``StoreError/Code/invalidArgument`` for a regular expression that does not parse.
  public func holds(_ condition: Condition) throws(StoreError) -> Bool {
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
      let others = try values(right)
      return try values(left).contains { value in
        others.contains { Self.compares(value, comparison, $0) }
      }
    case .text(let operand, let match, let pattern):
      let texts = try values(operand).filter(Self.isText).map(ValueOrder.text)
      guard !texts.isEmpty else { return false }
      for pattern in try values(pattern) where Self.isText(pattern) {
        let pattern = try TextPattern(match, ValueOrder.text(pattern))
        if texts.contains(where: pattern.matches) { return true }
      }
      return false
    case .membership(let operand, let list):
      let values = try values(operand)
      for candidate in list {
        for other in try self.values(candidate)
        where values.contains(where: { Self.compares($0, .equal, other) }) { return true }
      }
      return false
    case .between(let operand, let low, let high):
      let (lows, highs) = (try values(low), try values(high))
      return try values(operand).contains { value in
        lows.contains { Self.compares(value, .greaterOrEqual, $0) }
          && highs.contains { Self.compares(value, .lessOrEqual, $0) }
      }
    case .isNull(let operand):
      let values = try values(operand)
      return values.isEmpty || values.contains(.null)
    case .same(let left, let right):
      let (values, others) = (try scalarValues(left), try scalarValues(right))
      return values.contains { value in
        others.contains { ValueOrder.compare(value, $0) == 0 }
      }
    case .exists(let path): return subject.exists(at: path)
    case .element(let path, let condition):
      for element in subject.values(at: path) {
        if case .array = element { continue }
        let inner = Evaluator<ElementSubject<Asked>>(
          ElementSubject(element: element, document: subject))
        if try inner.holds(condition) { return true }
      }
      return false
    case .leaf(let condition):
      for leaf in subject.leaves() {
        let inner = Evaluator<LeafSubject<Asked>>(LeafSubject(leaf: leaf, document: subject))
        if try inner.holds(condition) { return true }
      }
      return false
    case .truth(let operand): return try values(operand).contains(where: Self.isTrue)
    case .search(let search): return try search.matcher().matches(subject.texts)
    }
  }

  /// Every value of an expression; empty if it has none.
  public func values(_ expression: QueryExpression) throws(StoreError) -> [DocumentValue] {
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
      return try scalarValues(left).flatMap { value in
        others.map { Computation.arithmetic(value, operation, $0) }
      }
    case .function(let function, let operands):
      return try combinations(operands).map { Computation.call(function, $0) }
    case .cast(let operand, let type):
      return try scalarValues(operand).map { Computation.cast($0, to: type) }
    case .choice(let branches, let otherwise):
      for branch in branches where try holds(branch.condition) { return try values(branch.value) }
      return try values(otherwise)
    case .truth(let condition): return [.bool(try holds(condition))]
    }
  }

  /// As ``values(_:)``, with null standing for no value, so that a computation over it has one.
  private func scalarValues(_ expression: QueryExpression) throws(StoreError) -> [DocumentValue] {
    let values = try values(expression)
    return values.isEmpty ? [.null] : values
  }

  private func combinations(_ operands: [QueryExpression]) throws(StoreError) -> [[DocumentValue]] {
    var lists: [[DocumentValue]] = [[]]
    for operand in operands {
      let values = try scalarValues(operand)
      lists = lists.flatMap { list in values.map { list + [$0] } }
    }
    return lists
  }

  /// Null never compares; other values only within their rank, and containers only for equality.
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
    default: false
    }
  }
}

/// An element of an array, asked inside ``Condition/element(_:_:)``.
struct ElementSubject<Asked: Subject>: Subject {
  let element: DocumentValue
  let document: Asked

  func values(at path: FieldPath) -> [DocumentValue] {
    path.isElement ? [element] : PathValues.values(in: element, at: path)
  }
  func exists(at path: FieldPath) -> Bool {
    path.isElement || PathValues.exists(in: element, at: path)
  }
  func attribute(_ attribute: Attribute) -> DocumentValue { document.attribute(attribute) }
  func leaves() -> [Leaf] {
    // A plain element is a leaf itself; there are no names on the way to it.
    switch element {
    case .array, .object: Leaves.all(in: element)
    default: [Leaf(path: .element, value: element)]
    }
  }
}

/// A leaf, asked inside ``Condition/leaf(_:)``.
struct LeafSubject<Asked: Subject>: Subject {
  let leaf: Leaf
  let document: Asked

  func values(at path: FieldPath) -> [DocumentValue] { path.isElement ? [leaf.value] : [] }
  func exists(at path: FieldPath) -> Bool { path.isElement }
  func attribute(_ attribute: Attribute) -> DocumentValue {
    attribute == .leafPath ? .string(leaf.path.description) : document.attribute(attribute)
  }
  func leaves() -> [Leaf] { [leaf] }
}
