// SPDX-License-Identifier: MIT

import Testing

@testable import BenchmarkKit

@Suite struct LatencyTests {
  @Test("Percentiles of short latencies are exact")
  func exact() {
    var histogram = LatencyHistogram()
    for latency in 1...100 { histogram.add(UInt64(latency)) }

    #expect(histogram.count == 100)
    #expect(histogram.percentile(0.5) == 50)
    #expect(histogram.percentile(0.99) == 99)
    #expect(histogram.percentile(0.999) == 100)
    #expect(histogram.percentile(0) == 1)
  }

  @Test("A percentile is at most a 64th above the latency", arguments: latencies)
  func resolution(latency: UInt64) {
    var histogram = LatencyHistogram()
    histogram.add(latency)

    let percentile = histogram.percentile(0.5)

    #expect(percentile >= Double(latency))
    #expect(percentile <= Double(latency) * (1 + 1.0 / 64))
  }

  static let latencies: [UInt64] = [1, 127, 128, 129, 999, 1_000_000, 123_456_789, 1 << 62, .max]

  @Test("A merged histogram has the latencies of both")
  func merged() {
    var fast = LatencyHistogram()
    for _ in 0..<99 { fast.add(10) }
    var slow = LatencyHistogram()
    slow.add(100)

    fast.add(slow)

    #expect(fast.count == 100)
    #expect(fast.percentile(0.99) == 10)
    #expect(fast.percentile(1) == 100)
  }

  @Test("A histogram without latencies has no percentiles")
  func empty() {
    #expect(LatencyHistogram().percentile(0.5).isNaN)
  }
}
