// SPDX-License-Identifier: MIT

import NanoDocument

/// A unit of date arithmetic in the proleptic Gregorian calendar. Weeks start on Monday.
enum DateUnit: String, CaseIterable {
  case second, minute, hour, day, week, month, quarter, year

  /// Returns the unit of a name, ignoring case, also in the plural, or `nil`.
  init?(name: String) {
    let lower = name.lowercased()
    guard let unit = DateUnit(rawValue: lower.hasSuffix("s") ? String(lower.dropLast()) : lower)
    else { return nil }
    self = unit
  }

  /// The length in seconds of a unit that does not depend on the calendar, or `nil`.
  var seconds: Int? {
    switch self {
    case .second: 1
    case .minute: 60
    case .hour: 3600
    case .day, .week, .month, .quarter, .year: nil
    }
  }

  /// Returns the number of days, weeks, months or years before a day counted from 1970-01-01. Two days
  /// are in the same unit if their numbers are equal.
  func index(ofDay day: Int) -> Int {
    let (year, month, _) = DateText.civil(day)
    switch self {
    case .second, .minute, .hour, .day: return day
    // 1970-01-01 was a Thursday.
    case .week: return (day + 3).dividedRoundingDown(by: 7)
    case .month: return year * 12 + month - 1
    case .quarter: return year * 4 + (month - 1) / 3
    case .year: return year
    }
  }

  /// Returns the first day of a unit; the inverse of ``index(ofDay:)``.
  func firstDay(ofIndex index: Int) -> Int {
    switch self {
    case .second, .minute, .hour, .day: index
    case .week: index * 7 - 3
    case .month: Self.day(month: index, 1)
    case .quarter: Self.day(month: index * 3, 1)
    case .year: Self.day(month: index * 12, 1)
    }
  }

  /// Returns the day that is a number of units later, the last day of the month if the month is too
  /// short.
  func adding(_ count: Int, toDay day: Int) -> Int {
    let months: Int
    switch self {
    case .second, .minute, .hour, .day: return day + count
    case .week: return day + count * 7
    case .month: months = count
    case .quarter: months = count * 3
    case .year: months = count * 12
    }
    let (year, month, dayOfMonth) = DateText.civil(day)
    return Self.day(month: year * 12 + month - 1 + months, dayOfMonth)
  }

  private static func day(month index: Int, _ day: Int) -> Int {
    let year = index.dividedRoundingDown(by: 12)
    let month = index - year * 12 + 1
    let last = DateText.daysInMonth(month, of: year)
    return DateText.days(year: year, month: month, day: min(day, last))
  }
}

extension Int {
  func dividedRoundingDown(by divisor: Int) -> Int {
    let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? quotient - 1 : quotient
  }
}
