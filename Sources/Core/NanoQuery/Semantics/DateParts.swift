// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// The calendar components of a date in a time zone, at the precision of its text.
struct DateParts {
  let year, month, day, hour, minute: Int
  /// The offset from UTC in seconds.
  let offset: Int
  /// The day counted from 1970-01-01.
  private let dayNumber: Int
  private let nanosecond: Int
  private let digits: Int

  /// The years in which the calendar is computed; nearly a million.
  private static let farthest = 3.2e13

  /// Returns `nil` for a date that is NaN, infinite, or more than a million years away.
  init?(_ date: Date, _ zone: ZoneRules = .utc) {
    let interval = date.timeIntervalSinceReferenceDate
    guard interval.magnitude < Self.farthest else { return nil }
    let moment = DateText.shortest(interval)
    offset = zone.offset(at: moment.seconds)
    let (days, rest) = DateText.daysAndSeconds(moment.seconds + offset)
    dayNumber = days
    (year, month, day) = DateText.civil(days)
    hour = rest / 3600
    minute = rest / 60 % 60
    nanosecond = rest % 60 * 1_000_000_000 + moment.nanoseconds
    digits = moment.count
  }

  /// Returns the whole seconds of a date since 1970, at the precision of its text, or `nil` if it has no
  /// components.
  static func seconds(of date: Date) -> Int? {
    let interval = date.timeIntervalSinceReferenceDate
    return interval.magnitude < farthest ? DateText.shortest(interval).seconds : nil
  }

  /// The seconds, as the double nearest to the digits of the text.
  var second: Double { Double(nanosecond) / 1e9 }
  var wholeSecond: Int { nanosecond / 1_000_000_000 }
  var nanoseconds: Int { nanosecond % 1_000_000_000 }

  /// The day of the week by ISO 8601, from 1 for Monday to 7 for Sunday.
  var weekday: Int {
    dayNumber - DateUnit.week.firstDay(ofIndex: DateUnit.week.index(ofDay: dayNumber)) + 1
  }

  /// The day of the year, from 1.
  var dayOfYear: Int { dayNumber - DateText.days(year: year, month: 1, day: 1) + 1 }

  /// The week by ISO 8601, and the year it belongs to: that of its Thursday.
  var week: (year: Int, number: Int) {
    let thursday = dayNumber - weekday + 4
    let year = DateText.civil(thursday).year
    return (year, (thursday - DateText.days(year: year, month: 1, day: 1)) / 7 + 1)
  }

  /// Text such as `2026-11-20T21:17:00.123Z`, with the fewest of 3, 6 or 9 digits that restore the
  /// date.
  var text: String {
    func pad(_ number: Int, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    let fraction = pad(nanoseconds, 9).prefix(digits)
    return
      "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))T\(pad(hour, 2)):\(pad(minute, 2)):"
      + "\(pad(wholeSecond, 2)).\(fraction)Z"
  }
}
