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

  /// Whether the pattern stands anywhere: `memchr` for one of its bytes, `memcmp` for all.
  ///
  /// - Parameter anchor: The place in the pattern of the byte that is looked for, best a rare one.
  static func contains(
    _ bytes: UnsafeRawBufferPointer, _ pattern: [UInt8], anchor: Int = 0
  ) -> Bool {
    if pattern.isEmpty { return true }
    let byte = Int32(pattern[anchor])
    guard pattern.count <= bytes.count, var start = bytes.baseAddress else { return false }
    let end = start + bytes.count
    return pattern.withUnsafeBytes { pattern in
      while end - start >= pattern.count {
        guard let hit = memchr(start + anchor, byte, end - start - pattern.count + 1) else {
          return false
        }
        let place = UnsafeRawPointer(hit) - anchor
        if memcmp(place, pattern.baseAddress!, pattern.count) == 0 { return true }
        start = place + 1
      }
      return false
    }
  }
}
