// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument

/// A property value that conditions compare as a whole: it is stored as one number, string,
/// Boolean, date, URL or binary value.
public protocol QueryValue: FieldCodable {}

extension String: QueryValue {}
extension Bool: QueryValue {}
extension Double: QueryValue {}
extension Float: QueryValue {}
extension Int: QueryValue {}
extension Int8: QueryValue {}
extension Int16: QueryValue {}
extension Int32: QueryValue {}
extension Int64: QueryValue {}
extension UInt: QueryValue {}
extension UInt8: QueryValue {}
extension UInt16: QueryValue {}
extension UInt32: QueryValue {}
extension UInt64: QueryValue {}
extension Date: QueryValue {}
extension Data: QueryValue {}
extension URL: QueryValue {}
extension UUID: QueryValue {}
extension Decimal: QueryValue {}
extension Duration: QueryValue {}
extension DocumentValue: QueryValue {}
extension Optional: QueryValue where Wrapped: QueryValue {}

/// A value whose stored form has the order of its type, for comparisons, `min` and `max`.
public protocol OrderedQueryValue: QueryValue {
  /// The type itself, or the wrapped type of an optional.
  associatedtype Unwrapped: FieldCodable & Sendable = Self
}

extension String: OrderedQueryValue {}
extension Double: OrderedQueryValue {}
extension Float: OrderedQueryValue {}
extension Int: OrderedQueryValue {}
extension Int8: OrderedQueryValue {}
extension Int16: OrderedQueryValue {}
extension Int32: OrderedQueryValue {}
extension Int64: OrderedQueryValue {}
extension UInt: OrderedQueryValue {}
extension UInt8: OrderedQueryValue {}
extension UInt16: OrderedQueryValue {}
extension UInt32: OrderedQueryValue {}
extension UInt64: OrderedQueryValue {}
extension Decimal: OrderedQueryValue {}
extension Duration: OrderedQueryValue {}
extension Date: OrderedQueryValue {}
extension DocumentValue: OrderedQueryValue {}
extension Optional: OrderedQueryValue where Wrapped: OrderedQueryValue {
  /// The unwrapped type of the wrapped type.
  public typealias Unwrapped = Wrapped.Unwrapped
}

/// A numeric type, an optional number, or a collection of numbers, for `sum` and `average`.
public protocol NumericQueryValue: SendableMetatype {
  /// The number type itself, or the type of the numbers in an optional or list.
  associatedtype Number: FieldCodable & Sendable = Self
}

extension Double: NumericQueryValue {}
extension Float: NumericQueryValue {}
extension Int: NumericQueryValue {}
extension Int8: NumericQueryValue {}
extension Int16: NumericQueryValue {}
extension Int32: NumericQueryValue {}
extension Int64: NumericQueryValue {}
extension UInt: NumericQueryValue {}
extension UInt8: NumericQueryValue {}
extension UInt16: NumericQueryValue {}
extension UInt32: NumericQueryValue {}
extension UInt64: NumericQueryValue {}
extension Decimal: NumericQueryValue {}
extension Duration: NumericQueryValue {}
extension Optional: NumericQueryValue where Wrapped: NumericQueryValue {
  /// The number type of the wrapped type.
  public typealias Number = Wrapped.Number
}
extension Array: NumericQueryValue where Element: NumericQueryValue {
  /// The number type of the elements.
  public typealias Number = Element.Number
}
extension Set: NumericQueryValue where Element: NumericQueryValue {
  /// The number type of the elements.
  public typealias Number = Element.Number
}

/// An array or set, optional or not, whose elements are matched individually.
public protocol ListQueryValue: SendableMetatype {
  /// The type of the elements.
  associatedtype ListElement
}
extension Array: ListQueryValue { public typealias ListElement = Element }
extension Set: ListQueryValue { public typealias ListElement = Element }
extension Optional: ListQueryValue where Wrapped: ListQueryValue {
  /// The element type of the wrapped type.
  public typealias ListElement = Wrapped.ListElement
}
