// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoQuery

extension PredicateExpressions.Equal: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    Term(try translator.equality(lhs, rhs, self))
  }
}

/// Translated as the exact negation of `==`.
extension PredicateExpressions.NotEqual: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    Term(try translator.equality(lhs, rhs, self).opposite)
  }
}

extension PredicateTranslator {
  fileprivate func equality<L: PredicateExpression, R: PredicateExpression>(
    _ left: L, _ right: R, _ whole: some PredicateExpression
  ) throws(StoreError) -> Truth {
    let type = StoredType(L.Output.self)
    let truth = try combined(left, right) { (a, b) throws(StoreError) in
      if let value = b.content.value { return try a.equals(value, type) }
      if let value = a.content.value { return try b.equals(value, type) }
      return a.equals(b, type)
    }
    guard let truth else {
      throw .untranslatable(
        whole, "values that are stored as a single number, string, Boolean, date or binary value")
    }
    return truth
  }
}

extension Term.Content {
  /// The value, if it is known before any document is read.
  var value: Any? {
    switch self {
    case .constant(let value): value
    case .stored(let value): value
    default: nil
    }
  }

  /// The expression of a single value in the document; nil for other contents.
  var expression: QueryExpression? {
    switch self {
    case .location(let location): location.expression
    case .computed(let expression): expression
    case .truth(let condition): .truth(condition)
    default: nil
    }
  }

  var location: DocumentLocation? {
    if case .location(let location) = self { location } else { nil }
  }
  var isKey: Bool { location?.isKey ?? false }
}

extension Term.Case {
  /// Returns the condition that the content equals a value, or nil if it cannot be expressed.
  func equals(_ value: Any, _ type: StoredType) throws(StoreError) -> Condition? {
    guard unwrapped(value) != nil, value as? DocumentValue != .null else { return isNull }
    if content.isKey {
      return Self.key(of: value).map { equals($0, isFloating: false) } ?? .constant(false)
    }
    guard let stored = try storedForm(value) else { return nil }
    guard type.kind.hasEquality || (type.kind.isFlatList && !type.isSet) else { return nil }
    return equals(stored, isFloating: type.kind.isFloating)
  }

  private func equals(_ stored: DocumentValue, isFloating: Bool) -> Condition? {
    guard !stored.hasNaN else { return .constant(false) }
    switch content {
    case .constant(let own):
      guard let own = try? storedForm(own) else { return nil }
      return .constant(ValueOrder.compare(own, stored) == 0)
    case .stored(let own): return .constant(ValueOrder.compare(own, stored) == 0)
    case .location(let location): return location.equals(stored)
    case .computed(let expression): return .comparison(expression, .equal, .value(stored))
    case .truth(let condition):
      guard case .bool(let flag) = stored else { return nil }
      return flag ? condition : condition.opposite
    case .count(let elements): return elements.count(.equal, stored)
    case .extreme(let list, let isGreatest):
      let beyond = list.contains(isGreatest ? .greater : .less, stored, isFloating: isFloating)
      return list.holds(.equal, stored).and(beyond.opposite)
    case .elements: return nil
    }
  }

  /// Returns the condition that two values of the document are equal, or nil if it cannot be
  /// expressed.
  func equals(_ other: Term.Case, _ type: StoredType) -> Condition? {
    guard type.kind.hasEquality, let left = content.expression,
      let right = other.content.expression,
      type.kind.isText || !(content.isKey || other.content.isKey)
    else { return nil }
    var equal = Condition.comparison(left, .equal, right)
    if type.kind.isFloating { equal = equal.and(.isNumber(left)) }
    guard mayBeNull, other.mayBeNull else { return equal }
    return equal.or(isNull.and(other.isNull))
  }

  /// Returns the text of a document key, or nil if the value cannot be a key.
  static func key(of value: Any) -> DocumentValue? {
    guard let key = unwrapped(value) as? any ModelKey,
      let text = try? key.documentKey?.description
    else { return nil }
    return .string(text)
  }
}

extension StoredType.Kind {
  /// Whether the type is a list of single values, so that a list never equals one of its elements.
  var isFlatList: Bool {
    if case .list(let element) = self { element.kind.hasEquality } else { false }
  }
}

extension Condition {
  /// In Swift, NaN is unordered; in the store, it is less than every number.
  static func isNumber(_ expression: QueryExpression) -> Condition {
    .comparison(expression, .greaterOrEqual, .value(.double(-.infinity)))
  }

  static func isArray(_ expression: QueryExpression) -> Condition {
    .comparison(.function(.typeof, [expression]), .equal, .value("array"))
  }
}

extension DocumentLocation {
  /// Returns the condition that the location holds a value. A list can be stored as its only
  /// element if the property was not a list before.
  fileprivate func equals(_ value: DocumentValue) -> Condition {
    let equal = holds(.equal, value)
    guard case .array(let list) = value, list.count == 1, !list[0].isNull else { return equal }
    return equal.or(isArray.opposite.and(holds(.equal, list[0])))
  }

