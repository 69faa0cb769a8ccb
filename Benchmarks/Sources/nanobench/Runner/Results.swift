// SPDX-License-Identifier: MIT

/// What a run found out; this is what `--json` writes.
struct RunResult: Codable {
  var machine: Machine
  var documents: Int
  var rounds: Int
  var scenarios: [ScenarioResult]
}

struct ScenarioResult: Codable {
  var name: String
  var work: String
  var unit: String
  var operations: Int
  /// The ratio of the older library whose benchmark this is.
  var original: Double?
  var variants: [VariantResult]
}

/// Medians over the rounds. Times are nanoseconds per operation.
struct VariantResult: Codable {
  var role: Role
  var name: String
  var cpu: Double
  var wall: Double
  /// Processor time against raw SQLite: the median of the ratios within each round.
  var ratio: Double
  var wallRatio: Double
  var target: Double?
  /// Every round, in the order they ran.
  var cpuRounds: [Double]
  var wallRounds: [Double]

  var missesTarget: Bool { target.map { ratio > $0 } ?? false }
}

extension ScenarioResult {
  init(_ scenario: any Scenario, _ measurements: [Measurement]) {
    self.init(
      name: scenario.name, work: scenario.work, unit: scenario.unit,
      operations: scenario.operations, original: scenario.original, variants: [])
    guard let baseline = measurements.first else { return }
    variants = measurements.map {
      VariantResult($0, against: baseline, operations: scenario.operations)
    }
  }

  func variants(as role: Role) -> [VariantResult] { variants.filter { $0.role == role } }
}

extension VariantResult {
  init(_ measurement: Measurement, against baseline: Measurement, operations: Int) {
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
  }
}

extension [Double] {
  /// The value in the middle, or NaN if there is none.
  var median: Double {
    guard !isEmpty else { return .nan }
    let sorted = sorted()
    let middle = count / 2
    return count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }
}
