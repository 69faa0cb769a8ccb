// SPDX-License-Identifier: MIT

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Comparison and search on borrowed bytes.
enum ByteSearch {
  /// Negative, zero or positive; a prefix comes first.
  @inline(__always)
  static func compare(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    if let left = a.baseAddress, let right = b.baseAddress {
      let order = memcmp(left, right, min(a.count, b.count))
      if order != 0 { return Int(order) }
    }
    return a.count - b.count
  }

  /// Whether the pattern occurs.
  ///
  /// - Parameter anchor: The place in the pattern of the byte that is looked for, best a rare one.
  static func contains(
    _ bytes: UnsafeRawBufferPointer, _ pattern: [UInt8], anchor: Int = 0
  ) -> Bool { offset(of: pattern, in: bytes, anchor: anchor) != nil }

  /// The first occurrence of the pattern: `memchr` for one of its bytes, `memcmp` for all. Where that finds one
  /// beginning after the other, as in a text of one letter, each byte is looked at once instead.
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
        let place = UnsafeRawPointer(hit) - anchor
        if memcmp(place, pattern.baseAddress!, pattern.count) == 0 { return place - base }
        start = place + 1
        compared += pattern.count
        if compared > Self.comparedBytes + 8 * bytes.count {
          let rest = UnsafeRawBufferPointer(start: start, count: end - start)
          return linearOffset(of: pattern, in: rest).map { start - base + $0 }
        }
      }
      return nil
    }
  }

  /// Bytes compared in vain, beyond some times those of the text, after which another way is taken.
  /// Arbitrary: short texts are never worth it.
  private static let comparedBytes = 4_096

  /// The algorithm of Knuth, Morris and Pratt.
  private static func linearOffset(
    of pattern: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer
  ) -> Int? {
    // For each beginning of the pattern, the length of the longest shorter one that it ends with.
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
