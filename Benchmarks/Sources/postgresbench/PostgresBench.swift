// SPDX-License-Identifier: MIT

import ArgumentParser
import BenchmarkKit
import Foundation

@main
struct PostgresBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "postgresbench",
    abstract: "Compares a store on PostgreSQL with a store on SQLite in the same process.",
    discussion:
      "SQLite files are created in a temporary folder; set TMPDIR to measure a different disk.")

  @Argument(
    help:
      "The URL of a database that is not otherwise in use. Schemas are created and removed in it.")
  var url: String

  @Option(help: "Number of documents.")
  var documents = 100_000

  @Option(help: "Number of rounds; each engine runs once per round.")
  var rounds = 5

  @Option(help: "Run only these scenarios, separated by commas.", transform: ScenarioNames.init)
  var only: ScenarioNames?

  @Option(help: "Write all measurements to this JSON file.")
  var json: String?

  @Option(help: "Write the Markdown table to this file.")
  var markdown: String?

  @Option(
    help: "Write the Markdown table of the cost of change feeds to this file; measures it instead.")
  var feed: String?

  func validate() throws {
    guard documents >= MemberSet.minimumCount else {
      throw ValidationError("At least \(MemberSet.minimumCount) documents are required.")
    }
    guard rounds > 0 else { throw ValidationError("At least one round is required.") }
  }

  func run() async throws {
    let folder = try Folder.temporary()
    defer { try? folder.remove() }
    let members = try MemberSet(count: documents)
    let contest = try Contest(members, url: url, folder: folder)
    if let feed {
      let report = try FeedCost.report(contest, members, rounds: rounds)
      print(report)
      try Data(report.utf8).write(to: URL(filePath: feed))
      return try contest.close()
    }
    let all = contest.scenarios(members)
    let scenarios = try only?.chosen(from: all) ?? all

    let runner = Runner(rounds: rounds, folder: folder)
    var result = RunResult(
      machine: contest.machine, documents: documents, rounds: rounds, scenarios: [])
    for scenario in scenarios {
      let measured = try await runner.run(scenario)
      print(measured.textReport)
      result.scenarios.append(measured)
    }
    try contest.close()
    try write(result)
  }

  private func write(_ result: RunResult) throws {
    if let json { try result.jsonReport().write(to: URL(filePath: json)) }
    if let markdown { try Data(result.postgresReport.utf8).write(to: URL(filePath: markdown)) }
    print(result.postgresReport)
  }
}

extension Contest {
  /// Returns every scenario in the order of execution and of the table.
  func scenarios(_ members: MemberSet) -> [any Scenario] {
    writing(members) + getting(members) + finding(members) + counting(members)
  }
}
