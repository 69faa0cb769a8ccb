// SPDX-License-Identifier: MIT

public import NanoDocument

/// Encodes and decodes properties for the code that ``Model(collection:version:expires:)`` generates.
///
/// The overloads prefer a type's ``FieldCodable`` conformance to its raw value, and its raw value
/// to `Codable`. The compiler resolves the overload once for each property.
public enum ModelCoding {
  /// Returns whether a property keeps its value, so that its observers need not be notified. Called by generated code.
  @inlinable @inline(__always)
  public static func isSame<V: Equatable>(_ value: V?, _ other: V?) -> Bool { value == other }
  /// Returns false, since the values cannot be compared. Called by generated code.
  @inlinable @_disfavoredOverload
  public static func isSame<V>(_ value: V?, _ other: V?) -> Bool { false }

  /// Writes a value with its own codec. Called by generated code.
  @inlinable @inline(__always)
  public static func write<V: FieldCodable>(_ value: V, _ writer: inout JSONWriter) {
    value.write(to: &writer)
  }
  /// Writes a value as its raw value. Called by generated code.
  @inlinable @inline(__always)
  public static func write<V: RawRepresentable>(_ value: V, _ writer: inout JSONWriter)
  where V.RawValue: FieldCodable { value.rawValue.write(to: &writer) }
  /// Writes a value with its own codec, which takes precedence over its raw value. Called by
  /// generated code.
  @inlinable @inline(__always)
  public static func write<V: RawRepresentable & FieldCodable>(
    _ value: V, _ writer: inout JSONWriter
  ) where V.RawValue: FieldCodable { value.write(to: &writer) }
  /// Writes a value with its `Encodable` conformance. Called by generated code.
  @_disfavoredOverload
  public static func write<V: Encodable>(_ value: V, _ writer: inout JSONWriter) {
    writer.codable(value)
  }
  /// Fails; covers the types that ``PropertyCheck`` rejects, so that the compiler reports only one
  /// error for them.
  @_disfavoredOverload
  public static func write<V>(_ value: V, _ writer: inout JSONWriter) {
    writer.fail(notStorable(V.self))
  }

  /// Reads a value with its own codec. Called by generated code.
  @inlinable @inline(__always)
  public static func read<V: FieldCodable>(
    _ type: V.Type, _ reader: inout JSONReader
  ) throws(StoreError) -> V { try V(reading: &reader) }
  /// Reads a value from its raw value. Called by generated code.
  @inlinable @inline(__always)
  public static func read<V: RawRepresentable>(
    _ type: V.Type, _ reader: inout JSONReader
  ) throws(StoreError) -> V where V.RawValue: FieldCodable { try reader.rawRepresentable() }
  /// Reads a value with its own codec, which takes precedence over its raw value. Called by
  /// generated code.
  @inlinable @inline(__always)
  public static func read<V: RawRepresentable & FieldCodable>(
    _ type: V.Type, _ reader: inout JSONReader
  ) throws(StoreError) -> V where V.RawValue: FieldCodable { try V(reading: &reader) }
  /// Reads a value with its `Decodable` conformance. Called by generated code.
  @_disfavoredOverload
  public static func read<V: Decodable>(
    _ type: V.Type, _ reader: inout JSONReader
  ) throws(StoreError) -> V { try reader.codable() }
  /// Fails; covers the types that ``PropertyCheck`` rejects, so that the compiler reports only one
  /// error for them.
  @_disfavoredOverload
  public static func read<V>(
    _ type: V.Type, _ reader: inout JSONReader
  ) throws(StoreError) -> V {
    throw notStorable(type)
  }
  private static func notStorable<V>(_ type: V.Type) -> StoreError {
    StoreError(
      .valueNotStorable, "A property has a type that documents cannot store", [.expected: "\(type)"]
    )
  }

  /// Returns the document key of a property's value. Called by generated code.
  ///
  /// - Throws: ``StoreError/Code/invalidKey``.
  @inlinable
  public static func key(_ value: some ModelKey) throws(StoreError) -> DocumentKey? {
    try value.documentKey
  }

  /// Fails; covers the types that ``PropertyCheck`` rejects, so that the compiler reports only one
  /// error for them.
  @_disfavoredOverload
  public static func key<V>(_ value: V) throws(StoreError) -> DocumentKey? {
    throw notAKey(V.self)
  }

