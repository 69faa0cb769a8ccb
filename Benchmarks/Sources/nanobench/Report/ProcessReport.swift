// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation

extension ScenarioResult {
  /// The table of cold starts, in milliseconds.
  var coldTable: Table {
    var table = Table(
      header: ["operation", "SQLite C API (ms)", "NanoStore (ms)", "ratio", "target", "GRDB (ms)"])
    guard let raw = variants(as: .raw).first else { return table }
    let grdb = variants(as: .other).first { $0.name == Comparison.handWritten }
    for ours in variants(as: .ours) {
      let isSlow = ours.wall > ColdStartScenario.longestStart
      let time = ours.wall.millisecondsText
      let limit = (ColdStartScenario.longestStart / 1e6).formatted()
      table.rows.append([
        work, raw.wall.millisecondsText, isSlow ? "**\(time)** missed" : time, ours.markedRatio,
        "\(ours.target?.ratioText ?? ""), \(limit) ms", grdb?.wall.millisecondsText ?? "",
      ])
    }
    return table
  }

  func coldMarkdown(_ result: RunResult) -> String {
    """
    \(coldTable.markdown)

    Wall-clock time from just before opening the file until the document is read, with the file in the page cache; \
    \(result.rounds.roundsText) of ten processes each, \(result.documents.groupedText) documents; \(result.machine.description). GRDB reads a \
    hand-written record.

    """
  }
}

extension [MemoryBench.Line] {
  var table: Table {
    Table(
      header: ["memory", "NanoStore", "target", "peak resident (MB)"],
      rows: map { line in
        [
          line.name, line.isMissed ? "**\(line.result)** missed" : line.result, line.target,
          String(format: "%.0f", line.peak / 1e6),
        ]
      })
  }

  func markdown(rounds: Int) -> String {
    """
    \(table.markdown)

    Bytes that the process has allocated and not released, beyond those of a process that only opened the store; median of \
    \(rounds) processes. The last column is the most resident memory of the process, which includes the mapped pages of the file.

    """
  }
}

extension Double {
  fileprivate var millisecondsText: String { String(format: "%.2f", self / 1e6) }
}
