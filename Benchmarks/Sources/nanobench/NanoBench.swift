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

  @Option(help: "With --graph or --memory, the number of objects relative to the original tests.")
  var scale = 1.0

  @Flag(help: "Measure readers beside a writer; --only selects get, find or filter.")
  var mixed = false

  @Option(help: "With --mixed, the seconds of each run.")
  var seconds = 3.0

  @Flag(help: "Measure opening a file and getting a document in a new process.")
  var cold = false

  @Option(help: "With --cold, the size of the file in megabytes.")
  var size = 1000

  @Flag(help: "Measure the memory of models, faults and scans. May be combined with --cold.")
  var memory = false

  @Option(help: "Measure with 10,000 documents, and ten times as many each up to this number.")
  var growth: Int?

  @Option(help: "With --growth, write a chart to this SVG file.")
  var chart: String?

  @Option(
    help:
      "Write all measurements to this JSON file; not available with --adaptive, --mixed and --memory."
  )
  var json: String?

  @Option(help: "Write the Markdown table to this file.")
  var markdown: String?

  @Option(parsing: .remaining, help: .hidden)
  var child: [String] = []

  func validate() throws {
    guard documents >= Workload.minimumDocuments else {
      throw ValidationError("At least \(Workload.minimumDocuments) documents are required.")
    }
    guard [graph, adaptive, mixed, cold || memory, growth != nil].count(where: { $0 }) <= 1 else {
      throw ValidationError(
        "--graph, --adaptive, --mixed and --growth cannot be combined with each other, nor with --cold and --memory."
      )
    }
    guard scale > 0, seconds > 0, size > 0 else {
      throw ValidationError("--scale, --seconds and --size must be greater than 0.")
    }
    if let growth, GrowthBench.sizes(upTo: growth).isEmpty {
      throw ValidationError("--growth requires at least 10,000 documents.")
    }
    guard rounds > 0 else { throw ValidationError("At least one round is required.") }
  }

  func run() async throws {
    guard child.isEmpty else { return try ChildProcess.perform(child) }
    let folder = try Folder.temporary()
    defer { try? folder.remove() }
    if adaptive {
      try replay(folder)
    } else if mixed {
      try await runMixed(folder)
    } else if let growth {
      try await runGrowth(growth, folder)
    } else if cold || memory {
      try await runProcesses(folder)
    } else {
      try await runScenarios(folder)
    }
  }

  private func runScenarios(_ folder: Folder) async throws {
    let songs = graph ? SongSet(scale: scale) : nil
    var scenarios = songs.map(graphScenarios) ?? allScenarios(Workload(documents: documents))
    if let only { scenarios = try only.chosen(from: scenarios) }
    let runner = Runner(rounds: rounds, folder: folder, variant: variant)
    var result = RunResult(
      machine: machine, documents: songs?.count ?? documents, rounds: rounds, scenarios: [])
    for scenario in scenarios {
      let measured = try await runner.run(scenario)
      print(measured.textReport)
      result.scenarios.append(measured)
    }
    try writeJSON(result)
    try writeMarkdown(graph ? result.graphReport : result.markdownReport)
  }
}

extension NanoBench {
  var machine: Machine { Machine(sqlite: String(cString: sqlite3_libversion())) }

  func writeJSON(_ value: some Encodable) throws {
    guard let json else { return }
    try value.jsonReport().write(to: URL(filePath: json))
  }

  func writeMarkdown(_ text: String) throws {
    guard let markdown else { return }
    try Data(text.utf8).write(to: URL(filePath: markdown))
  }
}
