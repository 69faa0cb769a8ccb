// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// Converts property values of any type to and from a single stored value.
///
/// Uses the type's own codec, its raw value, or `Codable`, in this order of precedence: the dynamic
/// counterpart of ``ModelCoding``.
enum StoredValues {
  /// Decodes a stored value as a type.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` if the stored form does not match the type,
  ///   ``StoreError/Code/unsupported`` if the type is not stored as a single value.
  static func value<Value>(
    _ stored: DocumentValue, as type: Value.Type = Value.self
  ) throws(StoreError) -> Value {
    // Each branch of `any` returns a value of the requested type, so a failing cast is a bug there.
    try any(stored, type) as! Value
  }

  private static func any(
    _ stored: DocumentValue, _ type: Any.Type
  ) throws(StoreError) -> Any {
    switch type {
    case let type as any FieldCodable.Type: try type.init(stored: stored)
    case let type as any CompoundValue.Type: try type.value(stored)
    case let type as any RawRepresentable.Type: try raw(type, stored)
    case let type as any Decodable.Type: try decoded(type, stored)
    default:
      throw StoreError(
        .unsupported, "Values of this type are not stored as a single value", [.expected: "\(type)"]
      )
    }
  }

  private static func raw<Value: RawRepresentable>(
    _ type: Value.Type, _ stored: DocumentValue
  ) throws(StoreError) -> Any {
    guard let value = Value(rawValue: try value(stored)) else {
      throw mismatch("a raw value of \(type)")
    }
    return value
  }

  private static func decoded<Value: Decodable>(
    _ type: Value.Type, _ stored: DocumentValue
  ) throws(StoreError) -> Any {
    do {
      return try DocumentDecoder().decode(type, from: stored)
    } catch let error as StoreError {
      throw error
    } catch {
      throw mismatch("\(type)")
    }
  }

  static func mismatch(_ expected: String) -> StoreError {
    StoreError(
      .typeMismatch, "A value does not match the property's type", [.expected: expected])
  }

  /// Returns the stored form of a value; null for nil.
  ///
  /// - Throws: ``StoreError/Code/valueNotStorable`` if the value is not stored as a single value.
  static func stored(_ value: some Any) throws(StoreError) -> DocumentValue {
    if let stored = try storedForm(value) { return stored }
    if let value = value as? any Encodable {
      do {
        return try DocumentValue(encoding: value)
      } catch let error as StoreError {
        throw error
      } catch {}
    }
    throw StoreError(
      .valueNotStorable, "A query value is not stored as a single value",
      [.actual: "\(type(of: value))"])
  }

  /// Returns the stored form of a property's value; for the document key, the text of the key.
  static func stored(_ value: some Any, isKey: Bool) throws(StoreError) -> DocumentValue {
    guard isKey, let key = value as? any ModelKey else { return try stored(value) }
    guard let text = try key.documentKey?.description else { return .null }
    return .string(text)
  }

  /// Returns the stored form of a value for a comparison with a property; nil if no property equals it: NaN, and what
  /// cannot be a key.
  static func comparable(
    _ value: some Any, isKey: Bool = false
  ) throws(StoreError) -> DocumentValue? {
    do {
      let stored = try stored(value, isKey: isKey)
      return stored.hasNaN ? nil : stored
    } catch {
      guard isKey, error.code == .invalidKey else { throw error }
      return nil
    }
  }
}

/// A type that contains values of other types.
private protocol CompoundValue {
  static func value(_ stored: DocumentValue) throws(StoreError) -> Any
}

extension Optional: CompoundValue {
  static func value(_ stored: DocumentValue) throws(StoreError) -> Any {
    stored.isNull ? Self.none as Any : Self.some(try StoredValues.value(stored)) as Any
  }
}

extension Array: CompoundValue {
  static func value(_ stored: DocumentValue) throws(StoreError) -> Any {
    try elements(stored)
  }
  /// A single value decodes as an array of one element, as in the codec of arrays.
  fileprivate static func elements(_ stored: DocumentValue) throws(StoreError) -> Self {
    guard !stored.isNull else { throw StoredValues.mismatch("an array") }
    var elements: Self = []
    for element in stored.array ?? [stored] { elements.append(try StoredValues.value(element)) }
    return elements
  }
}

extension Set: CompoundValue {
  static func value(_ stored: DocumentValue) throws(StoreError) -> Any {
    Set(try [Element].elements(stored))
  }
}

// Other dictionaries have their own codec, or are `Codable`.
extension Dictionary: CompoundValue
where Key: FieldNameConvertible, Value: RawRepresentable, Value.RawValue: FieldCodable {
  static func value(_ stored: DocumentValue) throws(StoreError) -> Any {
    Self(stored: try [Key: RawValueElement<Value>](stored: stored))
  }
}
