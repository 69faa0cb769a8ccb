// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoQuery

// Changing the elements of arrays and sets. An optional without a value is an empty array.
extension ModelChange {
  /// Adds values at the end of an array.
  public static func append<Element>(
    _ keyPath: any WritableKeyPath<M, [Element]> & Sendable, _ values: Element...
  ) -> ModelChange { array(keyPath, values) { .insert($0, nil) } }
  /// Adds values at the end of an optional array.
  public static func append<Element>(
    _ keyPath: any WritableKeyPath<M, [Element]?> & Sendable, _ values: Element...
  ) -> ModelChange { array(keyPath, values) { .insert($0, nil) } }
  /// Adds values at the beginning of an array, in the given order.
  public static func prepend<Element>(
    _ keyPath: any WritableKeyPath<M, [Element]> & Sendable, _ values: Element...
  ) -> ModelChange { array(keyPath, values) { .insert($0, 0) } }
  /// Adds values at the beginning of an optional array, in the given order.
  public static func prepend<Element>(
    _ keyPath: any WritableKeyPath<M, [Element]?> & Sendable, _ values: Element...
  ) -> ModelChange { array(keyPath, values) { .insert($0, 0) } }
  /// Inserts values before the element with an index, or at the end if there are fewer elements.
  ///
  /// - Throws: When applied, ``StoreError/Code/invalidArgument`` if the index is negative.
  public static func insert<Element>(
    _ keyPath: any WritableKeyPath<M, [Element]> & Sendable, _ values: Element..., at index: Int
  ) -> ModelChange { array(keyPath, values) { .insert($0, index) } }
  /// Inserts values into an optional array, like the form for arrays.
  ///
  /// - Throws: When applied, ``StoreError/Code/invalidArgument`` if the index is negative.
  public static func insert<Element>(
    _ keyPath: any WritableKeyPath<M, [Element]?> & Sendable, _ values: Element..., at index: Int
  ) -> ModelChange { array(keyPath, values) { .insert($0, index) } }
  /// Adds those values to a set, or at the end of an array, that it does not contain.
  public static func addToSet<Values: Collection>(
    _ keyPath: any WritableKeyPath<M, Values> & Sendable, _ values: Values.Element...
  ) -> ModelChange { array(keyPath, values) { .addToSet($0) } }
  /// Adds those values to an optional set, or at the end of an optional array, that it does not contain.
  public static func addToSet<Values: Collection>(
    _ keyPath: any WritableKeyPath<M, Values?> & Sendable, _ values: Values.Element...
  ) -> ModelChange { array(keyPath, values) { .addToSet($0) } }

  /// Removes the elements of an array or a set that equal one of the values.
  public static func pull<Values: Collection>(
    _ keyPath: any WritableKeyPath<M, Values> & Sendable, _ values: Values.Element...
  ) -> ModelChange { array(keyPath, values) { .pull($0) } }
  /// Removes the elements of an optional array or set that equal one of the values.
  public static func pull<Values: Collection>(
    _ keyPath: any WritableKeyPath<M, Values?> & Sendable, _ values: Values.Element...
  ) -> ModelChange { array(keyPath, values) { .pull($0) } }
  /// Removes the elements of an array that satisfy a condition on their properties.
  ///
  /// ```swift
  /// try orders.update("1", .pull(\.items) { $0.quantity == 0 })
  /// ```
  public static func pull<Element: Model>(
    _ keyPath: any WritableKeyPath<M, [Element]> & Sendable,
    where condition: (ModelProperties<Element>) -> ModelCondition<Element>
  ) -> ModelChange {
    var properties = ModelProperties<Element>()
    properties.areNested = true
    let inner = condition(properties)
    if let failure = inner.failure { return ModelChange(keyPath, .failure(failure)) }
    let operation = FieldChange.Operation.pullMatching(inner.condition)
    do throws(StoreError) { try operation.validateCondition() } catch {
      return ModelChange(keyPath, .failure(error))
    }
    return ModelChange(keyPath, .success(operation))
  }
  /// Removes the first or the last element of an array.
  public static func pop<Element>(
    _ keyPath: any WritableKeyPath<M, [Element]> & Sendable,
    _ end: FieldChange.ArrayEnd = .last
  ) -> ModelChange { ModelChange(keyPath, .success(.pop(end))) }
  /// Removes the first or the last element of an optional array.
  public static func pop<Element>(
    _ keyPath: any WritableKeyPath<M, [Element]?> & Sendable,
    _ end: FieldChange.ArrayEnd = .last
  ) -> ModelChange { ModelChange(keyPath, .success(.pop(end))) }

  private static func array<Element>(
    _ keyPath: any PartialKeyPath<M> & Sendable, _ values: [Element],
    _ operation: ([DocumentValue]) -> FieldChange.Operation
  ) -> ModelChange {
    let stored = Result { () throws(StoreError) in
      var stored: [DocumentValue] = []
      for value in values { stored.append(try StoredValues.stored(value)) }
      return stored
    }
    return ModelChange(keyPath, stored.map(operation))
  }
}
