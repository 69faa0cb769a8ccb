// SPDX-License-Identifier: MIT

// These functions process eight bytes at a time and are inlined into hot loops of other modules.

/// The ASCII bytes of JSON syntax.
@usableFromInline enum ASCII {
  @inlinable @inline(__always) static var quote: UInt8 { 0x22 }
  @inlinable @inline(__always) static var backslash: UInt8 { 0x5C }
  @inlinable @inline(__always) static var openBrace: UInt8 { 0x7B }
  @inlinable @inline(__always) static var closeBrace: UInt8 { 0x7D }
  @inlinable @inline(__always) static var openBracket: UInt8 { 0x5B }
  @inlinable @inline(__always) static var closeBracket: UInt8 { 0x5D }
  @inlinable @inline(__always) static var comma: UInt8 { 0x2C }
  @inlinable @inline(__always) static var colon: UInt8 { 0x3A }
  @inlinable @inline(__always) static var dollar: UInt8 { 0x24 }
  @inlinable @inline(__always) static var minus: UInt8 { 0x2D }
  @inlinable @inline(__always) static var plus: UInt8 { 0x2B }
  @inlinable @inline(__always) static var dot: UInt8 { 0x2E }
  @inlinable @inline(__always) static var zero: UInt8 { 0x30 }
  @inlinable @inline(__always) static var space: UInt8 { 0x20 }
  /// Lowercase `e`; compare with `byte | 0x20`.
  @inlinable @inline(__always) static var exponent: UInt8 { 0x65 }
}

@inlinable @inline(__always)
func load64(_ bytes: UnsafePointer<UInt8>) -> UInt64 {
  UInt64(littleEndian: UnsafeRawPointer(bytes).loadUnaligned(as: UInt64.self))
}

@inlinable @inline(__always)
func load32(_ bytes: UnsafePointer<UInt8>) -> UInt32 {
  UInt32(littleEndian: UnsafeRawPointer(bytes).loadUnaligned(as: UInt32.self))
}

@inlinable @inline(__always)
func store64(_ word: UInt64, _ bytes: UnsafeMutablePointer<UInt8>) {
  UnsafeMutableRawPointer(bytes).storeBytes(of: word.littleEndian, as: UInt64.self)
}

@inlinable @inline(__always)
func store32(_ word: UInt32, _ bytes: UnsafeMutablePointer<UInt8>) {
  UnsafeMutableRawPointer(bytes).storeBytes(of: word.littleEndian, as: UInt32.self)
}

/// Returns a mask with the high bit of each byte that is a quote or a backslash. The lowest set bit is
/// exact; higher ones may be false positives caused by borrows.
@inlinable @inline(__always)
func quoteMask(_ word: UInt64) -> UInt64 {
  let ones: UInt64 = 0x0101_0101_0101_0101
  let quotes = word ^ 0x2222_2222_2222_2222
  let backslashes = word ^ 0x5C5C_5C5C_5C5C_5C5C
  return ((quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes)
    & 0x8080_8080_8080_8080
}

/// Returns a nonzero mask if the word contains quotes, backslashes or control characters, which need
/// escapes; see ``quoteMask(_:)``.
@inlinable @inline(__always)
func escapeMask(_ word: UInt64) -> UInt64 {
  quoteMask(word) | (word &- 0x2020_2020_2020_2020) & ~word & 0x8080_8080_8080_8080
}

/// Returns whether the first `count` bytes are equal. Neither buffer is read beyond `count`.
@inlinable @inline(__always)
func equalBytes(_ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ count: Int) -> Bool {
  if count >= 8 {
    var at = 0
    while at &+ 8 <= count {
      if load64(a + at) != load64(b + at) { return false }
      at &+= 8
    }
    // The tail overlaps bytes already compared.
    return load64(a + (count &- 8)) == load64(b + (count &- 8))
  }
  if count >= 4 {
    return load32(a) == load32(b) && load32(a + (count &- 4)) == load32(b + (count &- 4))
  }
  var at = 0
  while at < count {
    if a[at] != b[at] { return false }
    at &+= 1
  }
  return true
}

/// Returns the value of a hexadecimal digit.
@inlinable @inline(__always)
func hexDigit(_ byte: UInt8) -> UInt32? {
  switch byte {
  case 0x30...0x39: UInt32(byte &- 0x30)
  case 0x61...0x66: UInt32(byte &- 0x57)
  case 0x41...0x46: UInt32(byte &- 0x37)
  default: nil
  }
}

/// Returns whether a byte can directly follow a number, `true`, `false` or `null`.
@inlinable @inline(__always)
func endsScalar(_ byte: UInt8) -> Bool {
  byte == ASCII.comma || byte == ASCII.closeBrace || byte == ASCII.closeBracket
    || byte <= ASCII.space
}
