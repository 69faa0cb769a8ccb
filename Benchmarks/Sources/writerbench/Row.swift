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

  /// - Parameter delay: The server's `commit_delay` in microseconds.
  static func report(_ rows: [Row], _ seconds: Double, delay: Int) -> String {
    let wait = delay == 0 ? "" : " and `commit_delay` \(delay) µs"
    var table = Table(
      header: [
        "call", "writers", "pgbench (1/s)", "one store (1/s)", "ratio", "processes (1/s)", "ratio",
      ])
    table.rows = rows.map(\.cells)
    let scaling = scaling(rows).map { "\n\n" + $0 } ?? ""
    return """
      \(table.markdown)\(scaling)

      Calls per second on one collection, \(Int(seconds)) s each, server on the same machine with fsync\(wait); \
      \(ProcessInfo.processInfo.operatingSystemVersionString), \
      \(ProcessInfo.processInfo.activeProcessorCount) processors.

      """
  }
}

extension Row {
  /// How the rate of blocks grows with the number of writers.
  private static func scaling(_ rows: [Row]) -> String? {
    let blocks = rows.filter { $0.operation == .block }
    guard let one = blocks.first(where: { $0.writers == 1 }),
      let many = blocks.first(where: { $0.writers == 16 })
    else { return nil }
    let ratios = [
      many.pgbench / one.pgbench, many.tasks / one.tasks, many.processes / one.processes,
    ]
    .map { String(format: "%.1f", $0) }
    return "From 1 to 16 writers, the rate of `write` blocks grows \(ratios[0]) times in pgbench, "
      + "\(ratios[1]) times in one store and \(ratios[2]) times in processes."
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
