// SPDX-License-Identifier: MIT

extension RunResult {
  /// The table for the project's README: one line for each of our ways to do the work.
  var markdownReport: String {
    var table = Table(
      header: ["work", "raw SQLite C (ns)", "ours ratio", "target", "GRDB Codable record ratio"])
    for scenario in scenarios { table.rows += scenario.markdownRows }
    return """
      \(table.markdown)

      Processor time, median of \(rounds) rounds, \(documents) documents; \(machine.description).

      """
  }
}

extension ScenarioResult {
  fileprivate var markdownRows: [[String]] {
    let raw = variants(as: .raw).first?.cpu.nanosecondsText ?? ""
    let record = variants(as: .record).first?.ratio.ratioText ?? ""
    let ours = variants(as: .ours)
    guard !ours.isEmpty else { return [["\(work), per \(unit)", raw, "", "", record]] }
    return ours.map { variant in
      [
        "\(work) (\(variant.name)), per \(unit)", raw,
        variant.missesTarget ? "**\(variant.ratio.ratioText)** missed" : variant.ratio.ratioText,
        variant.target?.ratioText ?? "", record,
      ]
    }
  }
}

extension Machine {
  fileprivate var description: String {
    "\(system), \(processors) processors, SQLite \(sqlite)"
  }
}
