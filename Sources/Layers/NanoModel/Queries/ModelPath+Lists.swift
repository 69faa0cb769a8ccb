// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

extension ModelPath {
  /// Returns the condition that the list or set contains an element.
  ///
  /// For a list of lists, executing the query throws ``StoreError/Code/unsupported``.
  @_disfavoredOverload  // A relationship contains objects by their row IDs.
  public func contains(_ element: Value.ListElement) -> ModelCondition<Root>
  where Value: ListQueryValue {
    condition { (expression, location) throws(StoreError) in
      try location.checkElements(of: Value.self)
      guard let stored = try StoredValues.comparable(element) else { return .constant(false) }
      guard stored.isNull else { return .comparison(expression, .equal, .value(stored)) }
      guard case .field(let path) = expression else { return .constant(false) }
      try location.checkIsSingle()
      return .all([.isNull(expression), .not(.hasNoList(path))])
    }
  }

  /// Returns the condition that a single element satisfies the whole condition.
  public func element<Element: Model>(
    _ condition: (ModelProperties<Element>) -> ModelCondition<Element>
  ) -> ModelCondition<Root> where Value == [Element] {
    var properties = ModelProperties<Element>()
    properties.areNested = true
    let inner = condition(properties)
    if let failure = inner.failure { return ModelCondition(failure: failure) }
    return self.condition { (expression, location) throws(StoreError) in
      try location.checkHolds(Element.self)
      guard case .field(let path) = expression else { return .constant(false) }
      return .element(path, inner.condition)
    }
  }
}

extension PropertyLocation {
  /// Returns the condition that an optional property is nil.
  ///
  /// - Parameter type: The wrapped type.
  func isNil(
    _ expression: QueryExpression, _ type: Any.Type
  ) throws(StoreError) -> Condition {
    // A list that contains null is not null.
    guard isList, case .field(let path) = expression,
      case .list(let element) = StoredType(type).kind,
      element.isOptional || !element.kind.isSingle
    else { return .isNull(expression) }
    if isInList, element.isTakenForValue { return .isNull(expression) }
    try checkIsSingle()
    return .hasNoList(path)
  }

  /// Returns the condition that a collection is empty.
  ///
  /// - Parameter isEmpty: The condition that the value is empty, or is a list with an empty element.
  func hasNoElements(
    _ isEmpty: Condition, _ expression: QueryExpression, _ type: Any.Type
  ) throws(StoreError) -> Condition {
    guard isList, case .field(let path) = expression,
      case .list(let element) = StoredType(type).kind, !element.kind.isSingle
    else { return isEmpty }
    if isInList, element.isTakenForValue { return isEmpty }
    try checkIsSingle()
    return .all([isEmpty, .not(.exists(path.appending(FieldPath(components: ["0"]))))])
  }

  /// Checks that the elements of a list are not lists themselves: a path also yields the elements of inner lists.
  ///
  /// - Throws: ``StoreError/Code/unsupported``.
  func checkElements(of type: Any.Type) throws(StoreError) {
    guard isList, let list = type as? any ListQueryValue.Type, list.hasListElements else { return }
    throw StoreError(
      .unsupported, "A query refers to the elements of a list of lists",
      [.field: "\(path)", .hint: "make the inner list a property of a nested model"])
  }

  /// Whether the property is one of the elements of a list.
  var isInList: Bool { steps.dropLast().contains(where: \.isList) }

  /// Checks that a document has a single list at this location. Two conditions could be satisfied by the lists of
  /// different elements.
  ///
  /// - Throws: ``StoreError/Code/unsupported``.
  fileprivate func checkIsSingle() throws(StoreError) {
    guard isInList else { return }
    throw StoreError(
      .unsupported, "A condition tests a list in the elements of another list",
      [.field: "\(path)", .hint: "write the condition with element { … } of the outer list"])
  }
}

extension ListQueryValue {
  /// Whether the elements are lists.
  fileprivate static var hasListElements: Bool { ListElement.self is any ListQueryValue.Type }
}

extension StoredType {
  /// Whether a value of unknown form is taken for neither null nor an array, since most types store an object.
  fileprivate var isTakenForValue: Bool {
    switch kind {
    case .dictionary, .other: !isOptional
    default: false
    }
  }
}

extension StoredType.Kind {
  /// Whether stored values are neither null nor arrays, and contain neither.
  fileprivate var isSingle: Bool {
    switch self {
    case .list, .dictionary, .other: false
    case .raw(let kind): kind.isSingle
    default: true
    }
  }
}
