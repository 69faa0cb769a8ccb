// SPDX-License-Identifier: MIT

/// Runs scenarios. Each round runs every variant once, so that a slow minute of the machine affects all of them.
package struct Runner {
  package let rounds: Int
  package let folder: Folder
  /// Runs only the baseline and variants whose name contains this text; nil for all.
  package var variant: String?

  package init(rounds: Int, folder: Folder, variant: String? = nil) {
    self.rounds = rounds
    self.folder = folder
    self.variant = variant
  }

  package func run(_ scenario: any Scenario) async throws -> ScenarioResult {
    let folder = try folder.subfolder(scenario.name)
    let measurements = try await measure(scenario, in: folder)
    try folder.remove()
    return ScenarioResult(scenario, measurements)
  }

  private func measure(_ scenario: any Scenario, in folder: Folder) async throws -> [Measurement] {
    let contestants = scenario.contestants.filter { contestant in
      guard let variant, contestant.role != .raw else { return true }
      return contestant.variant.name.contains(variant)
    }
    var measurements = contestants.map { Measurement(role: $0.role, variant: $0.variant) }
    var runs: [Variant.Round] = []
    for index in measurements.indices {
      runs.append(try await measurements[index].variant.prepare(folder.subfolder("\(index)")))
    }
    for _ in 0..<rounds {
      for index in measurements.indices {
        let watch = Stopwatch()
        let answer = try await runs[index](watch)
        measurements[index].add(
          cpu: watch.cpuNanoseconds, wall: watch.wallNanoseconds, answer: answer)
      }
      try checkAnswers(measurements, of: scenario)
    }
    return measurements
  }

  private func checkAnswers(_ measurements: [Measurement], of scenario: any Scenario) throws {
    guard let expected = measurements.first?.answer else { return }
    for measurement in measurements where measurement.answer != expected {
      throw WrongAnswer(
        scenario: scenario.name, variant: measurement.variant.name,
        answer: measurement.answer, baseline: measurements[0].variant.name, expected: expected)
    }
  }
}

extension Scenario {
  fileprivate var contestants: [(role: Role, variant: Variant)] {
    [(.raw, raw)] + (record.map { [(.record, $0)] } ?? []) + others.map { (.other, $0) }
      + ours.map { (.ours, $0) }
  }
}

/// A variant with a wrong result, whose time is meaningless.
package struct WrongAnswer: Error, CustomStringConvertible {
  package let scenario: String
  package let variant: String
  package let answer: Int?
  package let baseline: String
  package let expected: Int

  package init(
    scenario: String, variant: String, answer: Int?, baseline: String, expected: Int
  ) {
    self.scenario = scenario
    self.variant = variant
    self.answer = answer
    self.baseline = baseline
    self.expected = expected
  }

  package var description: String {
    let given = answer.map(String.init) ?? "nothing"
    return "\(scenario): \"\(variant)\" returned \(given), \"\(baseline)\" returned \(expected)"
  }
}
