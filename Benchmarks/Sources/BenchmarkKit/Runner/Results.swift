// SPDX-License-Identifier: MIT

/// The results of a run, as written by `--json`.
package struct RunResult: Codable {
  package var machine: Machine
  package var documents: Int
  package var rounds: Int
  package var scenarios: [ScenarioResult]

  package init(machine: Machine, documents: Int, rounds: Int, scenarios: [ScenarioResult]) {
    self.machine = machine
    self.documents = documents
    self.rounds = rounds
    self.scenarios = scenarios
  }
}

package struct ScenarioResult: Codable {
  package var name: String
  package var work: String
  package var unit: String
  package var operations: Int
  /// The ratio of the older library that the benchmark comes from.
  package var original: Double?
  package var variants: [VariantResult]
}

/// Medians over the rounds. Times are nanoseconds per operation.
package struct VariantResult: Codable {
  package var role: Role
  package var name: String
  package var cpu: Double
  package var wall: Double
  /// Processor time relative to the baseline: the median of the ratios within each round.
  package var ratio: Double
  package var wallRatio: Double
  package var target: Double?
  /// The clock that the target refers to.
  package var clock: Clock
  /// Every round, in execution order.
  package var cpuRounds: [Double]
  package var wallRounds: [Double]

  package var missesTarget: Bool { target.map { judgedRatio > $0 } ?? false }
  package var judgedRatio: Double { clock == .wall ? wallRatio : ratio }
  /// The ratio, marked if it misses its target.
  package var markedRatio: String {
    guard let target, missesTarget else { return judgedRatio.ratioText }
    return "**\(judgedRatio.ratioText(above: target))** missed"
  }
}

extension ScenarioResult {
  package init(_ scenario: any Scenario, _ measurements: [Measurement]) {
    self.init(
      name: scenario.name, work: scenario.work, unit: scenario.unit,
      operations: scenario.operations, original: scenario.original, variants: [])
    guard let baseline = measurements.first else { return }
    variants = measurements.map {
      VariantResult(
        $0, against: baseline, operations: scenario.operations, clock: scenario.clock)
    }
  }

  package func variants(as role: Role) -> [VariantResult] { variants.filter { $0.role == role } }
}

extension VariantResult {
  init(
    _ measurement: Measurement, against baseline: Measurement, operations: Int, clock: Clock
  ) {
    func perOperation(_ rounds: [UInt64]) -> [Double] {
      rounds.map { Double($0) / Double(operations) }
    }
    func ratio(_ rounds: [UInt64], _ baseline: [UInt64]) -> Double {
      zip(rounds, baseline).map { Double($0) / Double($1) }.median
    }
    role = measurement.role
    name = measurement.variant.name
    cpuRounds = perOperation(measurement.cpu)
    wallRounds = perOperation(measurement.wall)
    cpu = cpuRounds.median
    wall = wallRounds.median
    self.ratio = ratio(measurement.cpu, baseline.cpu)
    wallRatio = ratio(measurement.wall, baseline.wall)
    target = measurement.variant.target
    self.clock = clock
  }
}

extension [Double] {
  /// The median, or NaN if there are no values.
  package var median: Double {
    guard !isEmpty else { return .nan }
    let sorted = sorted()
    let middle = count / 2
    return count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }
}
