// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument

/// A change of one field of a document: an update operator.
///
/// ```swift
/// try films.update("alien", .increment("views"), .append("tags", "classic"), .remove("draft"))
/// try films.find("[stock] > 0").update(.multiply("price", by: 0.9))
/// ```
///
/// Changes are applied in order. docs/QUERY-SEMANTICS.md defines each for missing fields, null and values of other
/// types. An intermediate object that is missing is created; an element of an array is addressed by its index.
public struct FieldChange: Sendable, Hashable {
  package enum Operation: Sendable, Hashable {
    case set(DocumentValue)
    case setOnInsert(DocumentValue)
    case remove
    case rename(FieldPath)
    case increment(DocumentValue)
    case multiply(DocumentValue)
    case minimum(DocumentValue)
    case maximum(DocumentValue)
    /// Inserts elements before an index; `nil` is the end.
    case insert([DocumentValue], Int?)
    case addToSet([DocumentValue])
    case pull([DocumentValue])
    case pullMatching(Condition)
    case pop(ArrayEnd)
  }

  /// An end of an array.
  public enum ArrayEnd: String, Sendable, Hashable, CaseIterable {
    /// The beginning.
    case first
    /// The end.
    case last
  }

  /// The path of the field.
  public let path: FieldPath
  package let operation: Operation

  package init(_ path: FieldPath, _ operation: Operation) {
    self.path = path
    self.operation = operation
  }

  /// Sets the field to a value; `nil` is stored as null.
  public static func set(_ path: FieldPath, _ value: some DocumentValueConvertible) -> FieldChange {
    FieldChange(path, .set(value.documentValue))
  }
  /// Sets the field to a literal of values of several types.
  public static func set(_ path: FieldPath, _ value: DocumentValue) -> FieldChange {
    FieldChange(path, .set(value))
  }
  /// Sets the field if the update inserts the document (`upsert: true`); does nothing otherwise.
  public static func setOnInsert(
    _ path: FieldPath, _ value: some DocumentValueConvertible
  ) -> FieldChange { FieldChange(path, .setOnInsert(value.documentValue)) }

  /// Removes the field, or the element of an array.
  public static func remove(_ path: FieldPath) -> FieldChange { FieldChange(path, .remove) }

  /// Moves the value to another path, replacing a value there. Does nothing if the field is missing.
  public static func rename(_ path: FieldPath, to new: FieldPath) -> FieldChange {
    FieldChange(path, .rename(new))
  }

  /// Adds an integer to a number. A missing field becomes the amount.
  ///
  /// - Throws: When applied, ``StoreError/Code/typeMismatch`` if the value is not a number, null included;
  ///   ``StoreError/Code/valueNotStorable`` if the sum of two integers exceeds 64 bits.
  public static func increment(_ path: FieldPath, by amount: Int = 1) -> FieldChange {
    FieldChange(path, .increment(.int(Int64(amount))))
  }
  /// Adds a double to a number, which becomes a double. A missing field becomes the amount.
  public static func increment(_ path: FieldPath, by amount: Double) -> FieldChange {
    FieldChange(path, .increment(.double(amount)))
  }
  /// Adds a decimal to a number: exactly, unless that is a double, which stays one. A missing field becomes the amount.
  ///
  /// - Throws: When applied, also ``StoreError/Code/valueNotStorable`` if the sum has more than 34 digits.
  public static func increment(_ path: FieldPath, by amount: Decimal) -> FieldChange {
    FieldChange(path, .increment(amount.documentValue))
  }
  /// Multiplies a number by an integer. A missing field becomes 0.
  ///
  /// - Throws: As ``increment(_:by:)-(_,Int)``.
  public static func multiply(_ path: FieldPath, by factor: Int) -> FieldChange {
    FieldChange(path, .multiply(.int(Int64(factor))))
  }
  /// Multiplies a number by a double, and it becomes a double. A missing field becomes 0.0.
  public static func multiply(_ path: FieldPath, by factor: Double) -> FieldChange {
    FieldChange(path, .multiply(.double(factor)))
  }
  /// Multiplies a number by a decimal: exactly, unless that is a double, which stays one. A missing field becomes 0.
  ///
  /// - Throws: When applied, also ``StoreError/Code/valueNotStorable`` if the product has more than 34 digits.
  public static func multiply(_ path: FieldPath, by factor: Decimal) -> FieldChange {
    FieldChange(path, .multiply(factor.documentValue))
  }
  /// Sets the field to a value if that sorts before the present one, or if the field is missing.
  public static func min(_ path: FieldPath, _ value: some DocumentValueConvertible) -> FieldChange {
    FieldChange(path, .minimum(value.documentValue))
  }
  /// Sets the field to a value if that sorts after the present one, or if the field is missing.
  public static func max(_ path: FieldPath, _ value: some DocumentValueConvertible) -> FieldChange {
    FieldChange(path, .maximum(value.documentValue))
  }
}

// Changes of arrays. A missing field is an empty array.
extension FieldChange {
  /// Adds values at the end of an array.
  ///
  /// - Throws: When applied, ``StoreError/Code/typeMismatch`` if the value is not an array.
  public static func append(
    _ path: FieldPath, _ values: any DocumentValueConvertible...
  ) -> FieldChange { FieldChange(path, .insert(values.map(\.documentValue), nil)) }
  /// Adds values at the beginning of an array, in the given order.
  ///
  /// - Throws: As ``append(_:_:)``.
  public static func prepend(
    _ path: FieldPath, _ values: any DocumentValueConvertible...
  ) -> FieldChange { FieldChange(path, .insert(values.map(\.documentValue), 0)) }
  /// Inserts values before the element with an index, or at the end if there are fewer elements.
  ///
  /// - Throws: As ``append(_:_:)``; ``StoreError/Code/invalidArgument`` if the index is negative.
  public static func insert(
    _ path: FieldPath, _ values: any DocumentValueConvertible..., at index: Int
  ) -> FieldChange { FieldChange(path, .insert(values.map(\.documentValue), index)) }
  /// Adds those values at the end of an array that equal no element; 1 equals 1.0.
  ///
  /// - Throws: As ``append(_:_:)``.
  public static func addToSet(
    _ path: FieldPath, _ values: any DocumentValueConvertible...
  ) -> FieldChange { FieldChange(path, .addToSet(values.map(\.documentValue))) }

  /// Removes the elements of an array that equal one of the values.
  ///
  /// - Throws: As ``append(_:_:)``.
  public static func pull(
    _ path: FieldPath, _ values: any DocumentValueConvertible...
  ) -> FieldChange { FieldChange(path, .pull(values.map(\.documentValue))) }
  /// Removes the elements of an array that satisfy a condition, whose fields are those of the element;
  /// `Field(.element)` is the element itself.
  ///
  /// ```swift
  /// try films.update("alien", .pull("cast", where: Field("role") == "extra" && Field("age") > 30))
  /// ```
  ///
  /// - Throws: As ``append(_:_:)``, and the errors of the condition.
  public static func pull(_ path: FieldPath, where condition: Condition) -> FieldChange {
    FieldChange(path, .pullMatching(condition))
  }
  /// Removes the first or the last element of an array.
  ///
  /// - Throws: As ``append(_:_:)``.
  public static func pop(_ path: FieldPath, _ end: ArrayEnd = .last) -> FieldChange {
    FieldChange(path, .pop(end))
  }
}
