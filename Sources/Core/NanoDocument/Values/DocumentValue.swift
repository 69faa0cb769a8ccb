// SPDX-License-Identifier: MIT

public import Foundation

/// One value of a document: what JSON knows, and dates, data and URLs.
///
/// Every value comes back from a store exactly as it went in: an integer stays an integer, `1.0`
/// stays a double, a date keeps its bits, an object its order. Strings are equal if they have the
/// same UTF-8 bytes, as texts are in queries.
///
/// ```swift
/// let film: DocumentValue = ["title": "Alien", "year": 1979, "cast": ["Weaver", "Hurt"]]
/// film["cast.0"]        // "Weaver"
/// film["year"]?.int     // 1979
/// ```
public enum DocumentValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case int(Int64)
  /// Any double, NaN and the infinities included.
  case double(Double)
  case string(String)
  /// A moment between the years 0 and 9999.
  case date(Date)
  case data(Data)
  case url(URL)
  case array([DocumentValue])
  case object(DocumentObject)
}

extension DocumentValue {
  public static func == (a: DocumentValue, b: DocumentValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.int(let a), .int(let b)): a == b
    case (.double(let a), .double(let b)): a == b
    case (.string(let a), .string(let b)): a.isSame(as: b)
    case (.date(let a), .date(let b)): a == b
    case (.data(let a), .data(let b)): a == b
    case (.url(let a), .url(let b)):
      a == b && a.relativeString.isSame(as: b.relativeString)
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .int(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value)
    case .string(let value): hasher.combine(ExactName(value))
    case .date(let value): hasher.combine(value)
    case .data(let value): hasher.combine(value)
    case .url(let value): hasher.combine(value)
    case .array(let value): hasher.combine(value)
    case .object(let value): hasher.combine(value)
    }
  }
}

/// What can be stored as one value.
public protocol DocumentValueConvertible {
  /// The value that is stored.
  var documentValue: DocumentValue { get }
}

extension DocumentValue {
  /// Whether it is a stored null.
  @inlinable public var isNull: Bool { if case .null = self { true } else { false } }
  /// The boolean; nil for a value of another type.
  @inlinable public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The integer; nil for a value of another type, a double too, and for one that an `Int` of this machine cannot
  /// hold.
  @inlinable public var int: Int? { int64.flatMap { Int(exactly: $0) } }
  /// The integer; nil for a value of another type, a double too.
  @inlinable public var int64: Int64? { if case .int(let value) = self { value } else { nil } }
  /// The number as a double, whether it was stored as a double or as an integer.
  @inlinable public var double: Double? {
    switch self {
    case .double(let value): value
    case .int(let value): Double(value)
    default: nil
    }
  }
  /// The string; nil for a value of another type, a URL too.
  @inlinable public var string: String? { if case .string(let value) = self { value } else { nil } }
  /// The date; nil for a value of another type.
  @inlinable public var date: Date? { if case .date(let value) = self { value } else { nil } }
  /// The data; nil for a value of another type.
  @inlinable public var data: Data? { if case .data(let value) = self { value } else { nil } }
  /// The URL; nil for a value of another type.
  @inlinable public var url: URL? { if case .url(let value) = self { value } else { nil } }
  /// The elements of an array; nil for a value of another type.
  @inlinable public var array: [DocumentValue]? {
    if case .array(let value) = self { value } else { nil }
  }
  /// The fields of an object; nil for a value of another type.
  @inlinable public var object: DocumentObject? {
    if case .object(let value) = self { value } else { nil }
  }
}

extension DocumentValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(nilLiteral: ()) { self = .null }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int64) { self = .int(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(arrayLiteral elements: DocumentValue...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, DocumentValue)...) {
    self = .object(DocumentObject(elements))
  }
}

extension DocumentValue: DocumentValueConvertible {
  public var documentValue: DocumentValue { self }
  public init(_ value: some DocumentValueConvertible) { self = value.documentValue }
}

extension String: DocumentValueConvertible {
  public var documentValue: DocumentValue { .string(self) }
}
extension Substring: DocumentValueConvertible {
  public var documentValue: DocumentValue { .string(String(self)) }
}
extension Bool: DocumentValueConvertible {
  public var documentValue: DocumentValue { .bool(self) }
}
extension Double: DocumentValueConvertible {
  public var documentValue: DocumentValue { .double(self) }
}
extension Float: DocumentValueConvertible {
  public var documentValue: DocumentValue { .double(Double(self)) }
}
extension Int: DocumentValueConvertible {
  public var documentValue: DocumentValue { .int(Int64(self)) }
}
extension Int8: DocumentValueConvertible {
  public var documentValue: DocumentValue { .int(Int64(self)) }
}
extension Int16: DocumentValueConvertible {
  public var documentValue: DocumentValue { .int(Int64(self)) }
}
extension Int32: DocumentValueConvertible {
  public var documentValue: DocumentValue { .int(Int64(self)) }
}
extension Int64: DocumentValueConvertible {
  public var documentValue: DocumentValue { .int(self) }
}
extension UInt8: DocumentValueConvertible {
  public var documentValue: DocumentValue { .int(Int64(self)) }
}
extension UInt16: DocumentValueConvertible {
  public var documentValue: DocumentValue { .int(Int64(self)) }
}
extension UInt32: DocumentValueConvertible {
  public var documentValue: DocumentValue { .int(Int64(self)) }
}
extension Date: DocumentValueConvertible {
  public var documentValue: DocumentValue { .date(self) }
}
extension Data: DocumentValueConvertible {
  public var documentValue: DocumentValue { .data(self) }
}
extension URL: DocumentValueConvertible {
  public var documentValue: DocumentValue { .url(self) }
}
extension UUID: DocumentValueConvertible {
  public var documentValue: DocumentValue { .string(uuidString) }
}
extension DocumentObject: DocumentValueConvertible {
  public var documentValue: DocumentValue { .object(self) }
}
extension Optional: DocumentValueConvertible where Wrapped: DocumentValueConvertible {
  public var documentValue: DocumentValue { self?.documentValue ?? .null }
}
extension Array: DocumentValueConvertible where Element: DocumentValueConvertible {
  public var documentValue: DocumentValue { .array(map(\.documentValue)) }
}
