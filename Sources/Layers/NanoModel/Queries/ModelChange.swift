// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoQuery

/// A change of a property of a document, applied without decoding the document.
///
/// ```swift
/// try people.update("ada", .set(\.age, 37), .remove(\.nickname))
/// try films.find(\.year < 1980).update(.increment(\.views, by: 1), .append(\.tags, "classic"))
/// ```
public struct ModelChange<M: Model>: Sendable {
  private let location: Result<PropertyLocation, StoreError>
  private let operation: Result<FieldChange.Operation, StoreError>
  /// The integers that the property can hold.
  private var limits: ClosedRange<Int64>?

  private init(
    _ keyPath: any PartialKeyPath<M> & Sendable,
    _ operation: Result<FieldChange.Operation, StoreError>
  ) {
    location = Result { () throws(StoreError) in try M.location(of: keyPath) }
    self.operation = operation
  }

  /// Sets a property to a value.
  public static func set<Value>(
    _ keyPath: any WritableKeyPath<M, Value> & Sendable, _ value: Value
  ) -> ModelChange {
    ModelChange(keyPath, Self.stored(value).map { .set($0) })
  }

  /// Sets a property to nil.
  public static func remove<Value>(
    _ keyPath: any WritableKeyPath<M, Value?> & Sendable
  ) -> ModelChange {
    let change = ModelChange(keyPath, .success(.remove))
    // If a missing field would be read with a default, nil is stored as null.
    guard let location = try? change.location.get(),
      location.missing != nil || location.hasComputedDefault
    else { return change }
    return ModelChange(keyPath, .success(.set(.null)))
  }

  private static func stored<Value>(_ value: Value) -> Result<DocumentValue, StoreError> {
    Result { () throws(StoreError) in try StoredValues.stored(value) }
  }

  /// Whether it changes a property of a nested value.
  var isNested: Bool { (try? location.get().steps.count > 1) ?? false }

  /// Whether the result depends on the property's value.
  var usesPresentValue: Bool {
    switch try? operation.get() {
    case .set, .remove, nil: false
    default: true
    }
  }

  /// Applies the change to the fields of a document.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if an intermediate value is not an object, and the errors of the
  ///   operator.
  func apply(to object: inout DocumentObject) throws(StoreError) {
    let location = try location.get()
    guard !location.isKey else {
      throw StoreError(
        .invalidArgument, "The key of a document cannot be changed",
        [.hint: "delete it and insert the value under its new key"])
    }
    for former in location.formerPaths { try object.set(nil, at: former) }
    let change = FieldChange(location.path, try operation.get())
    try change.apply(to: &object)
    guard let limits else { return }
    try object.change(location.path) { (result) throws(StoreError) in
      guard case .int(let number)? = result, !limits.contains(number) else { return result }
      throw StoreError(
        .valueNotStorable, "The result of an update does not fit the type of its property",
        [.field: location.path.description])
    }
  }
}

// Operators on numbers.
extension ModelChange {
  /// Adds an amount to an integer; a property without a value becomes the amount.
  ///
  /// - Throws: When applied, ``StoreError/Code/valueNotStorable`` if the type of the property cannot hold the sum.
  public static func increment<Value: FixedWidthInteger>(
    _ keyPath: any WritableKeyPath<M, Value> & Sendable, by amount: Value = 1
  ) -> ModelChange { integer(keyPath, amount) { .increment($0) } }
  /// Adds an amount to an optional integer.
  public static func increment<Value: FixedWidthInteger>(
    _ keyPath: any WritableKeyPath<M, Value?> & Sendable, by amount: Value = 1
  ) -> ModelChange { integer(keyPath, amount) { .increment($0) } }
  /// Adds an amount to a floating-point number.
  public static func increment<Value: BinaryFloatingPoint>(
    _ keyPath: any WritableKeyPath<M, Value> & Sendable, by amount: Value
  ) -> ModelChange { ModelChange(keyPath, stored(amount).map { .increment($0) }) }

  /// Multiplies an integer by a factor.
  ///
  /// - Throws: As ``increment(_:by:)``.
  public static func multiply<Value: FixedWidthInteger>(
    _ keyPath: any WritableKeyPath<M, Value> & Sendable, by factor: Value
  ) -> ModelChange { integer(keyPath, factor) { .multiply($0) } }
  /// Multiplies a floating-point number by a factor.
  public static func multiply<Value: BinaryFloatingPoint>(
    _ keyPath: any WritableKeyPath<M, Value> & Sendable, by factor: Value
  ) -> ModelChange { ModelChange(keyPath, stored(factor).map { .multiply($0) }) }

  private static func integer<Value: FixedWidthInteger>(
    _ keyPath: any PartialKeyPath<M> & Sendable, _ operand: Value,
    _ operation: (DocumentValue) -> FieldChange.Operation
  ) -> ModelChange {
    var change = ModelChange(keyPath, stored(operand).map(operation))
    change.limits = Int64(clamping: Value.min)...Int64(clamping: Value.max)
    return change
  }

  /// Sets a property to a value if that is less than the present one.
  public static func min<Value: Comparable>(
    _ keyPath: any WritableKeyPath<M, Value> & Sendable, _ value: Value
  ) -> ModelChange { ModelChange(keyPath, stored(value).map { .minimum($0) }) }
  /// Sets a property to a value if that is greater than the present one.
  public static func max<Value: Comparable>(
    _ keyPath: any WritableKeyPath<M, Value> & Sendable, _ value: Value
  ) -> ModelChange { ModelChange(keyPath, stored(value).map { .maximum($0) }) }
}

// Operators on arrays.
extension ModelChange {
  /// Adds values at the end of an array.
  public static func append<Element>(
    _ keyPath: any WritableKeyPath<M, [Element]> & Sendable, _ values: Element...
  ) -> ModelChange { array(keyPath, values) { .insert($0, nil) } }
  /// Adds values at the beginning of an array, in the given order.
  public static func prepend<Element>(
    _ keyPath: any WritableKeyPath<M, [Element]> & Sendable, _ values: Element...
  ) -> ModelChange { array(keyPath, values) { .insert($0, 0) } }
  /// Adds those values to a set, or at the end of an array, that it does not contain.
  public static func addToSet<Values: Collection>(
    _ keyPath: any WritableKeyPath<M, Values> & Sendable, _ values: Values.Element...
  ) -> ModelChange { array(keyPath, values) { .addToSet($0) } }
  /// Removes the elements of an array or a set that equal one of the values.
  public static func pull<Values: Collection>(
    _ keyPath: any WritableKeyPath<M, Values> & Sendable, _ values: Values.Element...
  ) -> ModelChange { array(keyPath, values) { .pull($0) } }
  /// Removes the first or the last element of an array.
  public static func pop<Element>(
    _ keyPath: any WritableKeyPath<M, [Element]> & Sendable,
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
