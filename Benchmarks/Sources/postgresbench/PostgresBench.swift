// SPDX-License-Identifier: MIT

import ArgumentParser
import BenchmarkKit
import Foundation

@main
struct PostgresBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "postgresbench",
    abstract: "What a store on PostgreSQL costs against one on SQLite in the same process.",
    discussion: "SQLite's files go to a temporary folder; set TMPDIR to measure another disk.")

  @Argument(help: "The URL of a database that nobody else uses; a schema is made in it.")
  var url: String

  @Option(help: "How many documents.")
  var documents = 100_000

  @Option(help: "How many rounds; each engine runs once in every one.")
  var rounds = 5

  @Option(help: "Only these scenarios, separated by commas.", transform: ScenarioNames.init)
  var only: ScenarioNames?

  @Option(help: "Write all measurements to this file.")
  var json: String?

  @Option(help: "Write the table to this file.")
  var markdown: String?

  func validate() throws {
    guard documents >= MemberSet.minimumCount else {
      throw ValidationError("At least \(MemberSet.minimumCount) documents are needed")
    }
    guard rounds > 0 else { throw ValidationError("At least one round is needed") }
  }

  func run() async throws {
    let folder = try Folder.temporary()
    defer { try? folder.remove() }
    let members = try MemberSet(count: documents)
    let contest = try Contest(members, url: url, folder: folder)
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
