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
    return .seconds(min(max(0, Int(date.timeIntervalSince(now).rounded(.up))), maximum))
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Interprets the form of dates that servers have to send: `Sun, 06 Nov 1994 08:49:37 GMT`.
  private static func date(_ text: String) -> Date? {
    let parts = text.split(whereSeparator: { " :,".contains($0) })
    guard parts.count == 8, parts[7] == "GMT", let month = months.firstIndex(of: String(parts[2])),
      let day = Int(parts[1]), let year = Int(parts[3]), let hour = Int(parts[4]),
      let minute = Int(parts[5]), let second = Int(parts[6])
    else { return nil }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    return calendar.date(
      from: DateComponents(
        year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second))
  }
}
