// SPDX-License-Identifier: MIT

/// Validation of UTF-8 from outside.
package enum UTF8Validation {
  /// Returns the offset of the first byte that is not part of well-formed UTF-8, or `nil` if there is
  /// none.
  package static func firstInvalidOffset(_ bytes: UnsafeRawBufferPointer) -> Int? {
    // Without a branch in the loop, the compiler vectorizes it.
    guard bytes.reduce(0, |) >= 0x80,
      let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    else { return nil }
    let end = start + bytes.count
    var cursor = start
    while cursor < end {
      if cursor.pointee < 0x80 {
        cursor += 1
      } else {
        guard let length = lengthOfScalar(cursor, end) else { return cursor - start }
        cursor += length
      }
    }
    return nil
  }

  /// Returns the length of the well-formed sequence of several bytes at the cursor (Unicode, table
  /// 3-7), or `nil` if it is overlong, a surrogate, beyond U+10FFFF or truncated.
  static func lengthOfScalar(
    _ cursor: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>
  ) -> Int? {
    let lead = cursor[0]
    let length: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch lead {
    case 0xC2...0xDF: length = 2
    case 0xE0...0xEF:
      length = 3
      if lead == 0xE0 { second = 0xA0...0xBF }
      if lead == 0xED { second = 0x80...0x9F }
    case 0xF0...0xF4:
      length = 4
      if lead == 0xF0 { second = 0x90...0xBF }
      if lead == 0xF4 { second = 0x80...0x8F }
    default: return nil
    }
    guard end - cursor >= length, second.contains(cursor[1]) else { return nil }
    for index in 2..<max(length, 2) where cursor[index] & 0xC0 != 0x80 { return nil }
    return length
  }
}
