// SPDX-License-Identifier: MIT

import BenchmarkKit

extension RunResult {
  /// The tables for the README, with one line for each NanoStore variant.
  var markdownReport: String {
    let originals = scenarios.filter { $0.original != nil }
    var parts: [String] = []
    if originals.count < scenarios.count {
      parts.append(
        table("GRDB Codable record ratio", scenarios.filter { $0.original == nil }))
    }
    if !originals.isEmpty {
      parts.append(
        """
        The benchmarks of the older libraries, on documents of six attributes and a list of two; GRDB records
        were not written for them.
        """)
      parts.append(table("the original's ratio", originals))
    }
    parts.append(
      "Processor time, median of \(rounds) rounds, \(documents) documents; \(machine.description).\n"
    )
    return parts.joined(separator: "\n\n")
  }

  private func table(_ others: String, _ scenarios: [ScenarioResult]) -> String {
    var table = Table(header: ["work", "raw SQLite C (ns)", "ours ratio", "target", others])
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
