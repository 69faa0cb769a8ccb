// SPDX-License-Identifier: MIT

import BenchmarkKit

extension RunResult {
  /// The tables for `docs/PERFORMANCE.md`: one row per NanoStore variant of each scenario.
  var markdownReport: String {
    let originals = scenarios.filter { $0.original != nil }
    var parts: [String] = []
    if originals.count < scenarios.count {
      parts.append(
        table("GRDB Codable records", scenarios.filter { $0.original == nil }))
    }
    if !originals.isEmpty {
      parts.append(
        """
        The benchmarks of NanoStore for Objective-C and NTJsonStore, on documents with six fields and an array of two elements; they have no
        GRDB variant.
        """)
      parts.append(table("original library", originals))
    }
    parts.append(
      "Processor time, median of \(rounds) rounds, \(documents) documents; \(machine.description).\n"
    )
    return parts.joined(separator: "\n\n")
  }

  private func table(_ others: String, _ scenarios: [ScenarioResult]) -> String {
    var table = Table(header: ["operation", "SQLite C API (ns)", "NanoStore", "target", others])
    for scenario in scenarios { table.rows += scenario.markdownRows }
    return table.markdown
  }
}

extension ScenarioResult {
  fileprivate var markdownRows: [[String]] {
    let raw = variants(as: .raw).first?.cpu.nanosecondsText ?? ""
    let other = (original ?? variants(as: .record).first?.ratio)?.ratioText ?? ""
    let ours = variants(as: .ours)
    guard !ours.isEmpty else { return [["\(work), per \(unit)", raw, "", "", other]] }
    let comparisons = variants(as: .other).map { variant in
      ["\(work) (\(variant.name)), per \(unit)", raw, variant.ratio.ratioText, "", ""]
    }
    return comparisons
      + ours.map { variant in
        [
          "\(work) (\(variant.name)), per \(unit)", raw,
          variant.markedRatio,
          variant.target?.ratioText ?? "", other,
        ]
      }
  }
}
