// SPDX-License-Identifier: MIT

import BenchmarkKit

extension RunResult {
  /// The object graph table for the README, with one line for each NanoStore variant.
  var graphReport: String {
    var table = Table(
      header: [
        "work", "raw SQLite C (ns)", "ours ratio", "target", "Tokyo Cabinet ratio",
        "the original's ratio (quoted)",
      ])
    for scenario in scenarios { table.rows += scenario.graphRows }
    return """
      \(table.markdown)

      Processor time, median of \(rounds) rounds, \(documents) songs without playlists; \(machine.description). All but \
      the last column is measured in this run.

      """
  }
}

extension ScenarioResult {
  fileprivate var graphRows: [[String]] {
    let raw = variants(as: .raw).first?.cpu.nanosecondsText ?? ""
    let tokyo = variants(as: .other).first?.ratio.ratioText ?? ""
    return variants(as: .ours).map { variant in
      [
        "\(work) (\(variant.name)), per \(unit)", raw, variant.markedRatio,
        variant.target?.ratioText ?? "", tokyo, original?.ratioText ?? "",
      ]
    }
  }
}
