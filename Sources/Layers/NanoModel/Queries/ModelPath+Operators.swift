// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

extension ModelPath where Value: QueryValue {
  /// Returns the condition of a comparison with a value. A nil property equals nil, and is neither
  /// less nor greater than any value.
  func compared(_ comparison: Comparison, _ value: Value) -> ModelCondition<Root> {
    condition { (expression, location) throws(StoreError) in
      guard location.isKey, comparison != .equal else {
        guard let stored = try StoredValues.comparable(value, isKey: location.isKey) else {
          return .constant(false)
        }
        guard !stored.isNull else {
          return comparison == .equal ? .isNull(expression) : .constant(false)
        }
        return Condition.ofNumber(
          expression, comparison, stored, location,
          isFloating: StoredType(Value.self).kind.isFloating)
      }
      let stored = try value.storedValue
      guard !stored.isNull else { return .constant(false) }
      // Keys are stored as text, in which "9" sorts after "10".
      if location.isIntegerKey {
        return .comparison(.cast(expression, .integer), comparison, .value(stored))
      }
      guard location.isTextKey else { throw .keyWithoutOrder }
      return .comparison(expression, comparison, .value(stored))
    }
  }
}

extension Condition {
  /// Returns the condition of a comparison with a value that is not NaN, which NaN does not satisfy: in the store, it is
  /// less than every number.
  fileprivate static func ofNumber(
    _ expression: QueryExpression, _ comparison: Comparison, _ value: DocumentValue,
    _ location: PropertyLocation, isFloating: @autoclosure () -> Bool
  ) -> Condition {
    let plain = Condition.comparison(expression, comparison, .value(value))
    guard comparison.interval == .upTo, isFloating() else { return plain }
    guard location.isInList, case .field(let path) = expression else {
      return .all([plain, .isNumber(expression)])
    }
    let element = QueryExpression.field(.element)
    return .element(
      path, .all([.comparison(element, comparison, .value(value)), .isNumber(element)]))
  }
}

extension StoreError {
  static var keyWithoutOrder: StoreError {
    StoreError(
      .unsupported, "Keys of this type have no sort order in the store",
      [.hint: "store the value to compare or sort by in a separate property"])
  }
}

/// Returns the condition that the property equals a value; nil equals nil.
public func == <Root, Value: QueryValue>(
  path: ModelPath<Root, Value>, value: Value
) -> ModelCondition<Root> { path.compared(.equal, value) }
/// Returns the exact negation of `==`: nil differs from every value.
public func != <Root, Value: QueryValue>(
  path: ModelPath<Root, Value>, value: Value
) -> ModelCondition<Root> { !path.compared(.equal, value) }
/// Returns the condition that the property exists and is less than a value.
public func < <Root, Value: OrderedQueryValue>(
  path: ModelPath<Root, Value>, value: Value
) -> ModelCondition<Root> { path.compared(.less, value) }
/// Returns the condition that the property exists and is less than or equal to a value.
public func <= <Root, Value: OrderedQueryValue>(
  path: ModelPath<Root, Value>, value: Value
) -> ModelCondition<Root> { path.compared(.lessOrEqual, value) }
/// Returns the condition that the property exists and is greater than a value.
public func > <Root, Value: OrderedQueryValue>(
  path: ModelPath<Root, Value>, value: Value
) -> ModelCondition<Root> { path.compared(.greater, value) }
/// Returns the condition that the property exists and is greater than or equal to a value.
public func >= <Root, Value: OrderedQueryValue>(
  path: ModelPath<Root, Value>, value: Value
) -> ModelCondition<Root> { path.compared(.greaterOrEqual, value) }

// Enums and other types with raw values, including those that are not query values themselves.

extension ModelPath where Value: RawRepresentable, Value.RawValue: QueryValue {
  var rawPath: ModelPath<Root, Value.RawValue> { ModelPath<Root, Value.RawValue>(location) }
}
extension ModelPath {
  func optionalRawPath<Wrapped: RawRepresentable>() -> ModelPath<Root, Wrapped.RawValue?>
  where Value == Wrapped? { ModelPath<Root, Wrapped.RawValue?>(location) }
}

