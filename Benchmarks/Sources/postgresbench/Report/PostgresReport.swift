// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation

extension RunResult {
  /// One line for each scenario, for docs/OUTGROWING-ONE-MACHINE.md.
  var postgresReport: String {
    var table = Table(
      header: ["work", "SQLite in process (µs)", "PostgreSQL (µs)", "ratio", "target"])
    table.rows = scenarios.compactMap(\.postgresRow)
    return """
      \(table.markdown)

      Wall-clock time, \(rounds.roundsText), alternating between the engines, \(documents) documents; \
      \(machine.description), on the same machine.

      """
  }
}

extension ScenarioResult {
  fileprivate var postgresRow: [String]? {
    guard let sqlite = variants(as: .raw).first, let postgres = variants(as: .ours).first else {
      return nil
    }
    return [
      "\(work), per \(unit)", sqlite.wall.microsecondsText, postgres.wall.microsecondsText,
      postgres.markedRatio, postgres.target?.ratioText ?? "",
    ]
  }
}

extension Double {
  /// Nanoseconds as microseconds, with about three digits.
  fileprivate var microsecondsText: String {
    String(format: self < 100_000 ? "%.1f" : "%.0f", self / 1_000)
  }
}
