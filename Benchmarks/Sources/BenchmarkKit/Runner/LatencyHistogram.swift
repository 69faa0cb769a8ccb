// SPDX-License-Identifier: MIT

/// Counts latencies in buckets of at most 1/64 of their value. Unlike an array of samples, it does not grow while
/// latencies are measured.
package struct LatencyHistogram: Sendable {
  private var counts = [Int](repeating: 0, count: bucketCount)
  package private(set) var count = 0

  package init() {}

  package mutating func add(_ nanoseconds: UInt64) {
    counts[Self.bucket(nanoseconds)] += 1
    count += 1
  }

  package mutating func add(_ other: LatencyHistogram) {
    for index in counts.indices { counts[index] += other.counts[index] }
    count += other.count
  }

  /// Returns the latency in nanoseconds that a part of all latencies do not exceed, rounded up to the limit of its
  /// bucket; NaN if there are no latencies.
  ///
  /// - Parameter part: 0.99 for the 99th percentile.
  package func percentile(_ part: Double) -> Double {
    guard count > 0 else { return .nan }
    let rank = max(1, Int((part * Double(count)).rounded(.up)))
    var seen = 0
    for (index, number) in counts.enumerated() {
      seen += number
      if seen >= rank { return Self.limit(of: index) }
    }
    return .nan
  }

  /// 64 buckets for each power of two.
  private static let precision = 6
  private static let width = 1 << precision
  private static let bucketCount = (64 - precision + 1) * width

  /// Latencies below 128 have a bucket each.
  private static func bucket(_ value: UInt64) -> Int {
    let shift = max(0, 63 - precision - value.leadingZeroBitCount)
    return shift * width + Int(value >> UInt64(shift))
  }

  /// Returns the largest latency in a bucket.
  private static func limit(of bucket: Int) -> Double {
    let shift = max(0, bucket / width - 1)
    let mantissa = bucket - shift * width
    return Double(mantissa + 1) * Double(sign: .plus, exponent: shift, significand: 1) - 1
  }
}
