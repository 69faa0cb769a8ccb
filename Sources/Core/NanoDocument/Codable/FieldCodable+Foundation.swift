// SPDX-License-Identifier: MIT

public import Foundation

extension Date: FieldCodable {
  /// Writes the date in its stored form.
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) { writer.date(self) }
  /// Reads a date in its stored form.
  @inlinable @inline(__always)
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.date() }
}

extension Data: FieldCodable {
  /// Writes the data in its stored form.
  public func write(to writer: inout JSONWriter) { writer.data(self) }
  /// Reads data in its stored form.
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.data() }
}

extension URL: FieldCodable {
  /// Writes the URL in its stored form.
  public func write(to writer: inout JSONWriter) { writer.url(self) }
  /// Reads a URL in its stored form.
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.url() }
}

extension UUID: FieldCodable {
  /// Writes the UUID as an uppercase string.
  public func write(to writer: inout JSONWriter) { writer.string(uuidString) }
  /// Reads a UUID from a string.
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.uuid() }
}

extension Duration: FieldCodable {
  /// Writes the seconds as a decimal, exact to the attosecond. Records a failure from 10^16 seconds on, if that takes more
  /// than 34 digits.
  public func write(to writer: inout JSONWriter) { writer.decimal(DecimalValue(secondsOf: self)) }
  /// Reads the seconds, a decimal or another number, rounded to attoseconds; or the two integers of `Duration`'s own
  /// `Codable` form, as earlier versions stored it.
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.duration() }
}

extension Decimal: FieldCodable {
  /// Writes the number as a decimal. Records a failure for NaN and for a number with more than 34 digits.
  public func write(to writer: inout JSONWriter) { writer.decimal(DecimalValue(self)) }
  /// Reads a decimal, a number, or the text of a number, as earlier versions stored it.
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.decimal() }
}
