// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation

/// The results of the same scenarios with increasing numbers of documents.
struct GrowthReport {
  /// In ascending order of their documents.
  let results: [RunResult]

  /// The time of NanoStore per operation, with the ratio to SQLite's C API.
  var table: Table {
    let header = ["operation"] + results.map { "\($0.documents.groupedText) documents" }
    let rows = scenarios.map { first in
      [first.title]
        + results.map { result in
          guard let ours = result.ours(first.name) else { return "" }
          return "\(ours.cpu.nanosecondsText) (\(ours.markedRatio))"
        }
    }
    return Table(header: header, rows: rows)
  }

  /// - Parameter chart: The path of the chart relative to the document.
  func markdown(chart: String?) -> String {
    let picture = chart.map { "![The cost of an operation by the number of documents](\($0))\n\n" }
    return """
      \(table.markdown)

      \(picture ?? "")Nanoseconds of processor time with NanoStore, and in parentheses the ratio to SQLite's C API; \
      \((results.first?.rounds ?? 0).roundsText); \(results.first?.machine.description ?? "").

      """
  }

  /// The cost relative to the smallest number of documents.
  var chart: LineChart {
    LineChart(
      title: "Cost per operation, relative to \(sizes.first?.groupedText ?? "") documents",
      places: sizes.map(Double.init),
      lines: scenarios.map { first in
        let costs = results.map { $0.ours(first.name)?.cpu ?? .nan }
        return LineChart.Line(
          name: "\(first.work), per \(first.unit)", values: costs.map { $0 / (costs.first ?? .nan) }
        )
      })
  }

  private var scenarios: [ScenarioResult] { results.first?.scenarios ?? [] }
  private var sizes: [Int] { results.map(\.documents) }
}

extension ScenarioResult {
  fileprivate var title: String {
    let variant = variants(as: .ours).first.map { " (\($0.name))" } ?? ""
    return "\(work)\(variant), per \(unit)"
  }
}

extension RunResult {
  fileprivate func ours(_ scenario: String) -> VariantResult? {
    scenarios.first { $0.name == scenario }?.variants(as: .ours).first
  }
}
