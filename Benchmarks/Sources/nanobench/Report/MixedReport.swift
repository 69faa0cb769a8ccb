// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation

extension [MixedBench.Line] {
  /// The table for `docs/PERFORMANCE.md`: one row per load, number of readers, kind of calls and library.
  var table: Table {
    Table(
      header: [
        "load", "readers", "calls", "product", "reads/s", "writes/s", "p50 (µs)", "p99 (µs)",
        "p99.9 (µs)", "reads, ratio", "writes, ratio",
      ],
      rows: map(row))
  }

  private func row(_ line: MixedBench.Line) -> [String] {
    let reference = first {
      $0.product == MixedContestant.reference && $0.load == line.load
        && $0.readers == line.readers && $0.calls == line.calls
    }
    let percentiles = [0.5, 0.99, 0.999].map { (line.reads.percentile($0) / 1000).microsecondsText }
    return [
      line.load.text, "\(line.readers)", line.calls.rawValue, line.product,
      line.readRates.median.countText, line.writeRates.median.countText,
    ] + percentiles + [
      Self.ratio(line.readRates, reference?.readRates),
      Self.ratio(line.writeRates, reference?.writeRates),
    ]
  }

  /// Returns the median of the ratios within each round.
  private static func ratio(_ rates: [Double], _ reference: [Double]?) -> String {
    guard let reference else { return "" }
    return zip(rates, reference).map { $0 / $1 }.median.ratioText
  }

  func markdown(_ bench: MixedBench, _ machine: Machine) -> String {
    """
    \(table.markdown)

    Ratios are relative to \(MixedContestant.reference) records in the same round with the same calls; higher is better; \
    \(bench.rounds.roundsText) of \(bench.seconds.formatted()) s, \(bench.workload.documents.groupedText) documents, at most \
    \(MixedContestant.maximumReaders) readers at a time; \(machine.description).

    """
  }
}

extension Double {
  fileprivate var countText: String { String(format: "%.0f", self) }
  fileprivate var microsecondsText: String { String(format: self < 100 ? "%.1f" : "%.0f", self) }
}