  /// Returns the value of a key property for a document's key. Called by generated code.
  @inlinable @inline(__always)
  public static func readKey<V: ModelKey>(
    _ type: V.Type, _ key: BorrowedKey
  ) throws(StoreError) -> V { try V(documentKey: key) }
  /// Fails; covers the types that ``PropertyCheck`` rejects, so that the compiler reports only one
  /// error for them.
  @_disfavoredOverload
  public static func readKey<V>(_ type: V.Type, _ key: BorrowedKey) throws(StoreError) -> V {
    throw notAKey(type)
  }

  private static func notAKey<V>(_ type: V.Type) -> StoreError {
    StoreError(
      .typeMismatch, "A property marked as key has a type that cannot be a key",
      [.expected: "\(type)"])
  }

  /// Returns a placeholder for a property of an object whose document cannot be loaded. Called by generated code.
  ///
  /// The placeholder is the first that the type can decode: null, an empty string, 0, and so on; or else the first of
  /// all cases. Nil if there is none: then a read of the property stops the program.
  public static func firstValue<V>(_ type: V.Type) -> V? {
    for text in emptyValues {
      let value: V? = Array(text.utf8).withUnsafeBytes { bytes in
        var reader = JSONReader(bytes)
        if let type = V.self as? any FieldCodable.Type {
          return (try? type.init(reading: &reader)) as? V
        }
        if let type = V.self as? any Decodable.Type { return decoded(type, &reader) as? V }
        return nil
      }
      if let value { return value }
    }
    func first<Cases: CaseIterable>(_ type: Cases.Type) -> Any? { Cases.allCases.first }
    return (type as? any CaseIterable.Type).flatMap { first($0) } as? V
  }

  private static func decoded<V: Decodable>(_ type: V.Type, _ reader: inout JSONReader) -> Any? {
    let value: V? = try? reader.codable()
    return value
  }

  private static let emptyValues = [
    "null", "\"\"", "0", "false", "[]", "{}", #"{"$date":"1970-01-01T00:00:00.000000000Z"}"#,
    #"{"$binary":{"base64":"","subType":"00"}}"#, #""00000000-0000-0000-0000-000000000000""#,
    #""about:blank""#,
  ]

  /// Fails, since an object is stored as its own document and cannot be embedded. Called by
  /// generated code.
  public static func rejectEmbedding<M>(_ type: M.Type, _ writer: inout JSONWriter) {
    writer.fail(embeddingError(type))
  }
  /// Returns the error for an object that is embedded in another document. Called by generated
  /// code.
  public static func embeddingError<M>(_ type: M.Type) -> StoreError {
    StoreError(
      .valueNotStorable,
      "An object is stored as its own document and cannot be embedded in another",
      [.expected: "\(type)", .hint: "mark the property with @Relationship"])
  }

  /// Returns the value of a property whose field is missing, or nil if the field is required.
  /// Called by generated code.
  @inlinable @inline(__always)
  public static func missing<V: FieldCodable>(_ type: V.Type) -> V? { V.missingValue }
  /// Returns nil: a field of a type without its own codec is required. Called by generated code.
  @inlinable @inline(__always)
  @_disfavoredOverload
  public static func missing<V>(_ type: V.Type) -> V? { nil }
  /// Returns nil as the value of an optional property whose field is missing. Called by generated
  /// code.
  @inlinable @inline(__always)
  @_disfavoredOverload
  public static func missing<V>(_ type: V?.Type) -> V?? { .some(nil) }

  /// Returns whether a property is omitted from the document. Called by generated code.
  @inlinable @inline(__always)
  public static func isMissing<V: FieldCodable>(_ value: V) -> Bool { value.isMissing }
  /// Returns false: a type without its own codec is always written. Called by generated code.
  @inlinable @inline(__always)
  @_disfavoredOverload
  public static func isMissing<V>(_ value: V) -> Bool { false }
  /// Returns whether an optional is nil, and therefore omitted. Called by generated code.
  @inlinable @inline(__always)
  @_disfavoredOverload
  public static func isMissing<V>(_ value: V?) -> Bool { value == nil }
}
