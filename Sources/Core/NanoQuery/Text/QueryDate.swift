// SPDX-License-Identifier: MIT

import Foundation

/// Dates as query text writes them: `2026-11-20`, `2026-11-20T21:17:00.25Z`, with an offset
/// (`+01:00`) or without one, which means UTC.
enum QueryDate {
  static func date(_ text: String) -> Date? {
    var reader = Reader(bytes: Array(text.utf8))
    guard let year = reader.number(4), reader.take("-"), let month = reader.number(2),
      reader.take("-"), let day = reader.number(2), (1...12).contains(month),
      (1...daysInMonth(month, year)).contains(day)
    else { return nil }
    var seconds = daysSinceReference(year, month, day) * 86_400
    var fraction = 0.0
    if reader.take("T") || reader.take("t") || reader.take(" ") {
      guard let time = reader.time(), let offset = reader.offset() else { return nil }
      seconds += time.seconds - offset
      fraction = time.fraction
    }
    let interval = Double(seconds) + fraction
    guard reader.isAtEnd, interval >= Double(storableSeconds.lowerBound),
      interval < Double(storableSeconds.upperBound)
    else { return nil }
    return Date(timeIntervalSinceReferenceDate: interval)
  }

  /// The text of a date, nil outside the years 0 to 9999. Reading it back gives the same date.
  static func text(_ date: Date) -> String? {
    let interval = date.timeIntervalSinceReferenceDate
    guard interval >= Double(storableSeconds.lowerBound),
      interval < Double(storableSeconds.upperBound)
    else { return nil }
    var seconds = Int(interval.rounded(.down))
    var fraction = interval - interval.rounded(.down)
    if fraction == 1 {  // what is left of a moment less than an ulp before a full second
      seconds += 1
      fraction = 0
    }
    let days = Int((Double(seconds) / 86_400).rounded(.down))
    let (year, month, day) = civil(daysSinceReference: days)
    let time = seconds - days * 86_400
    return "\(padded(year, 4))-\(padded(month))-\(padded(day))T\(padded(time / 3600)):"
      + "\(padded(time / 60 % 60)):\(padded(time % 60))\(decimals(fraction))Z"
  }

  /// `.25` for 0.25; the shortest that reads back as the same number, without an exponent.
  private static func decimals(_ fraction: Double) -> String {
    guard fraction > 0 else { return "" }
    let parts = "\(fraction)".split(separator: "e-")
    let digits = parts[0].replacing(".", with: "")
    guard parts.count == 2, let exponent = Int(parts[1]) else { return ".\(digits.dropFirst())" }
    return "." + String(repeating: "0", count: exponent - 1) + digits
  }

  private static func padded(_ number: Int, _ width: Int = 2) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  private static let storableSeconds =
    daysSinceReference(0, 1, 1) * 86_400..<daysSinceReference(10_000, 1, 1) * 86_400

  private static func daysInMonth(_ month: Int, _ year: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return switch month {
    case 2: isLeap ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  // Both by Howard Hinnant's "chrono-compatible low-level date algorithms": years begin in March,
  // so that the leap day is the last one; 730,791 days lie between 0000-03-01 and 2001-01-01.
  private static func daysSinceReference(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 730_791
  }

  private static func civil(daysSinceReference days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 730_791
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
    return (year, month < 10 ? month + 3 : month - 9, dayOfYear - (153 * month + 2) / 5 + 1)
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

    /// Seconds east of UTC.
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
