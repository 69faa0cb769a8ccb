// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery

/// A value as the number and text that represent it on the server; see ``PostgresSchema``.
struct ComparisonKey {
  /// A decimal, `Infinity` or `-Infinity`.
  var number: String
  var text: String
  /// The whole text if ``text`` is only a prefix of it; otherwise empty.
  var tail = ""
  /// Whether longer texts may have the same ``text``.
  var mayBePrefix = false
  var kind: PathSummary.LookUp

  /// Returns `nil` for values without a unique stored form, and for data that is too long to index.
  init?(_ value: DocumentValue) {
    guard let kind = PathSummary.lookUp(value) else { return nil }
    self.kind = kind
    text = ""
    switch value {
    case .bool(let flag): (number, text) = ("-Infinity", flag ? "b1" : "b0")
    case .int(let integer): number = "\(integer)"
    case .double(let double): number = Self.decimal(double)
    case .decimal(let decimal): (number, text) = Self.place(decimal)
    case .string(let string):
      number = "Infinity"
      let scalars = string.unicodeScalars
      text = "t" + string
      if let end = scalars.index(
        scalars.startIndex, offsetBy: PostgresSchema.indexedText, limitedBy: scalars.endIndex)
      {
        mayBePrefix = true
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

  /// The key of missing values and null, which sorts before all others.
  static let none = (number: "-Infinity", text: "")

  /// Returns a double as the server stores it: its shortest decimal, or all its digits if it is a large whole number,
  /// for which the shortest decimal is not exact.
  static func decimal(_ double: Double) -> String {
    guard double.magnitude >= 0x1p53, double.isFinite else {
      return double == 0 ? "0" : "\(double)"
    }
    return wholeDigits(double)
  }

  /// Returns the digits of a double that is a whole number.
  static func wholeDigits(_ double: Double) -> String {
    if let integer = Int64(exactly: double) { return "\(integer)" }
    // Beyond 64 bits: the mantissa times a power of two, in groups of nine digits.
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
