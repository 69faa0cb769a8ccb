// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery

/// A value as the pair of a number and a text that stands for it on the server; see ``PostgresSchema``.
struct ComparisonKey {
  /// Decimal text, `Infinity` or `-Infinity`.
  var number: String
  var text: String
  /// The whole text where ``text`` has its beginning only; else empty.
  var tail = ""
  /// Whether longer texts may begin with the same ``text``.
  var mayGoOn = false
  var kind: PathSummary.LookUp

  /// Nil for values that have no one stored form.
  init?(_ value: DocumentValue) {
    guard let kind = PathSummary.lookUp(value) else { return nil }
    self.kind = kind
    text = ""
    switch value {
    case .bool(let flag): (number, text) = ("-Infinity", flag ? "b1" : "b0")
    case .int(let integer): number = "\(integer)"
    case .double(let double): number = Self.decimal(double)
    case .string(let string):
      number = "Infinity"
      let scalars = string.unicodeScalars
      text = "t" + string
      if let end = scalars.index(
        scalars.startIndex, offsetBy: PostgresSchema.indexedText, limitedBy: scalars.endIndex)
      {
        mayGoOn = true
        text = "t" + String(scalars[..<end])
        if end < scalars.endIndex { tail = string }
      }
    case .date:
      number = "Infinity"
      var writer = JSONWriter()
      writer.value(value)
      // {"$date":"…"}
      text = "d" + String(decoding: writer.bytes.dropFirst(10).dropLast(2), as: UTF8.self)
    case .data(let data):
      number = "Infinity"
      guard data.count * 2 < PostgresSchema.indexedText else { return nil }
      text = "x" + data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    default: return nil
    }
  }

  /// What is sorted before everything: missing and null.
  static let none = (number: "-Infinity", text: "")

  /// A double as the server has it among its numbers: its shortest decimal, and where that is not exact,
  /// because the double is a large whole number, the number itself.
  static func decimal(_ double: Double) -> String {
    guard double.magnitude >= 0x1p53, double.isFinite else {
      return double == 0 ? "0" : "\(double)"
    }
    return wholeDigits(double)
  }

  /// The digits of a double that is a whole number.
  static func wholeDigits(_ double: Double) -> String {
    if let integer = Int64(exactly: double) { return "\(integer)" }
    // Beyond 64 bits: mantissa times a power of two, in parts of nine digits.
    var parts: [UInt64] = [UInt64(double.significandBitPattern | 1 << 52)]
    parts = [parts[0] % 1_000_000_000, parts[0] / 1_000_000_000]
    for _ in 0..<(Int(double.exponent) - 52) {
      var carry: UInt64 = 0
      for index in parts.indices {
        let doubled = parts[index] * 2 + carry
        parts[index] = doubled % 1_000_000_000
        carry = doubled / 1_000_000_000
      }
      if carry > 0 { parts.append(carry) }
    }
    while parts.count > 1, parts.last == 0 { parts.removeLast() }
    let digits = parts.reversed().enumerated().map { index, part in
      let text = "\(part)"
      return index == 0 ? text : String(repeating: "0", count: 9 - text.utf8.count) + text
    }
    return (double.sign == .minus ? "-" : "") + digits.joined()
  }
}
