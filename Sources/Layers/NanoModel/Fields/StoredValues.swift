// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// Values of properties of any type, read from and written to one stored value: by their own codec, as their raw
/// value, or by Codable, whichever comes first, as ``ModelCoding`` does where the compiler knows the type.
enum StoredValues {
  /// - Throws: ``StoreError/Code/typeMismatch`` if a value of the type is stored in another form,
  ///   ``StoreError/Code/unsupported`` if none is stored as one value.
  static func value<Value>(
    _ stored: DocumentValue, as type: Value.Type = Value.self
  ) throws(StoreError) -> Value {
    // A cast from `Any` that fails would be a mistake in the branches of `any`.
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
        .unsupported, "Values of a type are not stored as one value", [.expected: "\(type)"])
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
      .typeMismatch, "A value is not what the property's type expects", [.expected: expected])
  }

  /// What a value is stored as; null for nil.
  ///
  /// - Throws: ``StoreError/Code/valueNotStorable`` for what is not stored as one value.
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
      .valueNotStorable, "A value of a query is not stored as one value",
      [.actual: "\(type(of: value))"])
  }

  /// What a value of a property is stored as, or, of a document's key, how that is stored.
  static func stored(_ value: some Any, isKey: Bool) throws(StoreError) -> DocumentValue {
    guard isKey, let key = value as? any ModelKey else { return try stored(value) }
    guard let text = try key.documentKey?.description else { return .null }
    return .string(text)
  }
}

/// A type that is made of values of other types.
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
  /// A single value is an array of one, as where arrays read themselves.
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
