// SPDX-License-Identifier: MIT

extension String: FieldCodable {
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) { writer.string(self) }
  @inlinable @inline(__always)
  public init(reading reader: inout JSONReader) throws(StoreError) {
    reader.skipWhitespace()
    self = try reader.string()
  }
}

extension Bool: FieldCodable {
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) { writer.bool(self) }
  @inlinable @inline(__always)
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.bool() }
}

extension Double: FieldCodable {
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) { writer.double(self) }
  @inlinable @inline(__always)
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.double() }
}

extension Float: FieldCodable {
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) { writer.double(Double(self)) }
  /// The nearest float; too large a double is none.
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.float() }
}

/// Integers of every width are written as they are; one beyond 64 bits with sign cannot be stored.
extension FieldCodable where Self: FixedWidthInteger {
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) { writer.integer(self) }
  /// `12.0` is an integer as well.
  @inlinable @inline(__always)
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.integer() }
}

extension Int: FieldCodable {}
extension Int8: FieldCodable {}
extension Int16: FieldCodable {}
extension Int32: FieldCodable {}
extension Int64: FieldCodable {
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) { writer.integer(self) }
  @inlinable @inline(__always)
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.integer() }
}
extension UInt: FieldCodable {}
extension UInt8: FieldCodable {}
extension UInt16: FieldCodable {}
extension UInt32: FieldCodable {}
extension UInt64: FieldCodable {}
extension Int128: FieldCodable {}
extension UInt128: FieldCodable {}

/// Free-form parts of a model.
extension DocumentValue: FieldCodable {
  public func write(to writer: inout JSONWriter) { writer.value(self) }
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.value() }
  /// Null, as for every subscript that finds nothing.
  public static var missingValue: DocumentValue? { .null }
}
