// SPDX-License-Identifier: MIT

public import Foundation

/// A value of a document: the JSON types, decimals, dates, data and URLs.
///
/// A store returns every value exactly as it was saved: an integer stays an integer, `1.0` stays a
/// double, a date keeps its bits and an object its order. Strings are equal if their UTF-8 bytes are
/// equal, as in queries.
///
/// ```swift
/// let film: DocumentValue = ["title": "Alien", "year": 1979, "cast": ["Weaver", "Hurt"]]
/// film["cast.0"]        // "Weaver"
/// film["year"]?.int     // 1979
/// ```
public enum DocumentValue: Sendable, Hashable {
  /// A stored null, as opposed to a missing field.
  case null
  /// A Boolean value.
  case bool(Bool)
  /// A signed 64-bit integer.
  case int(Int64)
  /// A double, including NaN and the infinities.
  case double(Double)
  /// An exact decimal number, such as an amount of money.
  case decimal(DecimalValue)
  /// A string.
  case string(String)
  /// A date in the years 0 to 9999.
  case date(Date)
  /// Binary data.
  case data(Data)
  /// A URL, absolute or relative to a base URL.
  case url(URL)
  /// An array of values.
  case array([DocumentValue])
  /// An object: named values in order.
  case object(DocumentObject)
}

extension DocumentValue {
  /// The name of the value's type, as the function `typeof` of query text returns it.
  package var typeName: String {
    switch self {
    case .null: "null"
    case .bool: "boolean"
    case .int: "integer"
    case .double: "real"
    case .decimal: "decimal"
    case .string: "text"
    case .date: "date"
    case .data: "data"
    case .url: "url"
    case .array: "array"
    case .object: "object"
    }
  }
}

extension DocumentValue {
  /// Returns whether both values have the same type and content.
  ///
  /// An integer never equals a double, and strings are compared by their UTF-8 bytes. Conditions compare
  /// by value instead: there, `1` equals `1.0`.
  public static func == (a: DocumentValue, b: DocumentValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.int(let a), .int(let b)): a == b
    case (.double(let a), .double(let b)): a == b
    case (.decimal(let a), .decimal(let b)): a == b
    case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
    case (.date(let a), .date(let b)): a == b
    case (.data(let a), .data(let b)): a == b
    case (.url(let a), .url(let b)):
      a == b && a.relativeString.hasSameBytes(as: b.relativeString)
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    case (.null, _), (.bool, _), (.int, _), (.double, _), (.decimal, _), (.string, _), (.date, _),
      (.data, _), (.url, _), (.array, _), (.object, _):
      false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .int(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value)
    case .decimal(let value): hasher.combine(value)
    case .string(let value): hasher.combine(ExactName(value))
    case .date(let value): hasher.combine(value)
    case .data(let value): hasher.combine(value)
    case .url(let value): hasher.combine(value)
    case .array(let value): hasher.combine(value)
    case .object(let value): hasher.combine(value)
    }
  }
}

/// A type that can be stored as one document value.
public protocol DocumentValueConvertible {
  /// The document value for this instance.
  var documentValue: DocumentValue { get }
}

extension DocumentValue {
  /// Creates a decimal. NaN and numbers with more than 34 digits cannot be stored.
  public static func decimal(_ value: Decimal) -> DocumentValue { .decimal(DecimalValue(value)) }
  /// Whether the value is a stored null.
  @inlinable public var isNull: Bool { if case .null = self { true } else { false } }
  /// The Boolean value, or `nil` for a value of another type.
  @inlinable public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The integer, or `nil` for a value of another type (including a double) or one that does not fit in
  /// the platform's `Int`.
  @inlinable public var int: Int? { int64.flatMap { Int(exactly: $0) } }
  /// The integer, or `nil` for a value of another type, including a double.
  @inlinable public var int64: Int64? { if case .int(let value) = self { value } else { nil } }
  /// The number as a double: for an integer or a decimal, the nearest double; `nil` for a value of another type.
  @inlinable public var double: Double? {
    switch self {
    case .double(let value): value
    case .int(let value): Double(value)
    case .decimal(let value): value.nearestDouble
    default: nil
    }
  }
  /// The number as a `Decimal`, if it is a decimal or an integer; `nil` for a value of another type, including a
  /// double, which rarely equals a decimal.
  public var decimal: Decimal? {
    switch self {
    case .decimal(let value): value.decimal
    case .int(let value): Decimal(value)
    default: nil
    }
  }
  /// The string, or `nil` for a value of another type, including a URL.
  @inlinable public var string: String? { if case .string(let value) = self { value } else { nil } }
  /// The date, or `nil` for a value of another type.
  @inlinable public var date: Date? { if case .date(let value) = self { value } else { nil } }
  /// The data, or `nil` for a value of another type.
  @inlinable public var data: Data? { if case .data(let value) = self { value } else { nil } }
  /// The URL, or `nil` for a value of another type.
  @inlinable public var url: URL? { if case .url(let value) = self { value } else { nil } }
  /// The elements of the array, or `nil` for a value of another type.
  @inlinable public var array: [DocumentValue]? {
    if case .array(let value) = self { value } else { nil }
  }
  /// The fields of the object, or `nil` for a value of another type.
  @inlinable public var object: DocumentObject? {
    if case .object(let value) = self { value } else { nil }
  }
}

