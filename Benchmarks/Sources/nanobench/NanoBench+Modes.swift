// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation

// What the program does instead of running the scenarios.
extension NanoBench {
  func replay(_ folder: Folder) throws {
    let lines = try AdaptiveBench(
      workload: Workload(documents: documents), rounds: rounds, folder: folder,
      variant: variant
    ).run()
    print(lines.table.text)
    for line in lines {
      print("\n\(line.replay.name)")
      for index in line.made { print("  \(index)") }
    }
    try writeMarkdown(lines.markdown(rounds: rounds, documents: documents))
  }

  func runMixed(_ folder: Folder) async throws {
    let bench = MixedBench(
      workload: Workload(documents: documents), rounds: rounds, seconds: seconds,
      folder: folder, only: only, variant: variant)
    let lines = try await bench.run()
    print(lines.table.text)
    try writeMarkdown(lines.markdown(bench, machine))
  }

  func runGrowth(_ largest: Int, _ folder: Folder) async throws {
    let bench = GrowthBench(largest: largest, rounds: rounds, folder: folder) { print($0) }
    let report = GrowthReport(results: try await bench.run(machine))
    print(report.table.text)
    try writeJSON(report.results)
    try writeMarkdown(
      report.markdown(chart: chart.map { URL(filePath: $0).lastPathComponent }))
    if let chart { try Data(report.chart.svg.utf8).write(to: URL(filePath: chart)) }
  }

  func runProcesses(_ folder: Folder) async throws {
    var parts: [String] = []
    if cold {
      let scenario = ColdStartScenario(
        documents: ColdStartScenario.documents(inMegabytes: size))
      let runner = Runner(rounds: rounds, folder: folder, variant: variant)
      let measured = try await runner.run(scenario)
      let result = RunResult(
        machine: machine, documents: scenario.documents, rounds: rounds, scenarios: [measured])
      print(measured.textReport)
      try writeJSON(result)
      parts.append(measured.coldMarkdown(result))
    }
    if memory {
      let lines = try MemoryBench(rounds: rounds, folder: folder, scale: scale).run()
      print(lines.table.text)
      parts.append(lines.markdown(rounds: rounds))
    }
    try writeMarkdown(parts.joined(separator: "\n"))
  }
}
