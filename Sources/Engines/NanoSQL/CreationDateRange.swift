// SPDX-License-Identifier: MIT

package import Foundation
package import NanoQuery

/// The stored creation dates that may satisfy a comparison with a date, in microseconds since 1970.
///
/// Creation dates are stored in whole microseconds and compared as dates, so the range is slightly wider than
/// the comparison: by the precision of dates, which is coarser than microseconds for those far away.
package struct CreationDateRange {
  /// The smallest value; `nil` if there is none.
  package let low: Int64?
  /// The largest value; `nil` if there is none.
  package let high: Int64?

  /// Returns `nil` for a date that is more than about 146,000 years away, and for a comparison whose values are not
  /// one interval.
  package init?(_ comparison: Comparison, _ date: Date) {
    let micros = date.timeIntervalSince1970 * 1e6
    guard micros.magnitude < 0x1p62 else { return nil }
    let precision = date.timeIntervalSince1970.ulp + date.timeIntervalSinceReferenceDate.ulp
    let slack = Int64(precision * 2e6) + 2
    let (low, high) = (Int64(micros) - slack, Int64(micros) + slack)
    switch comparison.interval {
    case .upTo: (self.low, self.high) = (nil, high)
    case .from: (self.low, self.high) = (low, nil)
    case .equal: (self.low, self.high) = (low, high)
    case nil: return nil
    }
  }
}
