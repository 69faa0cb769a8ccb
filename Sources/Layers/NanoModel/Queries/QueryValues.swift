// SPDX-License-Identifier: MIT

public import Foundation
public import NanoDocument

/// A field's value that conditions compare as a whole: what is stored as one number, text, boolean, date,
/// URL or data.
public protocol QueryValue: FieldValue {}

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

/// A value whose stored form has the order that its type has; a `Decimal` is stored as text and has not.
public protocol OrderedQueryValue: QueryValue {}

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
extension Optional: OrderedQueryValue where Wrapped: OrderedQueryValue {}

enum QueryValues {
  /// What a value of a property is stored as; nil if that cannot be told.
  static func stored(_ value: some Any) -> DocumentValue? {
    switch value {
    case let value as any FieldValue: try? value.storedValue
    case let value as any RawRepresentable: raw(value)
    case let value as any Encodable: try? DocumentValue(encoding: value)
    default: nil
    }
  }

  private static func raw(_ value: some RawRepresentable) -> DocumentValue? {
    stored(value.rawValue)
  }

  /// What a value of a property is stored as, or as what its document's key is stored.
  static func stored(_ value: some FieldValue, isKey: Bool) throws(StoreError) -> DocumentValue {
    guard isKey, let key = value as? any ModelKey else { return try value.storedValue }
    guard let text = try key.documentKey?.description else { return .null }
    return .string(text)
  }
}
