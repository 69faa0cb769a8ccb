// SPDX-License-Identifier: MIT

import BenchmarkKit

/// Measures how the cost of an operation depends on the number of documents.
struct GrowthBench {
  /// The largest number of documents.
  let largest: Int
  let rounds: Int
  let folder: Folder
  /// Receives the table of every scenario.
  let progress: (String) -> Void

  /// From 10,000, ten times as many each.
  static func sizes(upTo largest: Int) -> [Int] {
    Array(sequence(first: 10_000) { $0 <= largest / 10 ? $0 * 10 : nil }).filter { $0 <= largest }
  }

  /// Enough that no person is in the processor's cache, and few enough for ten million documents in memory.
  private static let distinctPeople = 100_000

  /// The scenarios, with one NanoStore variant each.
  private static func scenarios(_ workload: Workload) -> [any Scenario] {
    [
      ChosenVariant(base: InsertScenario(workload: workload), variant: "models"),
      GrowthCommitScenario(workload: workload),
      ChosenVariant(base: GetScenario(workload: workload), variant: "lazy document"),
      ChosenVariant(base: FindScenario(workload: workload), variant: "lazy documents"),
      ChosenVariant(base: FilterScenario(workload: workload), variant: "condition in Swift"),
      ChosenVariant(
        base: ScanScenario(workload: workload), variant: "lazy documents, no fields read"),
    ]
  }

  /// Returns the results of each size, in ascending order.
  func run(_ machine: Machine) async throws -> [RunResult] {
    var results: [RunResult] = []
    for size in Self.sizes(upTo: largest) {
      let workload = Workload(documents: size, distinct: Self.distinctPeople)
      var result = RunResult(machine: machine, documents: size, rounds: rounds, scenarios: [])
      for scenario in Self.scenarios(workload) {
        let measured = try await Runner(rounds: rounds, folder: folder).run(scenario)
        progress("\(size) documents, \(measured.textReport)")
        result.scenarios.append(measured)
      }
      results.append(result)
    }
    return results
  }
}

/// A scenario with only its baseline and one NanoStore variant.
struct ChosenVariant: Scenario {
  let base: any Scenario
  let variant: String

  var name: String { base.name }
  var work: String { base.work }
  var unit: String { base.unit }
  var operations: Int { base.operations }
  var clock: Clock { base.clock }
  var raw: Variant { base.raw }
  var ours: [Variant] { base.ours.filter { $0.name == variant } }
}
