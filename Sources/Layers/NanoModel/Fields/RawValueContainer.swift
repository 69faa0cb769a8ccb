// SPDX-License-Identifier: MIT

public import NanoDocument

/// An optional, array, set or dictionary whose elements have raw values and are stored as them.
///
/// Code that ``Model(collection:version:expires:)`` generates uses it, so that a property can be a `Suit?`
/// or a `[Suit]` where `Suit` is an enum with raw values and no other conformance.
public protocol RawValueContainer {
  /// The same container with elements that encode and decode themselves.
  associatedtype Stored: FieldCodable
  /// The container as it is stored.
  var stored: Stored { get }
  /// Creates the container from its stored form.
  init(stored: Stored)
}

/// An element that is stored as its raw value.
public struct RawValueElement<Value: RawRepresentable>: FieldCodable
where Value.RawValue: FieldCodable {
  @usableFromInline let value: Value

  @inlinable init(_ value: Value) { self.value = value }
  /// Writes the raw value.
  @inlinable
  public func write(to writer: inout JSONWriter) { value.rawValue.write(to: &writer) }
  /// Reads the raw value.
  /// - Throws: ``StoreError/Code/typeMismatch`` if the type has no value with this raw value.
  @inlinable
  public init(reading reader: inout JSONReader) throws(StoreError) {
    value = try reader.rawRepresentable()
  }
}

extension RawValueElement: Equatable where Value: Equatable {}
extension RawValueElement: Hashable where Value: Hashable {}

extension Optional: RawValueContainer
where Wrapped: RawRepresentable, Wrapped.RawValue: FieldCodable {
  /// The optional as it is stored.
  @inlinable public var stored: RawValueElement<Wrapped>? { map { RawValueElement($0) } }
  /// Creates an optional from its stored form.
  @inlinable public init(stored: RawValueElement<Wrapped>?) { self = stored?.value }
}

extension Array: RawValueContainer
where Element: RawRepresentable, Element.RawValue: FieldCodable {
  /// The array as it is stored.
  @inlinable public var stored: [RawValueElement<Element>] { map { RawValueElement($0) } }
  /// Creates an array from its stored form.
  @inlinable public init(stored: [RawValueElement<Element>]) { self = stored.map(\.value) }
}

extension Set: RawValueContainer
where Element: RawRepresentable, Element.RawValue: FieldCodable {
  /// The set as it is stored.
  @inlinable public var stored: Set<RawValueElement<Element>> {
    Set<RawValueElement<Element>>(map { RawValueElement($0) })
  }
  /// Creates a set from its stored form.
  @inlinable public init(stored: Set<RawValueElement<Element>>) { self = Set(stored.map(\.value)) }
}

extension Dictionary: RawValueContainer
where
  Key: FieldNameConvertible, Value: RawRepresentable, Value.RawValue: FieldCodable
{
  /// The dictionary as it is stored.
  @inlinable public var stored: [Key: RawValueElement<Value>] {
    mapValues { RawValueElement($0) }
  }
  /// Creates a dictionary from its stored form.
  @inlinable public init(stored: [Key: RawValueElement<Value>]) {
    self = stored.mapValues(\.value)
  }
}

extension ModelCoding {
  /// Writes a container of raw values. Called by generated code.
  @inlinable @inline(__always)
  public static func write<V: RawValueContainer>(_ value: V, _ writer: inout JSONWriter) {
    value.stored.write(to: &writer)
  }
  /// Writes a container with its own codec, which takes precedence. Called by generated code.
  @inlinable @inline(__always)
  public static func write<V: RawValueContainer & FieldCodable>(
    _ value: V, _ writer: inout JSONWriter
  ) { value.write(to: &writer) }
  /// Writes an optional container of raw values. Called by generated code.
  @inlinable @inline(__always)
  public static func write<V: RawValueContainer>(_ value: V?, _ writer: inout JSONWriter) {
    (value?.stored).write(to: &writer)
  }
  /// Writes an optional container with its own codec, which takes precedence. Called by generated
  /// code.
  @inlinable @inline(__always)
  public static func write<V: RawValueContainer & FieldCodable>(
    _ value: V?, _ writer: inout JSONWriter
  ) { value.write(to: &writer) }

  /// Reads a container of raw values. Called by generated code.
  @inlinable @inline(__always)
  public static func read<V: RawValueContainer>(
    _ type: V.Type, _ reader: inout JSONReader
  ) throws(StoreError) -> V { V(stored: try V.Stored(reading: &reader)) }
  /// Reads a container with its own codec, which takes precedence. Called by generated code.
  @inlinable @inline(__always)
  public static func read<V: RawValueContainer & FieldCodable>(
    _ type: V.Type, _ reader: inout JSONReader
  ) throws(StoreError) -> V { try V(reading: &reader) }
  /// Reads an optional container of raw values. Called by generated code.
  @inlinable @inline(__always)
  public static func read<V: RawValueContainer>(
    _ type: V?.Type, _ reader: inout JSONReader
  ) throws(StoreError) -> V? { try V.Stored?(reading: &reader).map { V(stored: $0) } }
  /// Reads an optional container with its own codec, which takes precedence. Called by generated
  /// code.
  @inlinable @inline(__always)
  public static func read<V: RawValueContainer & FieldCodable>(
    _ type: V?.Type, _ reader: inout JSONReader
  ) throws(StoreError) -> V? { try V?(reading: &reader) }
}
