// SPDX-License-Identifier: MIT

import Foundation

/// Values in text without types, such as the cells of a CSV file.
///
/// A text is a value if writing the value gives the same text: `12`, `1.5`, `true`, `null` and
/// `2026-11-20T21:17:00.000Z`, but not `012`, `+1`, `1.50`, `1E5` or `9223372036854775808`, of which
/// a value would lose something. A date may also have no fraction.
package enum PlainText {
  /// Writes the value that a text represents; returns `false`, and writes nothing, if it is only text.
  package static func write(
    _ text: UnsafeBufferPointer<UInt8>, to writer: inout JSONWriter
  ) -> Bool {
    guard let first = text.first, text.count <= maximumLength else { return false }
    switch first {
    case 0x30...0x39, ASCII.minus: return number(text, &writer) || date(text, &writer)
    case 0x74 where text.elementsEqual("true".utf8): writer.literal("true")
    case 0x66 where text.elementsEqual("false".utf8): writer.literal("false")
    case 0x6E where text.elementsEqual("null".utf8): writer.literal("null")
    default: return false
    }
    return true
  }

  /// Returns whether a text represents a value other than itself.
  package static func isValue(_ text: String) -> Bool {
    var writer = JSONWriter(capacity: 64)
    var text = text
    return text.withUTF8 { write($0, to: &writer) }
  }

  /// No number or date is longer; the longest doubles have 24 characters.
  private static let maximumLength = DateText.length

  private static func number(
    _ text: UnsafeBufferPointer<UInt8>, _ writer: inout JSONWriter
  ) -> Bool {
    let digits = text[0] == ASCII.minus ? 1 : 0
    var magnitude: UInt64 = 0
    for index in digits..<text.count {
      let digit = text[index] &- ASCII.zero
      if digit > 9 { return double(text, magnitude, at: index, &writer) }
      magnitude = magnitude &* 10 &+ UInt64(digit)
    }
    // 19 digits do not overflow the magnitude. A leading zero is significant, as in a postal code.
    let count = text.count - digits
    guard count > 0, count <= 19, text[digits] != ASCII.zero || text.count == 1,
      magnitude <= UInt64(Int64.max) || digits == 1 && magnitude == Int64.min.magnitude
    else { return false }
    writer.raw(UnsafeRawBufferPointer(text))
    return true
  }

  /// - Parameter whole: The number before the index, correct up to 19 digits.
  private static func double(
    _ text: UnsafeBufferPointer<UInt8>, _ whole: UInt64, at index: Int, _ writer: inout JSONWriter
  ) -> Bool {
    guard text[index] == ASCII.dot || text[index] == ASCII.exponent,
      let value = shortDouble(text, whole, at: index) ?? decimalDouble(text), value.isFinite
    else { return false }
    let start = writer.count
    writer.double(value)
    if writer.bytes[start...].elementsEqual(text) { return true }
    writer.truncate(to: start)
    return false
  }

  /// Returns the value of a decimal with few digits and no exponent, without a `String`.
  private static func shortDouble(
    _ text: UnsafeBufferPointer<UInt8>, _ whole: UInt64, at index: Int
  ) -> Double? {
    let places = text.count - index - 1
    guard text[index] == ASCII.dot, places > 0, text.count <= 17 else { return nil }
    var mantissa = whole
    for byte in text[(index + 1)...] {
      let digit = byte &- ASCII.zero
      if digit > 9 { return nil }
      mantissa = mantissa &* 10 &+ UInt64(digit)
    }
    // The quotient of two exact doubles is the double nearest to the decimal.
    guard mantissa >> 53 == 0 else { return nil }
    let value = Double(mantissa) / powersOfTen[places]
    return text[0] == ASCII.minus ? -value : value
  }

  private static func date(
    _ text: UnsafeBufferPointer<UInt8>, _ writer: inout JSONWriter
  ) -> Bool {
    // 2026-11-20T21:17:00Z and 2026-11-20T21:17:00.123Z, with 3, 6 or 9 digits
    let withoutFraction = 20
    guard text.count >= withoutFraction, text[10] == 0x54, text[text.count - 1] == 0x5A,
      let interval = DateText.parse(text)
    else { return false }
    let digits = DateText.shortest(interval)
    let isSame = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: DateText.length) { out in
      guard let base = out.baseAddress else { return false }
      let count = DateText.write(digits, to: base)
      if text.count == withoutFraction { return out[..<19].elementsEqual(text[..<19]) }
      return out[..<count].elementsEqual(text)
    }
    guard isSame else { return false }
    writer.date(Date(timeIntervalSinceReferenceDate: interval))
    return true
  }
}
