// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoQuery

extension ModelPath where Value: QueryValue {
  /// The property equals one of these values.
  public func isIn(_ values: some Sequence<Value>) -> ModelCondition<Root> {
    let values = Array(values)
    return condition { (expression, place) throws(StoreError) in
      var list: [QueryExpression] = []
      var hasNull = false
      for value in values {
        let stored = try QueryValues.stored(value, isKey: place.isKey)
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
  private func contains(_ stored: @autoclosure () throws(StoreError) -> DocumentValue)
    -> ModelCondition<Root>
  {
    let value = Result { () throws(StoreError) in try stored() }
    return condition { (expression, _) throws(StoreError) in
      .comparison(expression, .equal, .value(try value.get()))
    }
  }

  /// The list has this element.
  public func contains<Element: QueryValue>(_ element: Element) -> ModelCondition<Root>
  where Value == [Element] { contains(try element.storedValue) }
  /// The set has this element.
  public func contains<Element: QueryValue>(_ element: Element) -> ModelCondition<Root>
  where Value == Set<Element> { contains(try element.storedValue) }

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

extension ModelPath where Value: Collection & FieldValue {
  /// Whether a list, set, dictionary or text has no elements.
  public var isEmpty: ModelCondition<Root> {
    let empty: DocumentValue =
      switch Value.self {
      case is any ListOfElements.Type: .array([])
      case is String.Type: .string("")
      default: .object([:])
      }
    return condition { (expression, _) throws(StoreError) in
      .comparison(expression, .equal, .value(empty))
    }
  }
}
