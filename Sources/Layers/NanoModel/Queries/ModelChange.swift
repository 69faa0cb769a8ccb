// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery

/// A change of a property of a stored document, which leaves its other fields unchanged.
///
/// ```swift
/// try people.update("ada", .set(\.age, 37), .remove(\.nickname))
/// try films.find(\.year < 1980).update(.increment(\.views, by: 1), .append(\.tags, "classic"))
/// ```
public struct ModelChange<M: Model>: Sendable {
  private let location: Result<PropertyLocation, StoreError>
  private let operation: Result<FieldChange.Operation, StoreError>
  /// The integers that the property can hold.
  var limits: ClosedRange<Int64>?
  /// Whether the property holds a `Float`, to which the result of an operator is rounded, as in Swift.
  var isFloat = false

  init(
    _ keyPath: any PartialKeyPath<M> & Sendable,
    _ operation: Result<FieldChange.Operation, StoreError>
  ) {
    location = Result { () throws(StoreError) in try M.location(of: keyPath, isChanged: true) }
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

  /// Sets a property to a value if the update inserts the document (`upsert: true`); does nothing otherwise.
  public static func setOnInsert<Value>(
    _ keyPath: any WritableKeyPath<M, Value> & Sendable, _ value: Value
  ) -> ModelChange { ModelChange(keyPath, stored(value).map { .setOnInsert($0) }) }

  static func stored<Value>(_ value: Value) -> Result<DocumentValue, StoreError> {
    Result { () throws(StoreError) in try StoredValues.stored(value) }
  }

  /// Whether it changes a property of a nested value.
  var isNested: Bool { (try? location.get().steps.count > 1) ?? false }

  /// Whether the result depends on the property's value.
  var usesPresentValue: Bool {
    switch try? operation.get() {
    case .set, .setOnInsert, .remove, nil: false
    default: true
    }
  }

  /// The name of the outermost field that it changes.
  var fieldName: String? { try? location.get().path.components.first }

  /// Applies the change to the fields of a document.
  ///
  /// - Parameter isInsert: Whether the document is new.
  /// - Throws: ``StoreError/Code/typeMismatch`` if an intermediate value is not an object, and the errors of the
  ///   operator.
  func apply(to object: inout DocumentObject, isInsert: Bool = false) throws(StoreError) {
    let location = try location.get()
    guard !location.isKey else {
      throw StoreError(
        .invalidArgument, "The key of a document cannot be changed",
        [.hint: "delete it and insert the value under its new key"])
    }
    let operation = try operation.get()
    if case .setOnInsert = operation, !isInsert { return }
    for former in location.formerPaths { try object.set(nil, at: former) }
    let change = FieldChange(location.path, operation)
    var wasNull = false
    if usesPresentValue, location.isOptional {
      // In Swift, a stored null is a property without a value.
      try object.change(location.path) { (old) throws(StoreError) in
        wasNull = old?.isNull == true
        if wasNull { return nil }
        return old
      }
    }
    try change.apply(to: &object, isInsert: isInsert)
    if wasNull, location.missing != nil || location.hasComputedDefault {
      // An operator that leaves the field missing leaves nil, not the default.
      try object.change(location.path) { (new) throws(StoreError) in new ?? .null }
    }
    guard isFloat || limits != nil else { return }
    try object.change(location.path) { (result) throws(StoreError) in
      try converted(result, location)
    }
  }

  /// Returns the result of an operator as the type of the property represents it.
  private func converted(
    _ result: DocumentValue?, _ location: PropertyLocation
  ) throws(StoreError) -> DocumentValue? {
    if isFloat, case .double(let number)? = result { return .double(Double(Float(number))) }
    guard let limits, case .int(let number)? = result, !limits.contains(number) else {
      return result
    }
    throw StoreError(
      .valueNotStorable, "The result of an update does not fit the type of its property",
      [.field: location.path.description])
  }
}
