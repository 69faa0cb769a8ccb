// SPDX-License-Identifier: MIT

public import NanoDocument

/// An optional, list, set or dictionary of values with raw values, stored as one of the raw values.
///
/// The code that ``Model(collection:version:)`` writes uses it, so that a property can be a `Suit?` or a `[Suit]`
/// where `Suit` is an enum with raw values and nothing else.
public protocol RawValueContainer {
  /// The same with elements that write and read themselves.
  associatedtype Stored: FieldCodable
  var stored: Stored { get }
  init(stored: Stored)
}

/// A value with a raw value, stored as the raw value.
public struct RawValueElement<Value: RawRepresentable>: FieldCodable
where Value.RawValue: FieldCodable {
  @usableFromInline let value: Value

  @inlinable init(_ value: Value) { self.value = value }
  @inlinable
  public func write(to writer: inout JSONWriter) { value.rawValue.write(to: &writer) }
  @inlinable
  public init(reading reader: inout JSONReader) throws(StoreError) {
    value = try reader.rawRepresentable()
  }
}

extension RawValueElement: Equatable where Value: Equatable {}
extension RawValueElement: Hashable where Value: Hashable {}

extension Optional: RawValueContainer
where Wrapped: RawRepresentable, Wrapped.RawValue: FieldCodable {
  @inlinable public var stored: RawValueElement<Wrapped>? { map { RawValueElement($0) } }
  @inlinable public init(stored: RawValueElement<Wrapped>?) { self = stored?.value }
}

extension Array: RawValueContainer
where Element: RawRepresentable, Element.RawValue: FieldCodable {
  @inlinable public var stored: [RawValueElement<Element>] { map { RawValueElement($0) } }
  @inlinable public init(stored: [RawValueElement<Element>]) { self = stored.map(\.value) }
}

extension Set: RawValueContainer
where Element: RawRepresentable, Element.RawValue: FieldCodable {
  @inlinable public var stored: Set<RawValueElement<Element>> {
    Set<RawValueElement<Element>>(map { RawValueElement($0) })
  }
  @inlinable public init(stored: Set<RawValueElement<Element>>) { self = Set(stored.map(\.value)) }
}

extension Dictionary: RawValueContainer
where
  Key: FieldNameConvertible, Value: RawRepresentable, Value.RawValue: FieldCodable
{
  @inlinable public var stored: [Key: RawValueElement<Value>] {
    mapValues { RawValueElement($0) }
  }
  @inlinable public init(stored: [Key: RawValueElement<Value>]) {
    self = stored.mapValues(\.value)
  }
}

extension ModelCoding {
  @inlinable @inline(__always)
  public static func write<V: RawValueContainer>(_ value: V, _ writer: inout JSONWriter) {
    value.stored.write(to: &writer)
  }
  @inlinable @inline(__always)
  public static func write<V: RawValueContainer & FieldCodable>(
    _ value: V, _ writer: inout JSONWriter
  ) { value.write(to: &writer) }
  @inlinable @inline(__always)
  public static func write<V: RawValueContainer>(_ value: V?, _ writer: inout JSONWriter) {
    (value?.stored).write(to: &writer)
  }
  @inlinable @inline(__always)
  public static func write<V: RawValueContainer & FieldCodable>(
    _ value: V?, _ writer: inout JSONWriter
  ) { value.write(to: &writer) }

  @inlinable @inline(__always)
  public static func read<V: RawValueContainer>(
    _ type: V.Type, _ reader: inout JSONReader
  ) throws(StoreError) -> V { V(stored: try V.Stored(reading: &reader)) }
  @inlinable @inline(__always)
  public static func read<V: RawValueContainer & FieldCodable>(
    _ type: V.Type, _ reader: inout JSONReader
  ) throws(StoreError) -> V { try V(reading: &reader) }
  @inlinable @inline(__always)
  public static func read<V: RawValueContainer>(
    _ type: V?.Type, _ reader: inout JSONReader
  ) throws(StoreError) -> V? { try V.Stored?(reading: &reader).map { V(stored: $0) } }
  @inlinable @inline(__always)
  public static func read<V: RawValueContainer & FieldCodable>(
    _ type: V?.Type, _ reader: inout JSONReader
  ) throws(StoreError) -> V? { try V?(reading: &reader) }
}
