// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

extension ModelPath where Value: QueryValue {
  /// How the property stands to a value. An optional without a value equals nil, and is neither less nor
  /// greater than anything.
  func compared(_ comparison: Comparison, _ value: Value) -> ModelCondition<Root> {
    condition { (expression, place) throws(StoreError) in
      let stored = try StoredValues.stored(value, isKey: place.isKey)
      guard !stored.isNull else {
        return comparison == .equal ? .isNull(expression) : .constant(false)
      }
      guard place.isKey, comparison != .equal else {
        return .comparison(expression, comparison, .value(stored))
      }
      // Keys are texts, and "9" comes behind "10".
      if place.isIntegerKey {
        return .comparison(
          .cast(expression, .integer), comparison, .value(try value.storedValue))
      }
      guard place.isTextKey else { throw .unorderedKey }
      return .comparison(expression, comparison, .value(stored))
    }
  }
}

extension StoreError {
  static var unorderedKey: StoreError {
    StoreError(
      .unsupported, "Keys of this type have no order in the store",
      [.hint: "keep what documents are to be compared or sorted by in a property of its own"])
  }
}

/// The property equals a value; an optional without one equals nil.
public func == <Root, Value: QueryValue>(
  path: ModelPath<Root, Value>, value: Value
) -> ModelCondition<Root> { path.compared(.equal, value) }
/// The exact opposite of `==`: an optional without a value differs from every value.
public func != <Root, Value: QueryValue>(
  path: ModelPath<Root, Value>, value: Value
) -> ModelCondition<Root> { !path.compared(.equal, value) }
/// The property is there and less than a value.
public func < <Root, Value: OrderedQueryValue>(
  path: ModelPath<Root, Value>, value: Value
) -> ModelCondition<Root> { path.compared(.less, value) }
/// The property is there and at most a value.
public func <= <Root, Value: OrderedQueryValue>(
  path: ModelPath<Root, Value>, value: Value
) -> ModelCondition<Root> { path.compared(.lessOrEqual, value) }
/// The property is there and greater than a value.
public func > <Root, Value: OrderedQueryValue>(
  path: ModelPath<Root, Value>, value: Value
) -> ModelCondition<Root> { path.compared(.greater, value) }
/// The property is there and at least a value.
public func >= <Root, Value: OrderedQueryValue>(
  path: ModelPath<Root, Value>, value: Value
) -> ModelCondition<Root> { path.compared(.greaterOrEqual, value) }

// Enums and other types with raw values, also those that are no values of queries by themselves.

extension ModelPath where Value: RawRepresentable, Value.RawValue: QueryValue {
  var rawPath: ModelPath<Root, Value.RawValue> { ModelPath<Root, Value.RawValue>(place) }
}
extension ModelPath {
  func optionalRawPath<Wrapped: RawRepresentable>() -> ModelPath<Root, Wrapped.RawValue?>
  where Value == Wrapped? { ModelPath<Root, Wrapped.RawValue?>(place) }
}

/// The property equals a value; an optional without one equals nil.
@_disfavoredOverload
public func == <Root, Value: RawRepresentable>(
  path: ModelPath<Root, Value>, value: Value
) -> ModelCondition<Root> where Value.RawValue: QueryValue { path.rawPath == value.rawValue }
/// The exact opposite of `==`: an optional without a value differs from every value.
@_disfavoredOverload
public func != <Root, Value: RawRepresentable>(
  path: ModelPath<Root, Value>, value: Value
) -> ModelCondition<Root> where Value.RawValue: QueryValue { path.rawPath != value.rawValue }
/// The property equals a value; an optional without one equals nil.
@_disfavoredOverload
public func == <Root, Value: RawRepresentable>(
  path: ModelPath<Root, Value?>, value: Value?
) -> ModelCondition<Root> where Value.RawValue: QueryValue {
  path.optionalRawPath() == value?.rawValue
}
/// The exact opposite of `==`: an optional without a value differs from every value.
@_disfavoredOverload
public func != <Root, Value: RawRepresentable>(
  path: ModelPath<Root, Value?>, value: Value?
) -> ModelCondition<Root> where Value.RawValue: QueryValue {
  path.optionalRawPath() != value?.rawValue
}

// Key paths, as in `\.lastName == "Doe"`.

