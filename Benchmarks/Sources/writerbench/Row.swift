// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation

/// The rates of one operation with one number of writers, in calls per second.
struct Row {
  var operation: Operation
  var writers: Int
  var pgbench: Double
  var tasks: Double
  var processes: Double

  private func ratio(_ rate: Double) -> String { String(format: "%.2f", rate / pgbench) }
  private func number(_ rate: Double) -> String { String(format: "%.0f", rate) }

  private var cells: [String] {
    [
      operation.label, "\(writers)", number(pgbench), number(tasks), ratio(tasks),
      number(processes), ratio(processes),
    ]
  }

  var text: String { cells.joined(separator: "  ") }

  static func report(_ rows: [Row], _ seconds: Double) -> String {
    var table = Table(
      header: [
        "call", "writers", "pgbench (1/s)", "one store (1/s)", "ratio", "processes (1/s)", "ratio",
      ])
    table.rows = rows.map(\.cells)
    return """
      \(table.markdown)

      Calls per second on one collection, \(Int(seconds)) seconds each, server on the same machine with fsync; \
      \(ProcessInfo.processInfo.operatingSystemVersionString), \
      \(ProcessInfo.processInfo.activeProcessorCount) processors.

      """
  }
}

extension Operation {
  fileprivate var label: String {
    switch self {
    case .save: "`save`"
    case .insert: "`insert`"
    case .update: "`update`"
    case .remove: "`delete`"
    case .apply: "`apply` of two saves"
    case .block: "`write` block that reads and saves a document"
    }
  }
}
