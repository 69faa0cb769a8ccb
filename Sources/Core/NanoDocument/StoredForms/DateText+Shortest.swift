// SPDX-License-Identifier: MIT

package import Foundation

extension DateText {
  /// A moment in decimal digits: whole seconds since 1970 and the fraction in nanoseconds, of which
  /// the first 3, 6 or 9 digits count.
  package struct Digits {
    package var seconds: Int
    package var nanoseconds: Int
    package var count: Int
    /// Whether they restore the same double.
    package var isExact: Bool
  }

  /// The fewest digits of 3, 6 and 9 that restore the same double; 9 where none do, as within some
  /// 97 days of 2001-01-01.
  ///
  /// - Precondition: The interval is less than 2^62 seconds.
  package static func shortest(_ interval: Double) -> Digits {
    let (seconds, nanoseconds) = nearest(interval)
    for (count, unit) in [(3, 1_000_000), (6, 1000)] {
      let rounded = (nanoseconds + unit / 2) / unit * unit
      let (carry, rest) = rounded.quotientAndRemainder(dividingBy: 1_000_000_000)
      if join(seconds: seconds + carry, nanoseconds: rest) == interval {
        return Digits(seconds: seconds + carry, nanoseconds: rest, count: count, isExact: true)
      }
    }
    return Digits(
      seconds: seconds, nanoseconds: nanoseconds, count: 9,
      isExact: join(seconds: seconds, nanoseconds: nanoseconds) == interval)
  }

  /// `2026-11-20T21:17:00.123Z` for people: with the ``shortest(_:)`` fraction. Nil outside the years
  /// 0 to 9999.
  package static func text(_ date: Date) -> String? {
    let interval = date.timeIntervalSinceReferenceDate
    guard storable.contains(interval) else { return nil }
    let digits = shortest(interval)
    return String(unsafeUninitializedCapacity: length) {
      $0.baseAddress.map { write(digits, to: $0) } ?? 0
    }
  }

  /// - Returns: How many bytes were written, at most ``length``.
  static func write(_ digits: Digits, to out: UnsafeMutablePointer<UInt8>) -> Int {
    write(seconds: digits.seconds, nanoseconds: digits.nanoseconds, to: out)
    let end = 20 + digits.count
    out[end] = 0x5A  // Z
    return end + 1
  }
}