/// Returns the condition that the property equals a value; nil equals nil.
@_disfavoredOverload
public func == <Root, Value: RawRepresentable>(
  path: ModelPath<Root, Value>, value: Value
) -> ModelCondition<Root> where Value.RawValue: QueryValue { path.rawPath == value.rawValue }
/// Returns the exact negation of `==`: nil differs from every value.
@_disfavoredOverload
public func != <Root, Value: RawRepresentable>(
  path: ModelPath<Root, Value>, value: Value
) -> ModelCondition<Root> where Value.RawValue: QueryValue { path.rawPath != value.rawValue }
/// Returns the condition that the property equals a value; nil equals nil.
@_disfavoredOverload
public func == <Root, Value: RawRepresentable>(
  path: ModelPath<Root, Value?>, value: Value?
) -> ModelCondition<Root> where Value.RawValue: QueryValue {
  path.optionalRawPath() == value?.rawValue
}
/// Returns the exact negation of `==`: nil differs from every value.
@_disfavoredOverload
public func != <Root, Value: RawRepresentable>(
  path: ModelPath<Root, Value?>, value: Value?
) -> ModelCondition<Root> where Value.RawValue: QueryValue {
  path.optionalRawPath() != value?.rawValue
}

// Key paths, as in `\.lastName == "Doe"`.

/// Returns the condition that the property equals a value; nil equals nil.
public func == <Root: Model, Value: QueryValue>(
  keyPath: any KeyPath<Root, Value> & Sendable, value: Value
) -> ModelCondition<Root> { ModelPath(keyPath) == value }
/// Returns the exact negation of `==`: nil differs from every value.
public func != <Root: Model, Value: QueryValue>(
  keyPath: any KeyPath<Root, Value> & Sendable, value: Value
) -> ModelCondition<Root> { ModelPath(keyPath) != value }
/// Returns the condition that the property exists and is less than a value.
public func < <Root: Model, Value: OrderedQueryValue>(
  keyPath: any KeyPath<Root, Value> & Sendable, value: Value
) -> ModelCondition<Root> { ModelPath(keyPath) < value }
/// Returns the condition that the property exists and is less than or equal to a value.
public func <= <Root: Model, Value: OrderedQueryValue>(
  keyPath: any KeyPath<Root, Value> & Sendable, value: Value
) -> ModelCondition<Root> { ModelPath(keyPath) <= value }
/// Returns the condition that the property exists and is greater than a value.
public func > <Root: Model, Value: OrderedQueryValue>(
  keyPath: any KeyPath<Root, Value> & Sendable, value: Value
) -> ModelCondition<Root> { ModelPath(keyPath) > value }
/// Returns the condition that the property exists and is greater than or equal to a value.
public func >= <Root: Model, Value: OrderedQueryValue>(
  keyPath: any KeyPath<Root, Value> & Sendable, value: Value
) -> ModelCondition<Root> { ModelPath(keyPath) >= value }
/// Returns the condition that the property equals a value; nil equals nil.
@_disfavoredOverload
public func == <Root: Model, Value: RawRepresentable>(
  keyPath: any KeyPath<Root, Value> & Sendable, value: Value
) -> ModelCondition<Root> where Value.RawValue: QueryValue { ModelPath(keyPath) == value }
/// Returns the exact negation of `==`: nil differs from every value.
@_disfavoredOverload
public func != <Root: Model, Value: RawRepresentable>(
  keyPath: any KeyPath<Root, Value> & Sendable, value: Value
) -> ModelCondition<Root> where Value.RawValue: QueryValue { ModelPath(keyPath) != value }
/// Returns the condition that the property equals a value; nil equals nil.
@_disfavoredOverload
public func == <Root: Model, Value: RawRepresentable>(
  keyPath: any KeyPath<Root, Value?> & Sendable, value: Value?
) -> ModelCondition<Root> where Value.RawValue: QueryValue { ModelPath(keyPath) == value }
/// Returns the exact negation of `==`: nil differs from every value.
@_disfavoredOverload
public func != <Root: Model, Value: RawRepresentable>(
  keyPath: any KeyPath<Root, Value?> & Sendable, value: Value?
) -> ModelCondition<Root> where Value.RawValue: QueryValue { ModelPath(keyPath) != value }

