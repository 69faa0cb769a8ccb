// SPDX-License-Identifier: MIT

extension ScenarioResult {
  /// The table printed during a run.
  package var textReport: String {
    var table = Table(header: ["variant", "cpu ns", "wall ns", "ratio", "wall ratio", "target", ""])
    for variant in variants {
      table.rows.append([
        variant.name, variant.cpu.nanosecondsText, variant.wall.nanosecondsText,
        variant.ratio.ratioText, variant.wallRatio.ratioText,
        variant.target?.ratioText ?? "", variant.missesTarget ? "MISSED" : "",
      ])
    }
    return "\(name): \(work), \(operations) operations, ns per \(unit)\n\(table.text)\n"
  }
}
