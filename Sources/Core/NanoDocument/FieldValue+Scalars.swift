// SPDX-License-Identifier: MIT

extension String: FieldValue {
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) { writer.string(self) }
  @inlinable @inline(__always)
  public init(reading reader: inout JSONReader) throws(StoreError) {
    reader.skipWhitespace()
    self = try reader.string()
  }
}

extension Bool: FieldValue {
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) { writer.bool(self) }
  @inlinable @inline(__always)
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.bool() }
}

extension Double: FieldValue {
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) { writer.double(self) }
  @inlinable @inline(__always)
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.double() }
}

extension Float: FieldValue {
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) { writer.double(Double(self)) }
  /// The nearest float; too large a double is none.
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.float() }
}

/// Integers of every width are written as they are; one beyond 64 bits with sign cannot be stored.
extension FieldValue where Self: FixedWidthInteger {
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) { writer.integer(self) }
  /// `12.0` is an integer as well.
  @inlinable @inline(__always)
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.integer() }
}

extension Int: FieldValue {}
extension Int8: FieldValue {}
extension Int16: FieldValue {}
extension Int32: FieldValue {}
extension Int64: FieldValue {
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) { writer.integer(self) }
  @inlinable @inline(__always)
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.integer() }
}
extension UInt: FieldValue {}
extension UInt8: FieldValue {}
extension UInt16: FieldValue {}
extension UInt32: FieldValue {}
extension UInt64: FieldValue {}
extension Int128: FieldValue {}
extension UInt128: FieldValue {}

/// Free-form parts of a model.
extension DocumentValue: FieldValue {
  public func write(to writer: inout JSONWriter) { writer.value(self) }
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.value() }
  /// Null, as for every subscript that finds nothing.
  public static var missingValue: DocumentValue? { .null }
}