// Comparisons of any optional with `nil`, including optionals of types that cannot be compared
// otherwise.

/// Returns the condition that the property is nil.
@_disfavoredOverload
public func == <Root, Value>(
  path: ModelPath<Root, Value?>, value: _OptionalNilComparisonType
) -> ModelCondition<Root> {
  path.condition { (expression, location) throws(StoreError) in
    try location.isNil(expression, Value.self)
  }
}
/// Returns the condition that the property is not nil.
@_disfavoredOverload
public func != <Root, Value>(
  path: ModelPath<Root, Value?>, value: _OptionalNilComparisonType
) -> ModelCondition<Root> { !(path == value) }
/// Returns the condition that the property is nil.
@_disfavoredOverload
public func == <Root: Model, Value>(
  keyPath: any KeyPath<Root, Value?> & Sendable, value: _OptionalNilComparisonType
) -> ModelCondition<Root> { ModelPath(keyPath) == value }
/// Returns the condition that the property is not nil.
@_disfavoredOverload
public func != <Root: Model, Value>(
  keyPath: any KeyPath<Root, Value?> & Sendable, value: _OptionalNilComparisonType
) -> ModelCondition<Root> { ModelPath(keyPath) != value }

// Key paths into a dictionary, as in `\.readings["temperature"] > 30`. A subscript argument cannot
// be read from a key path, so these are key paths of `ModelProperties`, whose subscript creates a
// property for the name.

/// A key path through the properties of a model, as the compiler infers it for
/// `\.readings["temperature"]`.
public typealias PropertyKeyPath<Root: Model, Value> = KeyPath<
  ModelProperties<Root>, ModelPath<Root, Value>
>

/// Returns the condition that the dictionary's entry equals a value.
@_disfavoredOverload
public func == <Root: Model, Value: RawRepresentable>(
  keyPath: PropertyKeyPath<Root, Value?>, value: Value
) -> ModelCondition<Root> where Value.RawValue: QueryValue {
  ModelProperties<Root>()[keyPath: keyPath] == value
}
/// Returns the exact negation of `==`: a missing entry differs from every value.
@_disfavoredOverload
public func != <Root: Model, Value: RawRepresentable>(
  keyPath: PropertyKeyPath<Root, Value?>, value: Value
) -> ModelCondition<Root> where Value.RawValue: QueryValue {
  ModelProperties<Root>()[keyPath: keyPath] != value
}
/// Returns the condition that the dictionary's entry equals a value.
public func == <Root: Model, Value: QueryValue>(
  keyPath: PropertyKeyPath<Root, Value?>, value: Value
) -> ModelCondition<Root> { ModelProperties<Root>()[keyPath: keyPath] == value }
/// Returns the exact negation of `==`: a missing entry differs from every value.
public func != <Root: Model, Value: QueryValue>(
  keyPath: PropertyKeyPath<Root, Value?>, value: Value
) -> ModelCondition<Root> { ModelProperties<Root>()[keyPath: keyPath] != value }
/// Returns the condition that the entry exists and is less than a value.
public func < <Root: Model, Value: OrderedQueryValue>(
  keyPath: PropertyKeyPath<Root, Value?>, value: Value
) -> ModelCondition<Root> { ModelProperties<Root>()[keyPath: keyPath] < value }
/// Returns the condition that the entry exists and is less than or equal to a value.
public func <= <Root: Model, Value: OrderedQueryValue>(
  keyPath: PropertyKeyPath<Root, Value?>, value: Value
) -> ModelCondition<Root> { ModelProperties<Root>()[keyPath: keyPath] <= value }
/// Returns the condition that the entry exists and is greater than a value.
public func > <Root: Model, Value: OrderedQueryValue>(
  keyPath: PropertyKeyPath<Root, Value?>, value: Value
) -> ModelCondition<Root> { ModelProperties<Root>()[keyPath: keyPath] > value }
/// Returns the condition that the entry exists and is greater than or equal to a value.
public func >= <Root: Model, Value: OrderedQueryValue>(
  keyPath: PropertyKeyPath<Root, Value?>, value: Value
) -> ModelCondition<Root> { ModelProperties<Root>()[keyPath: keyPath] >= value }
