// SPDX-License-Identifier: MIT

import Foundation

/// The value of the header that tells when to try again.
enum RetryAfter {
  /// The longest time that is obeyed. Arbitrary.
  private static let maximum = 3_600

  /// Interprets a number of seconds or a date; nil for anything else.
  static func duration(_ text: String, now: Date = Date()) -> Duration? {
    if let seconds = Int(text) { return seconds < 0 ? nil : .seconds(min(seconds, maximum)) }
    guard let date = date(text) else { return nil }
    let seconds = date.timeIntervalSince(now).rounded(.up)
    return .seconds(Int(min(max(0, seconds), Double(maximum))))
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Interprets the form of dates that servers have to send: `Sun, 06 Nov 1994 08:49:37 GMT`.
  private static func date(_ text: String) -> Date? {
    let parts = text.split(whereSeparator: { " :,".contains($0) })
    guard parts.count == 8, parts[7] == "GMT", let month = months.firstIndex(of: String(parts[2])),
      let day = number(parts[1], digits: 2), day <= 31, let year = number(parts[3], digits: 4),
      let hour = number(parts[4], digits: 2), let minute = number(parts[5], digits: 2),
      let second = number(parts[6], digits: 2)
    else { return nil }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    return calendar.date(
      from: DateComponents(
        year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second))
  }

  private static func number(_ text: Substring, digits: Int) -> Int? {
    guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int(text)
  }
}
