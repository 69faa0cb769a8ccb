// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

extension QueryLexer {
  /// Consumes a string in single quotes, in which two quotes represent one.
  mutating func takeText() throws(StoreError) -> String {
    try takeText(openedAt: index)
  }

  private mutating func takeText(openedAt start: Int) throws(StoreError) -> String {
    if let text = takeQuoted(by: UInt8(ascii: "'")) { return text }
    throw source.error(
      "A string literal is not closed", at: start..<source.bytes.count, expected: "'",
      hint: "write a quote inside a string twice")
  }

  /// Consumes text up to the closing quote, in which doubled quotes stand for one; `nil` if it is not closed.
  mutating func takeQuoted(by quote: UInt8) -> String? {
    var bytes: [UInt8] = []
    index += 1
    while !source.isEnd(index) {
      let byte = source.byte(index)
      index += 1
      if byte == quote {
        guard source.byte(index) == quote else { return String(decoding: bytes, as: UTF8.self) }
        index += 1
      }
      bytes.append(byte)
    }
    return nil
  }

  /// Consumes a blob literal such as `x'CAFE'`.
  mutating func takeBlob() throws(StoreError) -> QueryToken.Kind {
    let start = index
    index += 1
    let digits = try takeText(openedAt: start)
    var data = Data(capacity: digits.utf8.count / 2)
    var high: UInt8?
    for byte in digits.utf8 {
      guard let digit = byte.hexDigit else { throw malformedBlob(start..<index) }
      if let first = high {
        data.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    guard high == nil else { throw malformedBlob(start..<index) }
    return .blob(data)
  }

  private func malformedBlob(_ range: Range<Int>) -> StoreError {
    source.error(
      "A blob literal is malformed", at: range, expected: "pairs of hexadecimal digits, x'CAFE'")
  }

  mutating func takeNumber() throws(StoreError) -> QueryToken.Kind {
    let start = index
    let isHexadecimal =
      source.byte(index) == UInt8(ascii: "0") && source.byte(index + 1) | 0x20 == UInt8(ascii: "x")
    let isInteger = isHexadecimal ? takeHexadecimal() : takeDecimal()
    guard !source.byte(index).isWordByte else {
      _ = takeWordText()
      throw malformedNumber(start..<index)
    }
    let text = source.text(start..<index).replacing("_", with: "")
    if isHexadecimal { return try hexadecimal(text.dropFirst(2), at: start..<index) }
    if isInteger, let value = UInt64(text), value <= 1 << 63 { return .integer(value) }
    guard let value = Double(text) else { throw malformedNumber(start..<index) }
    return .number(value)
  }

  private mutating func takeHexadecimal() -> Bool {
    index += 2
    takeDigits { $0.hexDigit != nil }
    return true
  }

  /// Consumes a decimal number; returns whether it has neither a decimal point nor an exponent.
  private mutating func takeDecimal() -> Bool {
    let start = index
    takeDigits(\.isDigit)
    var isInteger = index > start
    if source.byte(index) == UInt8(ascii: ".") {
      isInteger = false
      index += 1
      takeDigits(\.isDigit)
    }
    guard source.byte(index) | 0x20 == UInt8(ascii: "e") else { return isInteger }
    let isSigned =
      source.byte(index + 1) == UInt8(ascii: "+") || source.byte(index + 1) == UInt8(ascii: "-")
    let exponent = index + (isSigned ? 2 : 1)
    guard source.byte(exponent).isDigit else { return isInteger }
    index = exponent
    takeDigits(\.isDigit)
    return false
  }

  /// Consumes digits, with single underscores between them as in SQLite since 3.46.
  private mutating func takeDigits(_ isDigit: (UInt8) -> Bool) {
    let start = index
    while true {
      if isDigit(source.byte(index)) {
        index += 1
      } else if source.byte(index) == UInt8(ascii: "_"), index > start,
        source.byte(index - 1) != UInt8(ascii: "_"), isDigit(source.byte(index + 1))
      {
        index += 1
      } else {
        return
      }
    }
  }

  /// Sixteen digits are the bit pattern of an integer, so `0xFFFFFFFFFFFFFFFF` is -1, as in SQLite.
  private func hexadecimal(
    _ digits: Substring, at range: Range<Int>
  ) throws(StoreError) -> QueryToken.Kind {
    guard let bits = UInt64(digits, radix: 16) else {
      throw source.error(
        "A hexadecimal number is malformed", at: range, expected: "1 to 16 hexadecimal digits")
    }
    return .hexadecimal(Int64(bitPattern: bits))
  }

  private func malformedNumber(_ range: Range<Int>) -> StoreError {
    source.error("A number is malformed", at: range, expected: "a number such as 42, 1.5 or 1e-3")
  }
}
