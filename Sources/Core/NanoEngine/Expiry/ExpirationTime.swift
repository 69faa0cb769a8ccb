// SPDX-License-Identifier: MIT

package import Foundation

/// Expirations are microseconds since 1970, like the creation dates of documents.
extension Date {
  /// The date in microseconds since 1970, rounded; `nil` beyond the years that a document can contain.
  package var microsecondsSince1970: Int64? {
    let seconds = timeIntervalSince1970
    guard seconds.isFinite, seconds.magnitude < Self.limit else { return nil }
    // In two steps: the product of a large number would lose microseconds.
    let whole = seconds.rounded(.down)
    return Int64(whole) * 1_000_000 + Int64(((seconds - whole) * 1e6).rounded(.toNearestOrEven))
  }

  /// The seconds from 1970 to the year 10000.
  private static var limit: TimeInterval { 253_402_300_800 }
}

extension Duration {
  /// The duration in whole microseconds, rounded toward zero, within the range of the result.
  package var inMicroseconds: Int64 {
    let (product, overflow) = components.seconds.multipliedReportingOverflow(by: 1_000_000)
    guard !overflow else { return components.seconds < 0 ? .min : .max }
    return product.addingOrClamping(components.attoseconds / 1_000_000_000_000)
  }
}

extension Int64 {
  /// The sum, or the limit that it exceeds.
  package func addingOrClamping(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }
}
