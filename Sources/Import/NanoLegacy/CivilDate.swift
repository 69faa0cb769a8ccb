// SPDX-License-Identifier: MIT

import Foundation

/// Dates as the old libraries wrote them.
enum CivilDate {
  /// Parses the date of a property list: `2009-04-01T00:00:00Z`, with a year of any length.
  static func seconds(ofPropertyList text: String) -> Double? {
    var rest = Array(text.utf8)[...]
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative { rest.removeFirst() }
    let separators: [UInt8] = Array("--T::Z".utf8)
    var numbers: [Int] = []
    for separator in separators {
      let digits = rest.prefix { (0x30...0x39).contains($0) }
      guard (1...6).contains(digits.count), let value = Int(String(decoding: digits, as: UTF8.self))
      else {
        return nil
      }
      rest = rest.dropFirst(digits.count)
      guard rest.popFirst() == separator else { return nil }
      numbers.append(value)
    }
    guard rest.isEmpty, (1...12).contains(numbers[1]), (1...31).contains(numbers[2]),
      numbers[3] < 24,
      numbers[4] < 60, numbers[5] < 61
    else { return nil }
    let year = isNegative ? -numbers[0] : numbers[0]
    let days = daysSince2001(year, numbers[1], numbers[2])
    return Double(days) * 86_400 + Double(numbers[3] * 3_600 + numbers[4] * 60 + numbers[5])
  }

  /// The days from 2001-01-01 in the proleptic Gregorian calendar (Howard Hinnant,
  /// "days_from_civil").
  private static func daysSince2001(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 730_791
  }

  /// Parses the time of the last save in a row of NanoStore for Objective-C: `2012-05-28
  /// 17:24:33:512`, in the time zone, the calendar and the digits of the device. Returns
  /// microseconds since 1970.
  ///
  /// - Parameter now: The current time, which decides about the era of the Japanese calendar.
  static func microseconds(ofSave text: String, _ calendar: Calendar, now: Date) -> Int64? {
    var numbers: [Int] = []
    var isInNumber = false
    for character in text {
      guard let digit = character.wholeNumberValue, digit < 10 else {
        guard "-: .".contains(character) else { return nil }
        isInNumber = false
        continue
      }
      if !isInNumber { numbers.append(0) }
      isInNumber = true
      numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + digit
      guard numbers[numbers.count - 1] < 100_000 else { return nil }
    }
    guard numbers.count == 7 || numbers.count == 6 else { return nil }
    let milliseconds = numbers.count == 7 ? numbers[6] : 0
    guard (1...13).contains(numbers[1]), (1...31).contains(numbers[2]), numbers[3] < 24,
      numbers[4] < 60, numbers[5] < 61, milliseconds < 1_000
    else { return nil }
    let components = DateComponents(
      year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3], minute: numbers[4],
      second: numbers[5])
    guard let date = savedDate(components, calendar, now) else { return nil }
    let seconds = date.timeIntervalSince1970.rounded()
    guard seconds.magnitude < 1e12 else { return nil }
    return Int64(seconds) * 1_000_000 + Int64(milliseconds) * 1_000
  }

  private static func savedDate(
    _ components: DateComponents, _ calendar: Calendar, _ now: Date
  ) -> Date? {
    guard calendar.identifier == .japanese else { return calendar.date(from: components) }
    // The text has no era, and years begin again with each one: year 24 is 2012 in Heisei, 2042 in Reiwa.
    var components = components
    let current = calendar.component(.era, from: now)
    for era in [current, current - 1, current - 2] {
      components.era = era
      if let date = calendar.date(from: components), date <= now + dayInSeconds { return date }
    }
    return nil
  }

  /// The time zone and the clock of the device may differ from the importer's.
  private static let dayInSeconds = 86_400.0
}
