// SPDX-License-Identifier: MIT

public import NanoDocument

/// How the code that ``Model(collection:version:)`` writes handles a property: by its own codec, as its raw
/// value, or by Codable, whichever comes first. The compiler chooses, once for each property.
public enum ModelCoding {
  @inlinable @inline(__always)
  public static func write<V: FieldValue>(_ value: V, _ writer: inout JSONWriter) {
    value.write(to: &writer)
  }
  @inlinable @inline(__always)
  public static func write<V: RawRepresentable>(_ value: V, _ writer: inout JSONWriter)
  where V.RawValue: FieldValue { value.rawValue.write(to: &writer) }
  @inlinable @inline(__always)
  public static func write<V: RawRepresentable & FieldValue>(
    _ value: V, _ writer: inout JSONWriter
  ) where V.RawValue: FieldValue { value.write(to: &writer) }
  @_disfavoredOverload
  public static func write<V: Encodable>(_ value: V, _ writer: inout JSONWriter) {
    writer.codable(value)
  }

  @inlinable @inline(__always)
  public static func read<V: FieldValue>(
    _ type: V.Type, _ reader: inout JSONReader
  ) throws(StoreError) -> V { try V(reading: &reader) }
  @inlinable @inline(__always)
  public static func read<V: RawRepresentable>(
    _ type: V.Type, _ reader: inout JSONReader
  ) throws(StoreError) -> V where V.RawValue: FieldValue { try reader.rawRepresentable() }
  @inlinable @inline(__always)
  public static func read<V: RawRepresentable & FieldValue>(
    _ type: V.Type, _ reader: inout JSONReader
  ) throws(StoreError) -> V where V.RawValue: FieldValue { try V(reading: &reader) }
  @_disfavoredOverload
  public static func read<V: Decodable>(
    _ type: V.Type, _ reader: inout JSONReader
  ) throws(StoreError) -> V { try reader.codable() }

  /// The key that a property says.
  ///
  /// - Throws: ``StoreError/Code/invalidKey``.
  @inlinable
  public static func key(_ value: some ModelKey) throws(StoreError) -> DocumentKey? {
    try value.documentKey
  }

  /// What a property has that the document does not hold; nil if it must be there.
  @inlinable @inline(__always)
  public static func missing<V: FieldValue>(_ type: V.Type) -> V? { V.missingValue }
  @inlinable @inline(__always)
  @_disfavoredOverload
  public static func missing<V>(_ type: V.Type) -> V? { nil }

  /// Whether a property is left out of the document.
  @inlinable @inline(__always)
  public static func isMissing<V: FieldValue>(_ value: V) -> Bool { value.isMissing }
  @inlinable @inline(__always)
  @_disfavoredOverload
  public static func isMissing<V>(_ value: V) -> Bool { false }
}
