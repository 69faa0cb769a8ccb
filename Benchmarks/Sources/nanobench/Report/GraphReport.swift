// SPDX-License-Identifier: MIT

import BenchmarkKit

extension RunResult {
  /// The object graph table for `docs/PERFORMANCE.md`: one row per NanoStore variant of each scenario.
  var graphReport: String {
    var table = Table(
      header: [
        "operation", "SQLite C API (ns)", "NanoStore", "target", "Tokyo Cabinet",
        "BNRPersistence (quoted)",
      ])
    for scenario in scenarios { table.rows += scenario.graphRows }
    return """
      \(table.markdown)

      Processor time, \(rounds.roundsText), \(documents) songs without playlists; \(machine.description). All \
      columns but the last were measured in this run.

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
