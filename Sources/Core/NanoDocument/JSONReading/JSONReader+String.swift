// SPDX-License-Identifier: MIT

extension JSONReader {
  /// Reads a string.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` or ``StoreError/Code/typeMismatch``.
  @inlinable
  public mutating func string() throws(StoreError) -> String {
    if _slowPath(!peekConsume(ASCII.quote)) { throw mismatch("a string") }
    let first = cursor
    let isEscaped = try finishString()
    let text = UnsafeBufferPointer(start: first, count: cursor - first - 1)
    if _slowPath(isEscaped) { return try unescape(text) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Moves from inside a string past its closing quote; returns whether it contains a backslash.
  @inlinable @inline(__always)
  mutating func finishString() throws(StoreError) -> Bool {
    var isEscaped = false
    while true {
      while end - cursor >= 8 {
        let mask = quoteMask(load64(cursor))
        if mask != 0 {
          cursor += mask.trailingZeroBitCount >> 3
          break
        }
        cursor += 8
      }
      while cursor < end, cursor.pointee != ASCII.quote, cursor.pointee != ASCII.backslash {
        cursor += 1
      }
      if _slowPath(cursor >= end) { throw corrupt("the end of a string") }
      if _fastPath(cursor.pointee == ASCII.quote) {
        cursor += 1
        return isEscaped
      }
      isEscaped = true
      if _slowPath(end - cursor < 2) { throw corrupt("the end of a string") }
      cursor += 2
    }
  }

  /// Decodes a string that contains backslashes.
  @usableFromInline @inline(never)
  func unescape(_ text: UnsafeBufferPointer<UInt8>) throws(StoreError) -> String {
    guard let bytes = Self.unescaped(text) else {
      throw corrupt("a string with well-formed escapes")
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Decodes the escapes of a string. Returns `nil` for an invalid escape or an unpaired surrogate.
  static func unescaped(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    var out: [UInt8] = []
    out.reserveCapacity(text.count)
    var at = 0
    func unit() -> UInt32? {
      guard at + 4 <= text.count else { return nil }
      var value: UInt32 = 0
      for index in at..<at + 4 {
        guard let digit = hexDigit(text[index]) else { return nil }
        value = value << 4 | digit
      }
      at += 4
      return value
    }
    while at < text.count {
      let byte = text[at]
      at += 1
      guard byte == ASCII.backslash else {
        out.append(byte)
        continue
      }
      guard at < text.count else { return nil }
      let letter = text[at]
      at += 1
      switch letter {
      case ASCII.quote, ASCII.backslash, 0x2F: out.append(letter)
      case 0x62: out.append(0x08)
      case 0x66: out.append(0x0C)
      case 0x6E: out.append(0x0A)
      case 0x72: out.append(0x0D)
      case 0x74: out.append(0x09)
      case 0x75:
        guard var code = unit() else { return nil }
        if code & 0xFC00 == 0xD800 {
          guard at + 2 <= text.count, text[at] == ASCII.backslash, text[at + 1] == 0x75 else {
            return nil
          }
          at += 2
          guard let low = unit(), low & 0xFC00 == 0xDC00 else { return nil }
          code = 0x10000 + (code & 0x3FF) << 10 + (low & 0x3FF)
        }
        guard let scalar = UnicodeScalar(code) else { return nil }
        out.append(contentsOf: UTF8.encode(scalar).unsafelyUnwrapped)
      default: return nil
      }
    }
    return out
  }
}
