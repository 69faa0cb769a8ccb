// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// Parses and formats dates in query text: `2026-11-20`, `2026-11-20T21:17:00.25Z`, with an offset
/// (`+01:00`) or without one, which means UTC.
enum QueryDate {
  static func date(_ text: String) -> Date? {
    interval(text).flatMap {
      DateText.storable.contains($0) ? Date(timeIntervalSinceReferenceDate: $0) : nil
    }
  }

  /// Returns whether the text is a date before year 0 or after year 9999.
  static func isOutsideYears(_ text: String) -> Bool {
    DateText.isOutsideYears(text) || interval(text).map { !DateText.storable.contains($0) } ?? false
  }

  private static func interval(_ text: String) -> Double? {
    var reader = Reader(bytes: Array(text.utf8))
    guard let year = reader.number(4), reader.take("-"), let month = reader.number(2),
      reader.take("-"), let day = reader.number(2), (1...12).contains(month),
      (1...DateText.daysInMonth(month, of: year)).contains(day)
    else { return nil }
    var seconds = DateText.days(year: year, month: month, day: day) * 86_400
    var fraction = 0.0
    if reader.take("T") || reader.take("t") || reader.take(" ") {
      guard let time = reader.time(), let offset = reader.offset() else { return nil }
      seconds += time.seconds - offset
      fraction = time.fraction
    }
    let interval = DateText.join(Double(seconds - DateText.referenceToUnix), fraction)
    return reader.isAtEnd ? interval : nil
  }

  /// Returns the text of a date, or `nil` outside the years 0 to 9999. Parsing it restores the same date, except in the
  /// last half second before 2001-01-01, where it may be off by up to 10^-16 seconds.
  static func text(_ date: Date) -> String? {
    guard let text = DateText.text(date) else { return nil }
    let interval = date.timeIntervalSinceReferenceDate
    let digits = DateText.shortest(interval)
    if digits.isExact {
      let (seconds, fraction) = (text.prefix(19), text.dropFirst(19).dropLast())
      let end = fraction.lastIndex { $0 != "0" && $0 != "." }
      return seconds + (end.map { fraction[...$0] } ?? "") + "Z"
    }
    // Within about 97 days of 2001-01-01, nine digits are not enough.
    let whole = interval.rounded(.down)
    let fraction = interval - whole
    // For a moment less than one ulp before a full second, the fraction rounds to 1.
    let second = Date(timeIntervalSinceReferenceDate: fraction < 1 ? whole : whole + 1)
    guard let seconds = DateText.text(second) else { return nil }
    return seconds.dropLast(".000Z".count) + decimals(fraction < 1 ? fraction : 0) + "Z"
  }

  /// Returns `.25` for 0.25: the shortest text that restores the same number, without an exponent.
  private static func decimals(_ fraction: Double) -> String {
    guard fraction > 0 else { return "" }
    let parts = "\(fraction)".split(separator: "e-")
    let digits = parts[0].replacing(".", with: "")
    guard parts.count == 2, let exponent = Int(parts[1]) else { return ".\(digits.dropFirst())" }
    return "." + String(repeating: "0", count: exponent - 1) + digits
  }

  private struct Reader {
    let bytes: [UInt8]
    var index = 0

    var isAtEnd: Bool { index == bytes.count }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
      index += 1
      return true
    }

    mutating func number(_ digits: Int) -> Int? {
      guard index + digits <= bytes.count else { return nil }
      var number = 0
      for byte in bytes[index..<index + digits] {
        guard byte.isDigit else { return nil }
        number = number * 10 + Int(byte - UInt8(ascii: "0"))
      }
      index += digits
      return number
    }

    mutating func time() -> (seconds: Int, fraction: Double)? {
      guard let hour = number(2), take(":"), let minute = number(2), hour < 24, minute < 60 else {
        return nil
      }
      guard take(":") else { return (hour * 3600 + minute * 60, 0) }
      guard let second = number(2), second < 60, let fraction = fraction() else { return nil }
      return (hour * 3600 + minute * 60 + second, fraction)
    }

    private mutating func fraction() -> Double? {
      guard take(".") else { return 0 }
      let start = index
      while index < bytes.count, bytes[index].isDigit { index += 1 }
      guard index > start else { return nil }
      return Double("0." + String(decoding: bytes[start..<index], as: UTF8.self))
    }

    /// Reads an offset, in seconds east of UTC.
    mutating func offset() -> Int? {
      if isAtEnd || take("Z") || take("z") { return 0 }
      let isEast = take("+")
      guard isEast || take("-"), let hours = number(2), hours < 24 else { return nil }
      _ = take(":")
      guard let minutes = number(2), minutes < 60 else { return nil }
      return (hours * 3600 + minutes * 60) * (isEast ? 1 : -1)
    }
  }
}
