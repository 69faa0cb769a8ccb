// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoQuery

extension ModelPath {
  /// The property equals one of these values.
  ///
  /// ```swift
  /// people.find { $0.lastName.isIn(["Hopper", "Lovelace"]) }
  /// ```
  public func isIn(_ values: some Sequence<Value>) -> ModelCondition<Root> {
    let values = Array(values)
    return condition { (expression, place) throws(StoreError) in
      var list: [QueryExpression] = []
      var hasNull = false
      for value in values {
        let stored = try StoredValues.stored(value, isKey: place.isKey)
        if stored.isNull { hasNull = true } else { list.append(.value(stored)) }
      }
      let membership = Condition.membership(expression, list)
      return hasNull ? membership || .isNull(expression) : membership
    }
  }
}

extension ModelPath where Value: OrderedQueryValue {
  /// The property stands between two values, both included.
  public func isBetween(_ low: Value, and high: Value) -> ModelCondition<Root> {
    self >= low && self <= high
  }
}

/// A text, or one that may be absent; absent ones match nothing.
public protocol TextQueryValue: QueryValue {}
extension String: TextQueryValue {}
extension Optional: TextQueryValue where Wrapped == String {}

extension ModelPath where Value: TextQueryValue {
  private func text(_ match: TextMatch, _ pattern: String) -> ModelCondition<Root> {
    condition { (expression, _) throws(StoreError) in
      .text(expression, match, .value(.string(pattern)))
    }
  }

  /// The text begins with this one, literally.
  public func hasPrefix(_ text: String) -> ModelCondition<Root> { self.text(.beginsWith, text) }
  /// The text contains this one, literally.
  public func contains(_ text: String) -> ModelCondition<Root> { self.text(.contains, text) }
  /// The text ends with this one, literally.
  public func hasSuffix(_ text: String) -> ModelCondition<Root> { self.text(.endsWith, text) }
  /// One of the matches, among them those that pass over upper and lower case.
  public func matches(_ match: TextMatch, _ text: String) -> ModelCondition<Root> {
    self.text(match, text)
  }
  /// The text matches a pattern with `%` and `_`; see ``TextMatch/like``.
  public func like(_ pattern: String) -> ModelCondition<Root> { text(.like, pattern) }
  /// The text matches a pattern with `*`, `?` and `[…]`; see ``TextMatch/glob``.
  public func glob(_ pattern: String) -> ModelCondition<Root> { text(.glob, pattern) }
  /// A regular expression is found in the text.
  public func regexp(_ pattern: String) -> ModelCondition<Root> { text(.regexp, pattern) }
}

extension ModelPath {
  /// The list or set has this element.
  @_disfavoredOverload  // A relationship contains objects by their row ids.
  public func contains(_ element: Value.ListElement) -> ModelCondition<Root>
  where Value: ListQueryValue {
    condition { (expression, _) throws(StoreError) in
      .comparison(expression, .equal, .value(try StoredValues.stored(element)))
    }
  }

  /// One element satisfies the whole condition.
  public func element<Element: Model>(
    _ condition: (ModelProperties<Element>) -> ModelCondition<Element>
  ) -> ModelCondition<Root> where Value == [Element] {
    var properties = ModelProperties<Element>()
    properties.areInPart = true
    let inner = condition(properties)
    if let failure = inner.failure { return ModelCondition(failure: failure) }
    return self.condition { (expression, place) throws(StoreError) in
      try place.checkHolds(Element.self)
      guard case .field(let path) = expression else { return .constant(false) }
      return .element(path, inner.condition)
    }
  }
}

extension ModelPath where Value: Collection {
  /// Whether a list, set, dictionary or text has no elements.
  public var isEmpty: ModelCondition<Root> {
    let empty: DocumentValue =
      switch Value.self {
      case is any ListQueryValue.Type: .array([])
      case is String.Type: .string("")
      default: .object([:])
      }
    return condition { (expression, _) throws(StoreError) in
      .comparison(expression, .equal, .value(empty))
    }
  }
}

// As in Swift, with the property in the place of the value.

extension ClosedRange where Bound: OrderedQueryValue {
  /// The property is in the range, as `isBetween(_:and:)`.
  public func contains<Root>(_ path: ModelPath<Root, Bound>) -> ModelCondition<Root> {
    path >= lowerBound && path <= upperBound
  }
  /// The property is there and in the range.
  public func contains<Root>(_ path: ModelPath<Root, Bound?>) -> ModelCondition<Root> {
    path >= lowerBound && path <= upperBound
  }
}

extension Range where Bound: OrderedQueryValue {
  /// The property is in the range.
  public func contains<Root>(_ path: ModelPath<Root, Bound>) -> ModelCondition<Root> {
    path >= lowerBound && path < upperBound
  }
  /// The property is there and in the range.
  public func contains<Root>(_ path: ModelPath<Root, Bound?>) -> ModelCondition<Root> {
    path >= lowerBound && path < upperBound
  }
}

extension Sequence {
  /// The property is one of the values, as `isIn(_:)`.
  public func contains<Root>(_ path: ModelPath<Root, Element>) -> ModelCondition<Root> {
    path.isIn(self)
  }
}
