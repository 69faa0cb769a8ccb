// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

extension Computation {
  /// Calls a function of dates. The last operand of each may be a time zone; without one, it is UTC.
  static func date(_ function: Function, _ operands: [DocumentValue]) -> DocumentValue {
    switch function {
    case .dateTrunc:
      guard let unit = unit(operands[0]), let date = operands[1].date,
        let zone = zone(operands, at: 2)
      else { return .null }
      return DateArithmetic(zone).start(of: unit, date)
    case .dateAdd:
      guard let unit = unit(operands[0]), let count = operands[1].int64,
        let date = operands[2].date,
        let zone = zone(operands, at: 3)
      else { return .null }
      return DateArithmetic(zone).adding(count, unit, to: date)
    case .dateDiff:
      guard let unit = unit(operands[0]), let start = operands[1].date, let end = operands[2].date,
        let zone = zone(operands, at: 3)
      else { return .null }
      return DateArithmetic(zone).difference(unit, from: start, to: end)
    case .dateFormat:
      guard let date = operands[0].date, let format = operands[1].string,
        let zone = zone(operands, at: 2), let parts = DateParts(date, zone)
      else { return .null }
      return DateFormat.text(parts, format).map(DocumentValue.string) ?? .null
    case .toDate: return toDate(operands[0])
    default:
      guard let date = operands[0].date, let zone = zone(operands, at: 1),
        let parts = DateParts(date, zone)
      else { return .null }
      return part(function, parts)
    }
  }

  private static func part(_ function: Function, _ parts: DateParts) -> DocumentValue {
    switch function {
    case .year: .int(Int64(parts.year))
    case .quarter: .int(Int64((parts.month - 1) / 3 + 1))
    case .month: .int(Int64(parts.month))
    case .week: .int(Int64(parts.week.number))
    case .isoYear: .int(Int64(parts.week.year))
    case .day: .int(Int64(parts.day))
    case .dayOfYear: .int(Int64(parts.dayOfYear))
    case .weekday: .int(Int64(parts.weekday))
    case .hour: .int(Int64(parts.hour))
    case .minute: .int(Int64(parts.minute))
    case .second: .double(parts.second)
    default: .null
    }
  }

  private static func unit(_ value: DocumentValue) -> DateUnit? {
    value.string.flatMap(DateUnit.init(name:))
  }

  private static func zone(_ operands: [DocumentValue], at index: Int) -> ZoneRules? {
    guard index < operands.count else { return .utc }
    return operands[index].string.flatMap(ZoneRules.named)
  }

  private static func toDate(_ value: DocumentValue) -> DocumentValue {
    switch value {
    case .date: return value
    case .string(let text): return QueryDate.date(text).map(DocumentValue.date) ?? .null
    case .decimal:
      // Subtracted before it is rounded to a double, which is less precise for larger numbers.
      let seconds = Computation.arithmetic(
        value, .subtract, .int(Int64(DateText.referenceToUnix)))
      return seconds.double.map(DateArithmetic.date) ?? .null
    default:
      guard let seconds = value.double else { return .null }
      return DateArithmetic.date(seconds - Double(DateText.referenceToUnix))
    }
  }
}

/// Computes with dates in the local time of a time zone.
struct DateArithmetic {
  private let zone: ZoneRules

  init(_ zone: ZoneRules) { self.zone = zone }

  /// Returns a date that can be stored, or null.
  static func date(_ interval: Double) -> DocumentValue {
    guard DateText.storable.contains(interval) else { return .null }
    return .date(Date(timeIntervalSinceReferenceDate: interval))
  }

  /// Adds to the shortest decimal form of a date: a sum of doubles has another fraction where it has fewer digits.
  private static func date(_ interval: Double, plus seconds: Int) -> DocumentValue {
    let digits = DateText.shortest(interval)
    guard digits.isExact else { return date(interval + Double(seconds)) }
    return date(
      DateText.join(
        Double(digits.seconds + seconds - DateText.referenceToUnix),
        Double(digits.nanoseconds) / 1e9))
  }

  /// The date in seconds since 1970, and the day and second in local time.
  private func local(_ date: Date) -> (seconds: Int, day: Int, second: Int)? {
    guard let seconds = DateParts.seconds(of: date) else { return nil }
    let (day, second) = DateText.daysAndSeconds(seconds + zone.offset(at: seconds))
    return (seconds, day, second)
  }

  /// Returns the start of the unit that contains a date.
  func start(of unit: DateUnit, _ date: Date) -> DocumentValue {
    guard let (seconds, day, second) = local(date) else { return .null }
    let start: Int
    if let length = unit.seconds {
      // The offset of the moment itself, so that an hour that occurs twice has two starts.
      start = seconds - second % length
    } else {
      start = zone.seconds(ofLocal: unit.firstDay(ofIndex: unit.index(ofDay: day)) * 86_400)
    }
    return Self.date(Double(start - DateText.referenceToUnix))
  }

  /// Returns the date that is a number of units later. Days and longer units keep the local time.
  func adding(_ count: Int64, _ unit: DateUnit, to date: Date) -> DocumentValue {
    // Beyond this, every result is outside the years that can be stored.
    guard count.magnitude < 1 << 40, let (seconds, day, second) = local(date) else { return .null }
    let interval = date.timeIntervalSinceReferenceDate
    if let length = unit.seconds { return Self.date(interval, plus: Int(count) * length) }
    let added = unit.adding(Int(count), toDay: day)
    guard added.magnitude < 1 << 40 else { return .null }
    return Self.date(interval, plus: zone.seconds(ofLocal: added * 86_400 + second) - seconds)
  }

  /// Returns the number of unit boundaries after the first date and not after the second one, negative if the second
  /// date is earlier.
  func difference(_ unit: DateUnit, from start: Date, to end: Date) -> DocumentValue {
    guard let first = local(start), let last = local(end) else { return .null }
    if let length = unit.seconds {
      return .int(
        Int64(
          last.seconds.dividedRoundingDown(by: length)
            - first.seconds.dividedRoundingDown(by: length)))
    }
    return .int(Int64(unit.index(ofDay: last.day) - unit.index(ofDay: first.day)))
  }
}
