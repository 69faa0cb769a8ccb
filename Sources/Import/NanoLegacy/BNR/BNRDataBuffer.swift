// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// Reads the items of a BNRPersistence data buffer in the order in which they were written.
///
/// The buffer has no type marks. Integers are little-endian, floating-point numbers big-endian.
struct BNRDataBuffer {
  private let bytes: ArraySlice<UInt8>
  private var position: Int

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  init(_ bytes: [UInt8]) { self.init(bytes[...]) }

  /// The number of bytes read.
  var offset: Int { position - bytes.startIndex }
  var remaining: Int { bytes.endIndex - position }

  mutating func uint8() throws(StoreError) -> UInt8 { try take(1).first ?? 0 }

  mutating func uint32() throws(StoreError) -> UInt32 {
    try take(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  mutating func float32() throws(StoreError) -> Float {
    Float(bitPattern: try take(4).reduce(0) { $0 << 8 | UInt32($1) })
  }

  mutating func float64() throws(StoreError) -> Double {
    Double(bitPattern: try take(8).reduce(0) { $0 << 8 | UInt64($1) })
  }

  /// Returns `nil` for an empty text: the original wrote `nil` and empty text alike, and read `nil`.
  mutating func text() throws(StoreError) -> String? {
    let start = offset
    guard let bytes = try counted() else { return nil }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Self.error("A text of the record is not valid UTF-8", start)
    }
    return text
  }

  /// Returns `nil` for empty data, as the original did.
  mutating func data() throws(StoreError) -> Data? { try counted().map { Data($0) } }

  /// Reads the number of elements of an array, after which at least that many elements follow.
  mutating func count(elementSize: Int) throws(StoreError) -> Int {
    let start = offset
    let count = try uint32()
    guard Int64(count) * Int64(elementSize) <= Int64(remaining) else {
      throw Self.error("An array of the record exceeds the record", start)
    }
    return Int(count)
  }

  /// - Throws: ``StoreError/Code/corruptDocument`` if not everything was read.
  func finish() throws(StoreError) {
    guard remaining == 0 else {
      throw StoreError(
        .corruptDocument, "The record is longer than its fields",
        [
          .byteOffset: "\(offset)", .actual: "\(remaining) more bytes",
          .hint: "compare the fields in the schema with the class's readContentFromBuffer:",
        ])
    }
  }

  private mutating func counted() throws(StoreError) -> ArraySlice<UInt8>? {
    let start = offset
    let count = try uint32()
    guard Int64(count) <= Int64(remaining) else {
      throw Self.error("A text or data of the record exceeds the record", start)
    }
    return count == 0 ? nil : try take(Int(count))
  }

  private mutating func take(_ count: Int) throws(StoreError) -> ArraySlice<UInt8> {
    guard count <= remaining else {
      throw Self.error("The record is shorter than its fields", offset)
    }
    defer { position += count }
    return bytes[position..<position + count]
  }

  private static func error(_ message: String, _ offset: Int) -> StoreError {
    StoreError(
      .corruptDocument, message,
      [
        .byteOffset: "\(offset)",
        .hint: "compare the fields in the schema with the class's readContentFromBuffer:",
      ])
  }
}
