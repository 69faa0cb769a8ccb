// SPDX-License-Identifier: MIT

import ArgumentParser
import BenchmarkKit
import Foundation
import GRDBSQLite

@main
struct NanoBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "nanobench",
    abstract: "Compares NanoStore with SQLite's C API and GRDB records.",
    discussion:
      "Databases are created in a temporary folder; set TMPDIR to measure a different disk.")

  @Option(help: "Number of documents.")
  var documents = 100_000

  @Option(help: "Number of rounds; each variant runs once per round.")
  var rounds = 5

  @Option(help: "Run only these scenarios, separated by commas.", transform: ScenarioNames.init)
  var only: ScenarioNames?

  @Option(
    help: "Run only the SQLite baseline and variants whose name contains this text, for profiling.")
  var variant: String?

  @Flag(
    help: "Replay workloads without indexes, with the best indexes, and with adaptive indexing.")
  var adaptive = false

  @Flag(help: "Measure object graphs with BNRPersistence's speed tests.")
  var graph = false

  @Option(help: "With --graph, the number of objects relative to the original tests.")
  var scale = 1.0

  @Option(help: "Write all measurements to this JSON file.")
  var json: String?

  @Option(help: "Write the Markdown table to this file.")
  var markdown: String?

  func validate() throws {
    guard documents >= Workload.minimumDocuments else {
      throw ValidationError("At least \(Workload.minimumDocuments) documents are required.")
    }
    guard scale > 0, !(graph && adaptive) else {
      throw ValidationError(
        "--graph cannot be combined with --adaptive, and --scale must be greater than 0.")
    }
    guard rounds > 0 else { throw ValidationError("At least one round is required.") }
  }

  func run() async throws {
    if adaptive { return try replay() }
    let songs = graph ? SongSet(scale: scale) : nil
    let scenarios = try chosen(
      from: songs.map(graphScenarios) ?? allScenarios(Workload(documents: documents)))
    let folder = try Folder.temporary()
    defer { try? folder.remove() }

    let runner = Runner(rounds: rounds, folder: folder, variant: variant)
    var result = RunResult(
      machine: Machine(sqlite: String(cString: sqlite3_libversion())),
      documents: songs?.count ?? documents, rounds: rounds, scenarios: [])
    for scenario in scenarios {
      let measured = try await runner.run(scenario)
      print(measured.textReport)
      result.scenarios.append(measured)
    }
    try write(result)
  }

  private func replay() throws {
    let folder = try Folder.temporary()
    defer { try? folder.remove() }
    let lines = try AdaptiveBench(
      workload: Workload(documents: documents), rounds: rounds, folder: folder,
      variant: variant
    ).run()
    print(lines.table.text)
    for line in lines {
      print("\n\(line.replay.name)")
      for index in line.made { print("  \(index)") }
    }
    if let markdown {
      let text = lines.markdown(rounds: rounds, documents: documents)
      try Data(text.utf8).write(to: URL(filePath: markdown))
    }
  }

  private func chosen(from scenarios: [any Scenario]) throws -> [any Scenario] {
    guard let only else { return scenarios }
    return try only.chosen(from: scenarios)
  }

  private func write(_ result: RunResult) throws {
    if let json { try result.jsonReport().write(to: URL(filePath: json)) }
    if let markdown {
      let text = graph ? result.graphReport : result.markdownReport
      try Data(text.utf8).write(to: URL(filePath: markdown))
    }
  }
}
