// SPDX-License-Identifier: MIT

package import Foundation

extension Date {
  /// Creates the date of a moment that is stored in microseconds since 1970: the one to which its text decodes.
  ///
  /// `Date(timeIntervalSince1970:)` rounds twice, so that half of all moments would be another date.
  package init(microsecondsSince1970 time: Int64) {
    var (seconds, rest) = time.quotientAndRemainder(dividingBy: 1_000_000)
    if rest < 0 { (seconds, rest) = (seconds - 1, rest + 1_000_000) }
    self.init(
      timeIntervalSinceReferenceDate: DateText.join(
        seconds: Int(seconds), nanoseconds: Int(rest) * 1_000))
  }
}
