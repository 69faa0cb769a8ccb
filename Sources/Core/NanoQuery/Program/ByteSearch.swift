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

  /// Whether the pattern stands anywhere: `memchr` for its first byte, `memcmp` for the rest.
  static func contains(_ bytes: UnsafeRawBufferPointer, _ pattern: [UInt8]) -> Bool {
    guard let first = pattern.first else { return true }
    guard pattern.count <= bytes.count, var start = bytes.baseAddress else { return false }
    let end = start + bytes.count
    return pattern.withUnsafeBytes { pattern in
      while end - start >= pattern.count {
        guard let hit = memchr(start, Int32(first), end - start - pattern.count + 1) else {
          return false
        }
        if memcmp(hit, pattern.baseAddress!, pattern.count) == 0 { return true }
        start = UnsafeRawPointer(hit) + 1
      }
      return false
    }
  }
}
