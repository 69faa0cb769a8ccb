// SPDX-License-Identifier: MIT

/// Converts dates to and from ISO 8601 text in UTC with nine fractional digits, so that text order is
/// chronological order.
///
/// The calendar is the proleptic Gregorian calendar, computed here: a formatter is 30 times slower.
package enum DateText {
  /// The length of `2026-11-20T21:17:00.123456789Z`.
  static let length = 30

  /// The seconds from 1970-01-01 to 2001-01-01, Foundation's reference date.
  package static let referenceToUnix = 978_307_200

  /// The years 0000 to 9999, in seconds since 2001-01-01.
  package static let storable: Range<Double> = -63_145_526_400..<252_423_993_600

  /// Splits a time interval into whole seconds since 1970 and nanoseconds. Returns `nil` if it is NaN
  /// or outside the years 0 to 9999.
  static func split(_ interval: Double) -> (seconds: Int, nanoseconds: Int)? {
    guard storable.contains(interval) else { return nil }
    return nearest(interval)
  }

  /// Splits a time interval of any year; see ``split(_:)``.
  static func nearest(_ interval: Double) -> (seconds: Int, nanoseconds: Int) {
    let whole = interval.rounded(.down)
    let nanoseconds = Int(((interval - whole) * 1e9).rounded())
    let seconds = Int(whole) + referenceToUnix
    return nanoseconds == 1_000_000_000 ? (seconds + 1, 0) : (seconds, nanoseconds)
  }

  /// Returns the time interval of a moment: the inverse of ``split(_:)``. Nine digits restore the same
  /// double, except within about 97 days of 2001-01-01, where doubles are denser than nanoseconds.
  static func join(seconds: Int, nanoseconds: Int) -> Double {
    join(Double(seconds - referenceToUnix), Double(nanoseconds) / 1e9)
  }

  /// Adds a part of a second to whole seconds since 2001-01-01.
  @inline(__always)
  package static func join(_ whole: Double, _ fraction: Double) -> Double {
    let interval = whole + fraction
    // The last 15 microseconds of 9999 are closer to the year 10000, which has no stored form.
    if _slowPath(interval == storable.upperBound), whole < interval { return interval.nextDown }
    return interval
  }

  /// - Precondition: The moment is in the years 0 to 9999, and there is less than a second of nanoseconds.
  static func write(seconds: Int, nanoseconds: Int, to out: UnsafeMutablePointer<UInt8>) {
    let (days, second) = daysAndSeconds(seconds)
    let (year, month, day) = civil(days)
    // `twoDigits` reads from a table without a check.
    precondition(
      year >= 0 && year <= 9999 && nanoseconds >= 0 && nanoseconds < 1_000_000_000,
      "A date outside the years 0 to 9999 has no text")
    twoDigits(year / 100, out)
    twoDigits(year % 100, out + 2)
    out[4] = ASCII.minus
    twoDigits(month, out + 5)
    out[7] = ASCII.minus
    twoDigits(day, out + 8)
    out[10] = 0x54  // T
    twoDigits(second / 3600, out + 11)
    out[13] = ASCII.colon
    twoDigits(second / 60 % 60, out + 14)
    out[16] = ASCII.colon
    twoDigits(second % 60, out + 17)
    out[19] = ASCII.dot
    twoDigits(nanoseconds / 10_000_000, out + 20)
    twoDigits(nanoseconds / 100_000 % 100, out + 22)
    twoDigits(nanoseconds / 1000 % 100, out + 24)
    twoDigits(nanoseconds / 10 % 100, out + 26)
    out[28] = ASCII.zero &+ UInt8(truncatingIfNeeded: nanoseconds % 10)
    out[29] = 0x5A  // Z
  }

  /// Splits seconds since 1970 into the day counted from 1970-01-01 and the second of that day.
  @inline(__always)
  package static func daysAndSeconds(_ seconds: Int) -> (days: Int, seconds: Int) {
    let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
    return rest < 0 ? (days - 1, rest + 86_400) : (days, rest)
  }

  /// Returns the date of a day counted from 1970-01-01, using 400-year eras that begin in March (Howard
  /// Hinnant, "chrono-Compatible Low-Level Date Algorithms").
  package static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let march = (5 * dayOfYear + 2) / 153
    let month = march < 10 ? march + 3 : march - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * march + 2) / 5 + 1)
  }

  /// Returns the day number of a valid date: the inverse of ``civil(_:)``.
  package static func days(year: Int, month: Int, day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  package static func daysInMonth(_ month: Int, of year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}
