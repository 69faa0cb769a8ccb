// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import Synchronization

/// The offsets of a time zone from UTC: a fixed offset, or the rules of an IANA time zone, which the
/// system's time zone data defines.
struct ZoneRules: Sendable {
  private enum Rules {
    case fixed(Int)
    case named(TimeZone)
  }
  private let rules: Rules

  static let utc = ZoneRules(rules: .fixed(0))

  /// Returns the rules of a name such as `Europe/Berlin`, `UTC` or `+05:30`, or `nil` if it is unknown.
  static func named(_ name: String) -> ZoneRules? {
    if let offset = fixedOffset(name) { return ZoneRules(rules: .fixed(offset)) }
    let key = ExactName(name)
    return known.withLock { known in
      if let rules = known[key] { return rules }
      let rules = TimeZone(identifier: name).map { ZoneRules(rules: .named($0)) }
      // Names can come from documents, so their number has no limit.
      if known.count >= maximumKnown { known.removeAll() }
      known[key] = .some(rules)
      return rules
    }
  }

  /// The rules found so far, `nil` for unknown names. Looking one up reads time zone data.
  private static let known = Mutex<[ExactName: ZoneRules?]>([:])
  /// Arbitrary; IANA has about 600 names.
  private static let maximumKnown = 1_000

  /// Parses `UTC`, `GMT`, `Z`, or an offset such as `+05:30`, `-0800` or `+2`.
  private static func fixedOffset(_ name: String) -> Int? {
    let bytes = Array(name.utf8)
    if ["UTC", "GMT", "Z"].contains(name) { return 0 }
    guard let sign = bytes.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else {
      return nil
    }
    let digits = bytes.dropFirst().filter { $0 != UInt8(ascii: ":") }
    let colons = bytes.count - 1 - digits.count
    guard digits.allSatisfy(\.isDigit), colons == 0 || (colons == 1 && bytes.count == 6),
      colons == 0 || bytes[3] == UInt8(ascii: ":"), [1, 2, 4].contains(digits.count)
    else { return nil }
    let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    let (hours, minutes) = digits.count == 4 ? (number / 100, number % 100) : (number, 0)
    // The largest offset in use is +14:00; any below a day is unambiguous.
    guard hours < 24, minutes < 60 else { return nil }
    return (hours * 3600 + minutes * 60) * (sign == UInt8(ascii: "-") ? -1 : 1)
  }

  /// Returns the offset from UTC in seconds, positive to the east, at a moment in seconds since 1970.
  func offset(at seconds: Int) -> Int {
    switch rules {
    case .fixed(let offset): offset
    case .named(let zone):
      zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
    }
  }

  /// Returns the moment when clocks in the zone show a local time, given as if it were in UTC.
  ///
  /// A time that occurs twice, when clocks go back, is the earlier moment. A time that is skipped, when
  /// clocks go forward, is later by the skipped time.
  func seconds(ofLocal local: Int) -> Int {
    if case .fixed(let offset) = rules { return local - offset }
    // Offsets change by less than a day, and not twice within two days.
    let before = offset(at: local - 86_400)
    let after = offset(at: local + 86_400)
    let early = local - before
    if before == after || offset(at: early) == before { return early }
    let late = local - after
    return offset(at: late) == after ? late : early
  }
}
