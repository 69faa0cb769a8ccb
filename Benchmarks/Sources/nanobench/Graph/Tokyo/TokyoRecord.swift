// SPDX-License-Identifier: MIT

/// BNRPersistence's encoding of an object: numbers in four bytes, strings prefixed with their length.
struct TokyoRecord {
  private(set) var bytes: [UInt8] = []

  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  mutating func number(_ number: UInt32) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func text(_ text: String) {
    number(UInt32(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }
}

/// Reads the bytes of a ``TokyoRecord``.
struct TokyoReader {
  private var rest: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

  mutating func number() -> UInt32 {
    let number = UInt32(littleEndian: rest.loadUnaligned(as: UInt32.self))
    rest = UnsafeRawBufferPointer(rebasing: rest[4...])
    return number
  }

  mutating func text() -> String {
    let count = Int(number())
    let text = String(decoding: rest[..<count], as: UTF8.self)
    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    return text
  }
}
