// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// The UTC calendar components of a date, at the precision of its text.
struct DateParts {
  let year, month, day, hour, minute: Int
  private let nanosecond: Int
  private let digits: Int

  /// Returns `nil` for a date that is NaN, infinite, or more than a million years away.
  init?(_ date: Date) {
    let interval = date.timeIntervalSinceReferenceDate
    guard interval.magnitude < 3.2e13 else { return nil }
    let moment = DateText.shortest(interval)
    let (days, rest) = DateText.daysAndSeconds(moment.seconds)
    (year, month, day) = DateText.civil(days)
    hour = rest / 3600
    minute = rest / 60 % 60
    nanosecond = rest % 60 * 1_000_000_000 + moment.nanoseconds
    digits = moment.count
  }

  /// The seconds, as the double nearest to the digits of the text.
  var second: Double { Double(nanosecond) / 1e9 }

  /// Text such as `2026-11-20T21:17:00.123Z`, with the fewest of 3, 6 or 9 digits that restore the
  /// date.
  var text: String {
    func pad(_ number: Int, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    let fraction = pad(nanosecond % 1_000_000_000, 9).prefix(digits)
    return
      "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))T\(pad(hour, 2)):\(pad(minute, 2)):"
      + "\(pad(nanosecond / 1_000_000_000, 2)).\(fraction)Z"
  }
}
