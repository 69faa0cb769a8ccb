// SPDX-License-Identifier: MIT

extension StrictParser {
  /// Parses a string whose opening quote is at the cursor.
  mutating func string() throws(StoreError) -> String {
    cursor += 1
    let first = cursor
    var isEscaped = false
    scan: while true {
      while end - cursor >= 8 {
        let word = load64(cursor)
        let special = escapeMask(word) | word & 0x8080_8080_8080_8080
        if special != 0 {
          cursor += special.trailingZeroBitCount >> 3
          break
        }
        cursor += 8
      }
      guard cursor < end else { throw ended("'\"'") }
      switch cursor.pointee {
      case ASCII.quote: break scan
      case ASCII.backslash:
        isEscaped = true
        try skipEscape()
      case 0..<0x20:
        throw error("A control character in a string is not escaped", at: cursor, "an escape")
      case 0x80...:
        guard let length = lengthOfScalar() else {
          throw error("A string is not well-formed UTF-8", at: cursor, "UTF-8")
        }
        cursor += length
      default: cursor += 1
      }
    }
    let text = UnsafeBufferPointer(start: first, count: cursor - first)
    cursor += 1
    guard isEscaped else { return String(decoding: text, as: UTF8.self) }
    guard let bytes = JSONReader.unescaped(text) else {
      throw error(
        "An escape sequence is not valid in JSON", at: first, "a string with valid escape sequences"
      )
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Skips one escape, or both escapes of a surrogate pair.
  private mutating func skipEscape() throws(StoreError) {
    let backslash = cursor
    cursor += 1
    guard cursor < end else { throw ended("an escape") }
    switch cursor.pointee {
    case ASCII.quote, ASCII.backslash, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74:  // / b f n r t
      cursor += 1
      return
    case 0x75: cursor += 1  // u
    default:
      throw error("An escape sequence is not valid in JSON", at: cursor, #"one of "\/bfnrtu"#)
    }
    let unit = try codeUnit()
    guard unit & 0xF800 == 0xD800 else { return }
    guard unit & 0xFC00 == 0xD800 else { throw loneSurrogate(backslash) }
    guard end - cursor >= 2 else { throw cursor < end ? loneSurrogate(backslash) : ended("\\u") }
    guard cursor[0] == ASCII.backslash, cursor[1] == 0x75 else { throw loneSurrogate(backslash) }
    cursor += 2
    guard try codeUnit() & 0xFC00 == 0xDC00 else { throw loneSurrogate(backslash) }
  }

  private mutating func codeUnit() throws(StoreError) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard cursor < end else { throw ended("a hexadecimal digit") }
      guard let digit = hexDigit(cursor.pointee) else {
        throw error(
          "An escape sequence has too few hexadecimal digits", at: cursor, "a hexadecimal digit")
      }
      unit = unit << 4 | digit
      cursor += 1
    }
    return unit
  }

  private func loneSurrogate(_ backslash: UnsafePointer<UInt8>) -> StoreError {
    error("A surrogate is not part of a pair", at: backslash, "a surrogate pair")
  }

  private func lengthOfScalar() -> Int? { UTF8Validation.lengthOfScalar(cursor, end) }
}