extension DocumentValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Creates a null.
  public init(nilLiteral: ()) { self = .null }
  /// Creates a Boolean value.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Creates an integer.
  public init(integerLiteral value: Int64) { self = .int(value) }
  /// Creates a double.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// Creates a string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Creates an array.
  public init(arrayLiteral elements: DocumentValue...) { self = .array(elements) }
  /// Creates an object. If a name occurs twice, the last value is used.
  public init(dictionaryLiteral elements: (String, DocumentValue)...) {
    self = .object(DocumentObject(elements))
  }
}

extension DocumentValue: DocumentValueConvertible {
  /// The value itself.
  public var documentValue: DocumentValue { self }
  /// Creates the document value of a convertible instance.
  public init(_ value: some DocumentValueConvertible) { self = value.documentValue }
}

extension String: DocumentValueConvertible {
  /// The string as a document value.
  public var documentValue: DocumentValue { .string(self) }
}
extension Substring: DocumentValueConvertible {
  /// The substring as a document value.
  public var documentValue: DocumentValue { .string(String(self)) }
}
extension Bool: DocumentValueConvertible {
  /// The Boolean value as a document value.
  public var documentValue: DocumentValue { .bool(self) }
}
extension Double: DocumentValueConvertible {
  /// The number as a document value.
  public var documentValue: DocumentValue { .double(self) }
}
extension Float: DocumentValueConvertible {
  /// The number, converted to a double.
  public var documentValue: DocumentValue { .double(Double(self)) }
}
extension Int: DocumentValueConvertible {
  /// The integer as a document value.
  public var documentValue: DocumentValue { .int(Int64(self)) }
}
extension Int8: DocumentValueConvertible {
  /// The integer as a document value.
  public var documentValue: DocumentValue { .int(Int64(self)) }
}
extension Int16: DocumentValueConvertible {
  /// The integer as a document value.
  public var documentValue: DocumentValue { .int(Int64(self)) }
}
extension Int32: DocumentValueConvertible {
  /// The integer as a document value.
  public var documentValue: DocumentValue { .int(Int64(self)) }
}
extension Int64: DocumentValueConvertible {
  /// The integer as a document value.
  public var documentValue: DocumentValue { .int(self) }
}
extension UInt8: DocumentValueConvertible {
  /// The integer as a document value.
  public var documentValue: DocumentValue { .int(Int64(self)) }
}
extension UInt16: DocumentValueConvertible {
  /// The integer as a document value.
  public var documentValue: DocumentValue { .int(Int64(self)) }
}
extension UInt32: DocumentValueConvertible {
  /// The integer as a document value.
  public var documentValue: DocumentValue { .int(Int64(self)) }
}
extension Decimal: DocumentValueConvertible {
  /// The number as a decimal. NaN and numbers with more than 34 digits cannot be stored.
  public var documentValue: DocumentValue { .decimal(DecimalValue(self)) }
}
extension Duration: DocumentValueConvertible {
  /// The seconds as a decimal, exact to the attosecond.
  public var documentValue: DocumentValue { .decimal(DecimalValue(secondsOf: self)) }
}
extension DecimalValue: DocumentValueConvertible {
  /// The decimal as a document value.
  public var documentValue: DocumentValue { .decimal(self) }
}
extension Date: DocumentValueConvertible {
  /// The date as a document value.
  public var documentValue: DocumentValue { .date(self) }
}
extension Data: DocumentValueConvertible {
  /// The data as a document value.
  public var documentValue: DocumentValue { .data(self) }
}
extension URL: DocumentValueConvertible {
  /// The URL as a document value.
  public var documentValue: DocumentValue { .url(self) }
}
extension UUID: DocumentValueConvertible {
  /// The UUID as an uppercase string.
  public var documentValue: DocumentValue { .string(uuidString) }
}
extension DocumentObject: DocumentValueConvertible {
  /// The object as a document value.
  public var documentValue: DocumentValue { .object(self) }
}
extension Optional: DocumentValueConvertible where Wrapped: DocumentValueConvertible {
  /// The document value of the wrapped instance, or `null` for `nil`.
  public var documentValue: DocumentValue { self?.documentValue ?? .null }
}
extension Array: DocumentValueConvertible where Element: DocumentValueConvertible {
  /// The array of its elements' document values.
  public var documentValue: DocumentValue { .array(map(\.documentValue)) }
}