  /// Returns the condition that the value, or an element of the list, compares to a value as given.
  func holds(_ comparison: Comparison, _ value: DocumentValue) -> Condition {
    .comparison(expression, comparison, .value(value))
  }

  /// Returns the condition that an element of the list other than NaN compares to a value as given.
  fileprivate func contains(
    _ comparison: Comparison, _ value: DocumentValue, isFloating: Bool
  ) -> Condition {
    guard isFloating, comparison.interval == .upTo, let path else {
      return holds(comparison, value)
    }
    let element = QueryExpression.field(.element)
    return .element(
      path, .all([.comparison(element, comparison, .value(value)), .isNumber(element)]))
  }
}

extension Elements {
  /// Returns a condition on the number of elements if it is equivalent to an emptiness check, and
  /// nil otherwise.
  func count(_ comparison: Comparison, _ value: DocumentValue) -> Condition? {
    guard let number = value.int else { return nil }
    switch (comparison, number) {
    case (.equal, ..<0), (.less, ...0), (.lessOrEqual, ..<0): return .constant(false)
    case (.greater, ..<0), (.greaterOrEqual, ...0): return .constant(true)
    case (.equal, 0), (.less, 1), (.lessOrEqual, 0): return contain().opposite
    case (.greater, 0), (.greaterOrEqual, 1): return contain()
    default: return nil
    }
  }
}

extension PredicateExpressions.Comparison: TranslatableExpression {
  func translated(by translator: PredicateTranslator) throws(StoreError) -> Term {
    let comparison: NanoQuery.Comparison =
      switch op {
      case .lessThan: .less
      case .lessThanOrEqual: .lessOrEqual
      case .greaterThan: .greater
      case .greaterThanOrEqual: .greaterOrEqual
      @unknown default: throw .untranslatable(self)
      }
    return Term(try translator.comparison(lhs, comparison, rhs, self))
  }
}

extension PredicateTranslator {
  func comparison<L: PredicateExpression, R: PredicateExpression>(
    _ left: L, _ comparison: Comparison, _ right: R, _ whole: some PredicateExpression
  ) throws(StoreError) -> Truth {
    let kind = StoredType(L.Output.self).kind
    let truth = try combined(left, right) { (a, b) throws(StoreError) in
      guard kind.hasOrder, kind.isText || !(a.content.isKey || b.content.isKey) else { return nil }
      return try a.compares(comparison, b, isFloating: kind.isFloating)
    }
    guard let truth else {
      throw .untranslatable(
        whole, "numbers, strings or dates; for a filtered list, a test whether it is empty")
    }
    return truth
  }
}

extension Term.Case {
  /// Returns the condition of a comparison with another case, neither of which is null.
  func compares(
    _ comparison: Comparison, _ other: Term.Case, isFloating: Bool
  ) throws(StoreError) -> Condition? {
    if let value = other.content.value {
      return try compares(comparison, value, isFloating: isFloating)
    }
    if let value = content.value {
      return try other.compares(comparison.mirrored, value, isFloating: isFloating)
    }
    guard let left = content.expression, let right = other.content.expression else { return nil }
    let isAscending = comparison.interval == .upTo
    let holds = Condition.comparison(left, comparison, right)
    return isFloating ? holds.and(.isNumber(isAscending ? left : right)) : holds
  }

  private func compares(
    _ comparison: Comparison, _ value: Any, isFloating: Bool
  ) throws(StoreError) -> Condition? {
    guard let stored = try storedForm(value) else { return nil }
    guard !stored.isNaN else { return .constant(false) }
    switch content {
    case .constant(let own):
      guard let own = try storedForm(own) else { return nil }
      return compares(.value(own), comparison, stored, isFloating)
    case .stored(let own): return compares(.value(own), comparison, stored, isFloating)
    case .location(let location):
      return compares(location.expression, comparison, stored, isFloating)
    case .computed(let expression): return compares(expression, comparison, stored, isFloating)
    case .count(let elements): return elements.count(comparison, stored)
    case .extreme(let list, let isGreatest):
      // The greatest element exceeds a value if any element does; it is below the value if no
      // element is not.
      let isAny = isGreatest == (comparison.interval == .from)
      if isAny { return list.contains(comparison, stored, isFloating: isFloating) }
      let none = list.contains(comparison.complement, stored, isFloating: isFloating).opposite
      return isFloating ? none.and(.isNumber(list.expression)) : none
    case .truth, .elements: return nil
    }
  }

  private func compares(
    _ expression: QueryExpression, _ comparison: Comparison, _ value: DocumentValue,
    _ isFloating: Bool
  ) -> Condition {
    let holds = Condition.comparison(expression, comparison, .value(value)).folded
    let isAscending = comparison.interval == .upTo
    return isFloating && isAscending ? holds.and(Condition.isNumber(expression).folded) : holds
  }
}

extension Comparison {
  fileprivate var complement: Comparison {
    switch self {
    case .less: .greaterOrEqual
    case .lessOrEqual: .greater
    case .greater: .lessOrEqual
    case .greaterOrEqual: .less
    case .equal: .notEqual
    case .notEqual: .equal
    }
  }
}
