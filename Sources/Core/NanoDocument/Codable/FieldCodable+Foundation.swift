// SPDX-License-Identifier: MIT

public import Foundation

extension Date: FieldCodable {
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) { writer.date(self) }
  @inlinable @inline(__always)
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.date() }
}

extension Data: FieldCodable {
  public func write(to writer: inout JSONWriter) { writer.data(self) }
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.data() }
}

extension URL: FieldCodable {
  public func write(to writer: inout JSONWriter) { writer.url(self) }
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.url() }
}

extension UUID: FieldCodable {
  public func write(to writer: inout JSONWriter) { writer.string(uuidString) }
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.uuid() }
}

extension Decimal: FieldCodable {
  /// Written as text, which keeps every digit.
  public func write(to writer: inout JSONWriter) { writer.string(description) }
  /// A number is read too.
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.decimal() }
}
