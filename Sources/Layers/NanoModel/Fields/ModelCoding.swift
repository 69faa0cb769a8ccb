// SPDX-License-Identifier: MIT

public import NanoDocument

/// How the code that ``Model(collection:version:)`` writes handles a property: by its own codec, as its raw
/// value, or by Codable, whichever comes first. The compiler chooses, once for each property.
public enum ModelCoding {
  @inlinable @inline(__always)
  public static func write<V: FieldCodable>(_ value: V, _ writer: inout JSONWriter) {
    value.write(to: &writer)
  }
  @inlinable @inline(__always)
  public static func write<V: RawRepresentable>(_ value: V, _ writer: inout JSONWriter)
  where V.RawValue: FieldCodable { value.rawValue.write(to: &writer) }
  @inlinable @inline(__always)
  public static func write<V: RawRepresentable & FieldCodable>(
    _ value: V, _ writer: inout JSONWriter
  ) where V.RawValue: FieldCodable { value.write(to: &writer) }
  @_disfavoredOverload
  public static func write<V: Encodable>(_ value: V, _ writer: inout JSONWriter) {
    writer.codable(value)
  }
  /// For a type that ``PropertyCheck`` reports, so that nothing else is reported of it.
  @_disfavoredOverload
  public static func write<V>(_ value: V, _ writer: inout JSONWriter) {
    writer.fail(notStorable(V.self))
  }

  @inlinable @inline(__always)
  public static func read<V: FieldCodable>(
    _ type: V.Type, _ reader: inout JSONReader
  ) throws(StoreError) -> V { try V(reading: &reader) }
  @inlinable @inline(__always)
  public static func read<V: RawRepresentable>(
    _ type: V.Type, _ reader: inout JSONReader
  ) throws(StoreError) -> V where V.RawValue: FieldCodable { try reader.rawRepresentable() }
  @inlinable @inline(__always)
  public static func read<V: RawRepresentable & FieldCodable>(
    _ type: V.Type, _ reader: inout JSONReader
  ) throws(StoreError) -> V where V.RawValue: FieldCodable { try V(reading: &reader) }
  @_disfavoredOverload
  public static func read<V: Decodable>(
    _ type: V.Type, _ reader: inout JSONReader
  ) throws(StoreError) -> V { try reader.codable() }
  /// For a type that ``PropertyCheck`` reports, so that nothing else is reported of it.
  @_disfavoredOverload
  public static func read<V>(
    _ type: V.Type, _ reader: inout JSONReader
  ) throws(StoreError) -> V {
    throw notStorable(type)
  }
  private static func notStorable<V>(_ type: V.Type) -> StoreError {
    StoreError(
      .valueNotStorable, "A property has a type that documents cannot hold", [.expected: "\(type)"])
  }

  /// The key that a property says.
  ///
  /// - Throws: ``StoreError/Code/invalidKey``.
  @inlinable
  public static func key(_ value: some ModelKey) throws(StoreError) -> DocumentKey? {
    try value.documentKey
  }

  /// For a type that ``PropertyCheck`` reports, so that nothing else is reported of it.
  @_disfavoredOverload
  public static func key<V>(_ value: V) throws(StoreError) -> DocumentKey? {
    throw notAKey(V.self)
  }

  /// The value of a property that is the key of a document.
  @inlinable @inline(__always)
  public static func readKey<V: ModelKey>(
    _ type: V.Type, _ key: BorrowedKey
  ) throws(StoreError) -> V { try V(documentKey: key) }
  /// For a type that ``PropertyCheck`` reports, so that nothing else is reported of it.
  @_disfavoredOverload
  public static func readKey<V>(_ type: V.Type, _ key: BorrowedKey) throws(StoreError) -> V {
    throw notAKey(type)
  }

  private static func notAKey<V>(_ type: V.Type) -> StoreError {
    StoreError(
      .typeMismatch, "A property marked as key has a type that is no key", [.expected: "\(type)"])
  }

  /// What a property shows whose document cannot be loaded: the first of an empty text, 0, nothing and the like
  /// that the type reads.
  public static func firstValue<V>() -> V {
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
    preconditionFailure(
      "The document of an object cannot be loaded, and no value of \(V.self) is known to show in its place. Load objects with load() where documents may be missing, or give the property a value."
    )
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

  /// An object stands in a document of its own.
  public static func refusePart<M>(_ type: M.Type, _ writer: inout JSONWriter) {
    writer.fail(partRefused(type))
  }
  public static func partRefused<M>(_ type: M.Type) -> StoreError {
    StoreError(
      .valueNotStorable, "An object stands in a document of its own and is no part of another one",
      [.expected: "\(type)", .hint: "mark the property with @Relationship"])
  }

  /// What a property has that the document does not hold; nil if it must be there.
  @inlinable @inline(__always)
  public static func missing<V: FieldCodable>(_ type: V.Type) -> V? { V.missingValue }
  @inlinable @inline(__always)
  @_disfavoredOverload
  public static func missing<V>(_ type: V.Type) -> V? { nil }
  @inlinable @inline(__always)
  @_disfavoredOverload
  public static func missing<V>(_ type: V?.Type) -> V?? { .some(nil) }

  /// Whether a property is left out of the document.
  @inlinable @inline(__always)
  public static func isMissing<V: FieldCodable>(_ value: V) -> Bool { value.isMissing }
  @inlinable @inline(__always)
  @_disfavoredOverload
  public static func isMissing<V>(_ value: V) -> Bool { false }
  @inlinable @inline(__always)
  @_disfavoredOverload
  public static func isMissing<V>(_ value: V?) -> Bool { value == nil }
}
