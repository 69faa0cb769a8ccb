// SPDX-License-Identifier: MIT

extension String: FieldCodable {
  /// Writes the string.
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) { writer.string(self) }
  /// Reads a string.
  @inlinable @inline(__always)
  public init(reading reader: inout JSONReader) throws(StoreError) {
    reader.skipWhitespace()
    self = try reader.string()
  }
}

extension Bool: FieldCodable {
  /// Writes the Boolean value.
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) { writer.bool(self) }
  /// Reads a Boolean value.
  @inlinable @inline(__always)
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.bool() }
}

extension Double: FieldCodable {
  /// Writes the number.
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) { writer.double(self) }
  /// Reads a number.
  @inlinable @inline(__always)
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.double() }
}

extension Float: FieldCodable {
  /// Writes the number as a `Double`.
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) { writer.double(Double(self)) }
  /// Reads the nearest `Float`; throws ``StoreError/Code/typeMismatch`` if a finite number overflows to
  /// infinity.
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.float() }
}

/// Integers of every width are stored as 64-bit signed integers; a value outside that range sets the
/// writer's failure.
extension FieldCodable where Self: FixedWidthInteger {
  /// Writes the integer.
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) { writer.integer(self) }
  /// Reads an integer. `12.0` is accepted.
  @inlinable @inline(__always)
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.integer() }
}

extension Int: FieldCodable {}
extension Int8: FieldCodable {}
extension Int16: FieldCodable {}
extension Int32: FieldCodable {}
extension Int64: FieldCodable {
  /// Writes the integer.
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) { writer.integer(self) }
  /// Reads an integer. `12.0` is accepted.
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

/// Untyped fields of a model.
extension DocumentValue: FieldCodable {
  /// Writes the value. Excessive nesting or a date out of range sets the writer's failure.
  public func write(to writer: inout JSONWriter) { writer.value(self) }
  /// Reads a value of any kind.
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.value() }
  /// `null`, as for every subscript without a match.
  public static var missingValue: DocumentValue? { .null }
}
