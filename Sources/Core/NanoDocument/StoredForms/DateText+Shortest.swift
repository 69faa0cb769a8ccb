// SPDX-License-Identifier: MIT

package import Foundation

extension DateText {
  /// A moment in decimal digits: whole seconds since 1970 and a fraction in nanoseconds, of which the
  /// first 3, 6 or 9 digits are significant.
  package struct Digits {
    package var seconds: Int
    package var nanoseconds: Int
    package var count: Int
    /// Whether the digits restore the same double.
    package var isExact: Bool
  }

  /// Returns the fewest of 3, 6 or 9 digits that restore the same double; 9 if none do, as within about
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

  /// Returns text such as `2026-11-20T21:17:00.123Z` for display, with the ``shortest(_:)`` fraction,
  /// or `nil` outside the years 0 to 9999.
  package static func text(_ date: Date) -> String? {
    let interval = date.timeIntervalSinceReferenceDate
    guard storable.contains(interval) else { return nil }
    let digits = shortest(interval)
    return String(unsafeUninitializedCapacity: length) {
      $0.baseAddress.map { write(digits, to: $0) } ?? 0
    }
  }

  /// - Returns: The number of bytes written, at most ``length``.
  static func write(_ digits: Digits, to out: UnsafeMutablePointer<UInt8>) -> Int {
    write(seconds: digits.seconds, nanoseconds: digits.nanoseconds, to: out)
    let end = 20 + digits.count
    out[end] = 0x5A  // Z
    return end + 1
  }
}
