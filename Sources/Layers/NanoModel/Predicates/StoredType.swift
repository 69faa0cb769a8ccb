// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// The stored form of a Swift type, as far as predicates depend on it.
struct StoredType {
  let kind: Kind
  let isOptional: Bool
  /// Whether it is a set, whose elements are unordered.
  let isSet: Bool

  indirect enum Kind {
    case text, bool, date, data, url, uuid, decimal, duration
    case double, float
    /// - Parameter fits: Whether all values of the type are signed 64-bit integers.
    case integer(any FixedWidthInteger.Type, fits: Bool)
    /// A type that is stored as its raw value: it has equality but no order.
    case raw(Kind)
    case model(any Model.Type)
    case list(StoredType)
    case dictionary(StoredType)
    case other
  }

  init(_ type: Any.Type) {
    if let optional = type as? any OptionalType.Type {
      let wrapped = StoredType(optional.wrappedType)
      kind = wrapped.isOptional ? .other : wrapped.kind
      isOptional = true
      isSet = wrapped.isSet
    } else {
      kind = Kind(type)
      isOptional = false
      isSet = type is any SetType.Type
    }
  }
}

extension StoredType.Kind {
  fileprivate init(_ type: Any.Type) {
    switch type {
    case is String.Type: self = .text
    case is Bool.Type: self = .bool
    case is Double.Type: self = .double
    case is Float.Type: self = .float
    case is Date.Type: self = .date
    case is Data.Type: self = .data
    case is URL.Type: self = .url
    case is UUID.Type: self = .uuid
    case is Decimal.Type: self = .decimal
    case is Duration.Type: self = .duration
    case let type as any FixedWidthInteger.Type: self = Self.integer(of: type)
    case let type as any Model.Type: self = .model(type)
    case let type as any ListType.Type: self = .list(StoredType(type.elementType))
    case let type as any DictionaryType.Type: self = .dictionary(StoredType(type.valueType))
    case let type as any RawRepresentable.Type: self = .raw(Self.raw(of: type))
    default: self = .other
    }
  }

  private static func integer<Integer: FixedWidthInteger>(of type: Integer.Type) -> Self {
    .integer(type, fits: Int64(exactly: Integer.max) != nil && Int64(exactly: Integer.min) != nil)
  }
  private static func raw<Raw: RawRepresentable>(of type: Raw.Type) -> Self {
    Self(Raw.RawValue.self)
  }

  /// Whether values are equal exactly if their stored forms are.
  var hasEquality: Bool {
    switch self {
    case .text, .bool, .date, .data, .url, .uuid, .decimal, .duration, .double, .float, .integer:
      true
    case .raw(let kind): kind.hasEquality
    case .model, .list, .dictionary, .other: false
    }
  }

  /// Whether values are ordered like their stored forms.
  var hasOrder: Bool {
    switch self {
    case .text, .date, .decimal, .duration, .double, .float, .integer: true
    default: false
    }
  }

  var isFloating: Bool {
    switch self {
    case .double, .float: true
    case .raw(let kind): kind.isFloating
    default: false
    }
  }

  /// Whether it is a decimal, or a collection of decimals.
  var isDecimal: Bool {
    switch self {
    case .decimal: true
    case .raw(let kind): kind.isDecimal
    case .list(let element), .dictionary(let element): element.kind.isDecimal
    default: false
    }
  }

  /// Whether it is a list or a dictionary.
  var isCollection: Bool {
    switch self {
    case .list, .dictionary: true
    case .raw(let kind): kind.isCollection
    default: false
    }
  }

  /// Whether all values are signed 64-bit integers.
  var isInteger: Bool {
    switch self {
    case .integer(_, let fits): fits
    case .raw(let kind): kind.isInteger
    default: false
    }
  }

  /// How a key of the type, or of the elements, is stored in a field; nil if it is stored as the key's text.
  var keyForm: KeyForm? {
    switch self {
    case .uuid: .uuid
    case .integer: .integer
    case .raw(let kind): kind.keyForm
    case .list(let element): element.kind.keyForm
    default: nil
    }
  }

  var isText: Bool { if case .text = self { true } else { false } }
  var isList: Bool { if case .list = self { true } else { false } }
}

/// An optional of any type.
protocol OptionalType {
  static var wrappedType: Any.Type { get }
  var wrapped: Any? { get }
}
extension Optional: OptionalType {
  static var wrappedType: Any.Type { Wrapped.self }
  var wrapped: Any? { self }
}

/// A type that is stored as the list of its elements. Other sequences are stored in their `Codable` form, such as
/// a range as its two bounds.
private protocol ListType: Sequence { static var elementType: Any.Type { get } }
extension Array: ListType { static var elementType: Any.Type { Element.self } }
extension ContiguousArray: ListType { static var elementType: Any.Type { Element.self } }
extension Set: ListType { static var elementType: Any.Type { Element.self } }

private protocol SetType {}
extension Set: SetType {}

protocol DictionaryType {
  static var valueType: Any.Type { get }
  static var isEmptyPath: AnyKeyPath { get }
}
extension Dictionary: DictionaryType {
  static var valueType: Any.Type { Value.self }
  static var isEmptyPath: AnyKeyPath { \Self.isEmpty }
}

/// Returns a value without its optionals, or nil.
func unwrapped(_ value: Any) -> Any? {
  guard let optional = value as? any OptionalType else { return value }
  return optional.wrapped.flatMap { unwrapped($0) }
}

/// Returns the stored form of a value; null for nil.
///
/// - Returns: Nil if the type is not stored as a single value.
func storedForm(_ value: Any) throws(StoreError) -> DocumentValue? {
  guard let value = unwrapped(value) else { return .null }
  switch value {
  case let value as DocumentValue: return value
  case let value as any FieldCodable: return try value.storedValue
  case let value as any RawRepresentable: return try storedRaw(value)
  case let value as any RawValueContainer: return try storedContainer(value)
  case let values as any ListType: return try storedList(values)
  default: return nil
  }
}

private func storedRaw(_ value: some RawRepresentable) throws(StoreError) -> DocumentValue? {
  try storedForm(value.rawValue)
}

private func storedContainer(_ value: some RawValueContainer) throws(StoreError) -> DocumentValue? {
  try value.stored.storedValue
}

private func storedList(_ values: some Sequence) throws(StoreError) -> DocumentValue? {
  var list: [DocumentValue] = []
  for value in values {
    guard let stored = try storedForm(value) else { return nil }
    list.append(stored)
  }
  return .array(list)
}

extension DocumentValue {
  /// Whether it is NaN, which equals nothing, not even itself.
  var isNaN: Bool { if case .double(let number) = self { number.isNaN } else { false } }

  /// Whether it is NaN, or a list with NaN.
  var hasNaN: Bool { isNaN || (array ?? []).contains(where: \.isNaN) }
}
