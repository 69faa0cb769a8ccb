// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument
import NanoQuery

// Adding to and multiplying numbers. A property without a value becomes the amount, or 0.
extension ModelChange {
  /// Adds an amount to an integer.
  ///
  /// - Throws: When applied, ``StoreError/Code/valueNotStorable`` if the type of the property cannot hold the sum.
  public static func increment<Value: FixedWidthInteger>(
    _ keyPath: any WritableKeyPath<M, Value> & Sendable, by amount: Value = 1
  ) -> ModelChange { integer(keyPath, amount) { .increment($0) } }
  /// Adds an amount to an optional integer; nil becomes the amount.
  public static func increment<Value: FixedWidthInteger>(
    _ keyPath: any WritableKeyPath<M, Value?> & Sendable, by amount: Value = 1
  ) -> ModelChange { integer(keyPath, amount) { .increment($0) } }
  /// Adds an amount to a floating-point number.
  public static func increment<Value: BinaryFloatingPoint>(
    _ keyPath: any WritableKeyPath<M, Value> & Sendable, by amount: Value
  ) -> ModelChange { floating(keyPath, amount) { .increment($0) } }
  /// Adds an amount to an optional floating-point number; nil becomes the amount.
  public static func increment<Value: BinaryFloatingPoint>(
    _ keyPath: any WritableKeyPath<M, Value?> & Sendable, by amount: Value
  ) -> ModelChange { floating(keyPath, amount) { .increment($0) } }
  /// Adds an amount to a decimal, exactly.
  ///
  /// ```swift
  /// try products.update("tea", .increment(\.price, by: Decimal(string: "0.01")!))
  /// ```
  ///
  /// - Throws: When applied, ``StoreError/Code/valueNotStorable`` if the sum has more than 34 digits.
  public static func increment(
    _ keyPath: any WritableKeyPath<M, Decimal> & Sendable, by amount: Decimal
  ) -> ModelChange { number(keyPath, amount) { .increment($0) } }
  /// Adds an amount to an optional decimal, exactly; nil becomes the amount.
  public static func increment(
    _ keyPath: any WritableKeyPath<M, Decimal?> & Sendable, by amount: Decimal
  ) -> ModelChange { number(keyPath, amount) { .increment($0) } }
  /// Adds an amount to a duration, exactly.
  ///
  /// - Throws: When applied, ``StoreError/Code/valueNotStorable`` if the sum has more than 34 digits of seconds.
  public static func increment(
    _ keyPath: any WritableKeyPath<M, Duration> & Sendable, by amount: Duration
  ) -> ModelChange { number(keyPath, amount) { .increment($0) } }
  /// Adds an amount to an optional duration, exactly; nil becomes the amount.
  public static func increment(
    _ keyPath: any WritableKeyPath<M, Duration?> & Sendable, by amount: Duration
  ) -> ModelChange { number(keyPath, amount) { .increment($0) } }

  /// Multiplies an integer by a factor.
  ///
  /// - Throws: When applied, ``StoreError/Code/valueNotStorable`` if the type of the property cannot hold the product.
  public static func multiply<Value: FixedWidthInteger>(
    _ keyPath: any WritableKeyPath<M, Value> & Sendable, by factor: Value
  ) -> ModelChange { integer(keyPath, factor) { .multiply($0) } }
  /// Multiplies an optional integer by a factor; nil becomes 0.
  public static func multiply<Value: FixedWidthInteger>(
    _ keyPath: any WritableKeyPath<M, Value?> & Sendable, by factor: Value
  ) -> ModelChange { integer(keyPath, factor) { .multiply($0) } }
  /// Multiplies a floating-point number by a factor.
  public static func multiply<Value: BinaryFloatingPoint>(
    _ keyPath: any WritableKeyPath<M, Value> & Sendable, by factor: Value
  ) -> ModelChange { floating(keyPath, factor) { .multiply($0) } }
  /// Multiplies an optional floating-point number by a factor; nil becomes 0.
  public static func multiply<Value: BinaryFloatingPoint>(
    _ keyPath: any WritableKeyPath<M, Value?> & Sendable, by factor: Value
  ) -> ModelChange { floating(keyPath, factor) { .multiply($0) } }
  /// Multiplies a decimal by a factor, exactly.
  ///
  /// - Throws: When applied, ``StoreError/Code/valueNotStorable`` if the product has more than 34 digits.
  public static func multiply(
    _ keyPath: any WritableKeyPath<M, Decimal> & Sendable, by factor: Decimal
  ) -> ModelChange { number(keyPath, factor) { .multiply($0) } }
  /// Multiplies an optional decimal by a factor, exactly; nil becomes 0.
  public static func multiply(
    _ keyPath: any WritableKeyPath<M, Decimal?> & Sendable, by factor: Decimal
  ) -> ModelChange { number(keyPath, factor) { .multiply($0) } }

  private static func number<Value>(
    _ keyPath: any PartialKeyPath<M> & Sendable, _ operand: Value,
    _ operation: (DocumentValue) -> FieldChange.Operation
  ) -> ModelChange { ModelChange(keyPath, stored(operand).map(operation)) }

  private static func floating<Value: BinaryFloatingPoint>(
    _ keyPath: any PartialKeyPath<M> & Sendable, _ operand: Value,
    _ operation: (DocumentValue) -> FieldChange.Operation
  ) -> ModelChange {
    var change = number(keyPath, operand, operation)
    change.isFloat = Value.self == Float.self
    return change
  }

  private static func integer<Value: FixedWidthInteger>(
    _ keyPath: any PartialKeyPath<M> & Sendable, _ operand: Value,
    _ operation: (DocumentValue) -> FieldChange.Operation
  ) -> ModelChange {
    var change = number(keyPath, operand, operation)
    change.limits = Int64(clamping: Value.min)...Int64(clamping: Value.max)
    return change
  }
}

// The smaller and the greater of two values, as the store orders them.
extension ModelChange {
  /// Sets a property to a value if that is less than the present one.
  public static func min<Value: Comparable & OrderedQueryValue>(
    _ keyPath: any WritableKeyPath<M, Value> & Sendable, _ value: Value
  ) -> ModelChange { number(keyPath, value) { .minimum($0) } }
  /// Sets an optional property to a value if that is less than the present one, or if there is none.
  public static func min<Value: Comparable & OrderedQueryValue>(
    _ keyPath: any WritableKeyPath<M, Value?> & Sendable, _ value: Value
  ) -> ModelChange { number(keyPath, value) { .minimum($0) } }
  /// Sets a property to a value if that is greater than the present one.
  public static func max<Value: Comparable & OrderedQueryValue>(
    _ keyPath: any WritableKeyPath<M, Value> & Sendable, _ value: Value
  ) -> ModelChange { number(keyPath, value) { .maximum($0) } }
  /// Sets an optional property to a value if that is greater than the present one, or if there is none.
  public static func max<Value: Comparable & OrderedQueryValue>(
    _ keyPath: any WritableKeyPath<M, Value?> & Sendable, _ value: Value
  ) -> ModelChange { number(keyPath, value) { .maximum($0) } }
}
