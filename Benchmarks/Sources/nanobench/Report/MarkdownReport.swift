// SPDX-License-Identifier: MIT

import BenchmarkKit

extension RunResult {
  /// The tables for `docs/PERFORMANCE.md`: one row per NanoStore variant of each scenario.
  var markdownReport: String {
    let originals = scenarios.filter { $0.original != nil }
    var parts: [String] = []
    if originals.count < scenarios.count {
      var table = Table(
        header: Self.columns + [
          "SQLite C, real columns", "GRDB hand-written records", "GRDB Codable records",
        ])
      for scenario in scenarios where scenario.original == nil { table.rows += scenario.rows }
      parts.append(table.markdown)
    }
    if !originals.isEmpty {
      parts.append(
        """
        The benchmarks of NanoStore for Objective-C and NTJsonStore, on documents with six fields and an array of two elements; they have no
        GRDB variant.
        """)
      var table = Table(header: Self.columns + ["original library"])
      for scenario in originals { table.rows += scenario.originalRows }
      parts.append(table.markdown)
    }
    parts.append(
      "Processor time, \(rounds.roundsText), \(documents) documents; \(machine.description).\n"
    )
    return parts.joined(separator: "\n\n")
  }

  private static let columns = ["operation", "SQLite C API (ns)", "NanoStore", "target"]
}

extension ScenarioResult {
  fileprivate var rows: [[String]] {
    let codable = variants(as: .record).first?.ratio.ratioText ?? ""
    let ours = variants(as: .ours)
    guard !ours.isEmpty else { return [["\(work), per \(unit)", raw, "", "", "", "", codable]] }
    let comparisons = variants(as: .other).filter { !$0.hasColumn }.map { variant in
      [title(variant), raw, variant.ratio.ratioText, "", "", "", ""]
    }
    return comparisons
      + ours.map { variant in
        [
          title(variant), raw, variant.markedRatio, variant.target?.ratioText ?? "",
          ratio(of: Comparison.realColumns, beside: variant),
          ratio(of: Comparison.handWritten, beside: variant), codable,
        ]
      }
  }

  fileprivate var originalRows: [[String]] {
    variants(as: .ours).map { variant in
      [
        title(variant), raw, variant.markedRatio, variant.target?.ratioText ?? "",
        original?.ratioText ?? "",
      ]
    }
  }

  private var raw: String { variants(as: .raw).first?.cpu.nanosecondsText ?? "" }

  private func title(_ variant: VariantResult) -> String {
    "\(work) (\(variant.name)), per \(unit)"
  }

  private func ratio(of comparison: String, beside ours: VariantResult) -> String {
    let others = variants(as: .other)
    let specific = others.first { other in
      let start = comparison + ", "
      return other.name.hasPrefix(start) && ours.name.hasSuffix(other.name.dropFirst(start.count))
    }
    return (specific ?? others.first { $0.name == comparison })?.ratio.ratioText ?? ""
  }
}

extension VariantResult {
  fileprivate var hasColumn: Bool {
    [Comparison.realColumns, Comparison.handWritten].contains { name.hasPrefix($0) }
  }
}
