// SPDX-License-Identifier: MIT

extension RunResult {
  /// The tables for the project's README: one line for each of our ways to do the work.
  var markdownReport: String {
    """
    \(table("GRDB Codable record ratio", scenarios.filter { $0.original == nil }))

    The benchmarks of the older libraries, on documents of six attributes and a list of two; GRDB records
    were not written for them.

    \(table("the original's ratio", scenarios.filter { $0.original != nil }))

    Processor time, median of \(rounds) rounds, \(documents) documents; \(machine.description).

    """
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
    return ours.map { variant in
      [
        "\(work) (\(variant.name)), per \(unit)", raw,
        variant.missesTarget ? "**\(variant.ratio.ratioText)** missed" : variant.ratio.ratioText,
        variant.target?.ratioText ?? "", other,
      ]
    }
  }
}

extension Machine {
  fileprivate var description: String {
    "\(system), \(processors) processors, SQLite \(sqlite)"
  }
}
