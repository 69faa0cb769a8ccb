// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument

/// A field's value that conditions compare as a whole: what is stored as one number, text, boolean, date,
/// URL or data.
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
extension DocumentValue: QueryValue {}
extension Optional: QueryValue where Wrapped: QueryValue {}

/// A value whose stored form has the order that its type has, for `<` and its kin, `min` and `max`.
///
/// A `Decimal` is stored as text, "9" after "10", and is none: keep an amount as an integer of its smallest unit.
public protocol OrderedQueryValue: QueryValue {
  /// The type itself; of an optional, the type that it wraps.
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
extension Date: OrderedQueryValue {}
extension DocumentValue: OrderedQueryValue {}
extension Optional: OrderedQueryValue where Wrapped: OrderedQueryValue {
  public typealias Unwrapped = Wrapped.Unwrapped
}

/// A number that can be added up, an optional one, or several of them, for `sum` and `average`.
///
/// A `Decimal` is stored as text and is none: keep an amount as an integer of its smallest unit.
public protocol NumericQueryValue: SendableMetatype {
  /// The number itself; of optionals and lists, the type of the numbers in them.
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
extension Optional: NumericQueryValue where Wrapped: NumericQueryValue {
  public typealias Number = Wrapped.Number
}
extension Array: NumericQueryValue where Element: NumericQueryValue {
  public typealias Number = Element.Number
}
extension Set: NumericQueryValue where Element: NumericQueryValue {
  public typealias Number = Element.Number
}

/// A list or a set, or one that may be absent, each of whose elements is found.
public protocol ListQueryValue: SendableMetatype {
  /// The type of the elements.
  associatedtype ListElement
}
extension Array: ListQueryValue { public typealias ListElement = Element }
extension Set: ListQueryValue { public typealias ListElement = Element }
extension Optional: ListQueryValue where Wrapped: ListQueryValue {
  public typealias ListElement = Wrapped.ListElement
}
