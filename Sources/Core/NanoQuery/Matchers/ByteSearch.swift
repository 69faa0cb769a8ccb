// SPDX-License-Identifier: MIT

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Comparison and substring search on borrowed bytes.
enum ByteSearch {
  /// Returns a negative, zero or positive number; a prefix sorts first.
  @inline(__always)
  static func compare(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    if let left = a.baseAddress, let right = b.baseAddress {
      let order = memcmp(left, right, min(a.count, b.count))
      if order != 0 { return Int(order) }
    }
    return a.count - b.count
  }

  /// Returns whether the pattern occurs.
  ///
  /// - Parameter anchor: The index in the pattern of the byte to scan for, preferably a rare one.
  static func contains(
    _ bytes: UnsafeRawBufferPointer, _ pattern: [UInt8], anchor: Int = 0
  ) -> Bool { offset(of: pattern, in: bytes, anchor: anchor) != nil }

  /// Returns the offset of the first occurrence of the pattern.
  ///
  /// Scans for one byte with `memchr` and compares with `memcmp`. After too many false candidates, as
  /// in a text of one repeated letter, it switches to a linear-time algorithm.
  static func offset(
    of pattern: [UInt8], in bytes: UnsafeRawBufferPointer, anchor: Int = 0
  ) -> Int? {
    if pattern.isEmpty { return 0 }
    let byte = Int32(pattern[anchor])
    guard pattern.count <= bytes.count, let base = bytes.baseAddress else { return nil }
    var start = base
    let end = start + bytes.count
    var compared = 0
    return pattern.withUnsafeBytes { pattern in
      while end - start >= pattern.count {
        guard let hit = memchr(start + anchor, byte, end - start - pattern.count + 1) else {
          return nil
        }
        let position = UnsafeRawPointer(hit) - anchor
        if memcmp(position, pattern.baseAddress!, pattern.count) == 0 { return position - base }
        start = position + 1
        compared += pattern.count
        if compared > Self.comparedBytes + 8 * bytes.count {
          let rest = UnsafeRawBufferPointer(start: start, count: end - start)
          return linearOffset(of: pattern, in: rest).map { start - base + $0 }
        }
      }
      return nil
    }
  }

  /// The number of bytes compared without a match, beyond a multiple of the text's length, after which
  /// the linear-time algorithm takes over. Arbitrary: it never pays off for short texts.
  private static let comparedBytes = 4_096

  /// The Knuth–Morris–Pratt algorithm.
  private static func linearOffset(
    of pattern: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer
  ) -> Int? {
    // The failure function: for each prefix of the pattern, the length of its longest border.
    var borders = Array(repeating: 0, count: pattern.count)
    var length = 0
    for index in 1..<max(1, pattern.count) {
      while length > 0, pattern[index] != pattern[length] { length = borders[length - 1] }
      if pattern[index] == pattern[length] { length += 1 }
      borders[index] = length
    }
    length = 0
    for index in bytes.indices {
      while length > 0, bytes[index] != pattern[length] { length = borders[length - 1] }
      if bytes[index] == pattern[length] { length += 1 }
      if length == pattern.count { return index + 1 - length }
    }
    return nil
  }
}