/// The property equals a value; an optional without one equals nil.
public func == <Root: Model, Value: QueryValue>(
  keyPath: any KeyPath<Root, Value> & Sendable, value: Value
) -> ModelCondition<Root> { ModelPath(keyPath) == value }
/// The exact opposite of `==`: an optional without a value differs from every value.
public func != <Root: Model, Value: QueryValue>(
  keyPath: any KeyPath<Root, Value> & Sendable, value: Value
) -> ModelCondition<Root> { ModelPath(keyPath) != value }
/// The property is there and less than a value.
public func < <Root: Model, Value: OrderedQueryValue>(
  keyPath: any KeyPath<Root, Value> & Sendable, value: Value
) -> ModelCondition<Root> { ModelPath(keyPath) < value }
/// The property is there and at most a value.
public func <= <Root: Model, Value: OrderedQueryValue>(
  keyPath: any KeyPath<Root, Value> & Sendable, value: Value
) -> ModelCondition<Root> { ModelPath(keyPath) <= value }
/// The property is there and greater than a value.
public func > <Root: Model, Value: OrderedQueryValue>(
  keyPath: any KeyPath<Root, Value> & Sendable, value: Value
) -> ModelCondition<Root> { ModelPath(keyPath) > value }
/// The property is there and at least a value.
public func >= <Root: Model, Value: OrderedQueryValue>(
  keyPath: any KeyPath<Root, Value> & Sendable, value: Value
) -> ModelCondition<Root> { ModelPath(keyPath) >= value }
/// The property equals a value; an optional without one equals nil.
@_disfavoredOverload
public func == <Root: Model, Value: RawRepresentable>(
  keyPath: any KeyPath<Root, Value> & Sendable, value: Value
) -> ModelCondition<Root> where Value.RawValue: QueryValue { ModelPath(keyPath) == value }
/// The exact opposite of `==`: an optional without a value differs from every value.
@_disfavoredOverload
public func != <Root: Model, Value: RawRepresentable>(
  keyPath: any KeyPath<Root, Value> & Sendable, value: Value
) -> ModelCondition<Root> where Value.RawValue: QueryValue { ModelPath(keyPath) != value }
/// The property equals a value; an optional without one equals nil.
@_disfavoredOverload
public func == <Root: Model, Value: RawRepresentable>(
  keyPath: any KeyPath<Root, Value?> & Sendable, value: Value?
) -> ModelCondition<Root> where Value.RawValue: QueryValue { ModelPath(keyPath) == value }
/// The exact opposite of `==`: an optional without a value differs from every value.
@_disfavoredOverload
public func != <Root: Model, Value: RawRepresentable>(
  keyPath: any KeyPath<Root, Value?> & Sendable, value: Value?
) -> ModelCondition<Root> where Value.RawValue: QueryValue { ModelPath(keyPath) != value }

// `== nil` of any optional, also one whose values are not compared.

/// There is no value.
@_disfavoredOverload
public func == <Root, Value>(
  path: ModelPath<Root, Value?>, value: _OptionalNilComparisonType
) -> ModelCondition<Root> {
  path.condition { (expression, _) throws(StoreError) in .isNull(expression) }
}
/// There is a value.
@_disfavoredOverload
public func != <Root, Value>(
  path: ModelPath<Root, Value?>, value: _OptionalNilComparisonType
) -> ModelCondition<Root> { !(path == value) }
/// There is no value.
@_disfavoredOverload
public func == <Root: Model, Value>(
  keyPath: any KeyPath<Root, Value?> & Sendable, value: _OptionalNilComparisonType
) -> ModelCondition<Root> { ModelPath(keyPath) == value }
/// There is a value.
@_disfavoredOverload
public func != <Root: Model, Value>(
  keyPath: any KeyPath<Root, Value?> & Sendable, value: _OptionalNilComparisonType
) -> ModelCondition<Root> { ModelPath(keyPath) != value }

// Key paths into a dictionary, as in `\.readings["temperature"] > 30`. The name in a key path cannot be read back from
// it, so the key path is one of `ModelProperties`, which makes a property of the name.

/// A key path that leads through the properties of a model, as the compiler makes one for `\.readings["temperature"]`.
public typealias PropertyKeyPath<Root: Model, Value> = KeyPath<
  ModelProperties<Root>, ModelPath<Root, Value>
>

/// The value under the name equals this one.
public func == <Root: Model, Value: QueryValue>(
  keyPath: PropertyKeyPath<Root, Value?>, value: Value
) -> ModelCondition<Root> { ModelProperties<Root>()[keyPath: keyPath] == value }
/// The exact opposite of `==`: where there is no value, it differs from every value.
public func != <Root: Model, Value: QueryValue>(
  keyPath: PropertyKeyPath<Root, Value?>, value: Value
) -> ModelCondition<Root> { ModelProperties<Root>()[keyPath: keyPath] != value }
/// There is a value, and it is less.
public func < <Root: Model, Value: OrderedQueryValue>(
  keyPath: PropertyKeyPath<Root, Value?>, value: Value
) -> ModelCondition<Root> { ModelProperties<Root>()[keyPath: keyPath] < value }
/// There is a value, and it is at most this one.
public func <= <Root: Model, Value: OrderedQueryValue>(
  keyPath: PropertyKeyPath<Root, Value?>, value: Value
) -> ModelCondition<Root> { ModelProperties<Root>()[keyPath: keyPath] <= value }
/// There is a value, and it is greater.
public func > <Root: Model, Value: OrderedQueryValue>(
  keyPath: PropertyKeyPath<Root, Value?>, value: Value
) -> ModelCondition<Root> { ModelProperties<Root>()[keyPath: keyPath] > value }
/// There is a value, and it is at least this one.
public func >= <Root: Model, Value: OrderedQueryValue>(
  keyPath: PropertyKeyPath<Root, Value?>, value: Value
) -> ModelCondition<Root> { ModelProperties<Root>()[keyPath: keyPath] >= value }
