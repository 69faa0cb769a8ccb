// SPDX-License-Identifier: MIT

import Testing

@testable import BenchmarkKit
@testable import nanobench

@Suite struct ReportTests {
  @Test("A ratio is the median of the ratios within each round")
  func pairedRatio() {
    let measurements = [
      measurement(.raw, milliseconds: [10, 40, 20]),
      measurement(.ours, milliseconds: [20, 40, 60], target: 1.5),
    ]

    let result = ScenarioResult(scenario, measurements)

    #expect(result.variants[1].ratio == 2)
    #expect(result.variants[1].cpu == 40_000)
    #expect(result.variants[1].missesTarget)
  }

  @Test("The report has one row per NanoStore variant, and a column per other product")
  func markdown() {
    let measurements = [
      measurement(.raw, milliseconds: [10]),
      measurement(.record, milliseconds: [90]),
      measurement(.other, Comparison.realColumns, milliseconds: [20]),
      measurement(.other, Comparison.realColumns + ", one field read", milliseconds: [15]),
      measurement(.other, Comparison.handWritten, milliseconds: [40]),
      measurement(.other, "another decoder", milliseconds: [50]),
      measurement(.ours, milliseconds: [12], target: 1.3),
      measurement(.ours, "ours, one field read", milliseconds: [20], target: 1.3),
    ]
    let machine = Machine(system: "Test", processors: 2, sqlite: "3.40.1")
    let run = RunResult(
      machine: machine, documents: 1000, rounds: 1,
      scenarios: [ScenarioResult(scenario, measurements)])

    #expect(
      run.markdownReport == """
        | operation | SQLite C API (ns) | NanoStore | target | SQLite C, real columns | GRDB hand-written records | \
        GRDB Codable records |
        | --- | ---: | ---: | ---: | ---: | ---: | ---: |
        | scan all (another decoder), per document | 10000 | 5.00 |  |  |  |  |
        | scan all (ours), per document | 10000 | 1.20 | 1.30 | 2.00 | 4.00 | 9.00 |
        | scan all (ours, one field read), per document | 10000 | **2.00** missed | 1.30 | 1.50 | 4.00 | 9.00 |

        Processor time, one round, 1000 documents; Test, 2 processors, SQLite 3.40.1.

        """)
  }

  @Test("The table of cold starts marks a ratio and a time above the target")
  func cold() {
    let scenario = ColdStartScenario(documents: 10)
    let measurements = [
      measurement(.raw, milliseconds: [1]),
      measurement(.other, Comparison.handWritten, milliseconds: [2]),
      measurement(.ours, milliseconds: [4], target: 1.3),
    ]

    let table = ScenarioResult(scenario, measurements).coldTable

    #expect(
      table.rows.first == [
        scenario.work, "1.00", "**4.00** missed", "**4.00** missed", "1.30, 3 ms", "2.00",
      ])
  }

  @Test("The table of a mixed load has ratios within each round")
  func mixed() {
    func line(_ product: String, _ reads: [Double], _ writes: [Double]) -> MixedBench.Line {
      var line = MixedBench.Line(
        load: .get, readers: 4, calls: .async, product: product, readRates: reads,
        writeRates: writes)
      line.reads.add(1500)
      return line
    }

    let lines = [
      line("NanoStore", [200, 600, 300], [10, 10, 10]),
      line(MixedContestant.reference, [100, 200, 300], [20, 20, 20]),
    ]

    #expect(
      lines.table.rows.first == [
        "get by key", "4", "async", "NanoStore", "300", "10", "1.5", "1.5", "1.5", "2.00", "0.50",
      ])
  }

  @Test("A benchmark of another library is in a separate table with that library's ratio")
  func originals() {
    let measured = [
      measurement(.raw, milliseconds: [10]), measurement(.ours, milliseconds: [12], target: 1.3),
    ]
    let machine = Machine(system: "Test", processors: 2, sqlite: "3.40.1")
    let run = RunResult(
      machine: machine, documents: 1000, rounds: 1,
      scenarios: [ScenarioResult(TestScenario(answers: [0, 0], original: 65), measured)])

    #expect(!run.markdownReport.contains("GRDB Codable records"))
    #expect(
      run.markdownReport.contains(
        "| scan all (ours), per document | 10000 | 1.20 | 1.30 | 65.0 |"))
  }

  @Test("The object graph table separates measured and quoted ratios")
  func graph() {
    let measured = [
      measurement(.raw, milliseconds: [10]), measurement(.other, milliseconds: [30]),
      measurement(.ours, milliseconds: [12], target: 1.4), measurement(.ours, milliseconds: [20]),
    ]
    let machine = Machine(system: "Test", processors: 2, sqlite: "3.40.1")
    let run = RunResult(
      machine: machine, documents: 1000, rounds: 1,
      scenarios: [ScenarioResult(TestScenario(answers: [0, 0], original: 1.75), measured)])

    #expect(
      run.graphReport == """
        | operation | SQLite C API (ns) | NanoStore | target | Tokyo Cabinet | BNRPersistence (quoted) |
        | --- | ---: | ---: | ---: | ---: | ---: |
        | scan all (ours), per document | 10000 | 1.20 | 1.40 | 3.00 | 1.75 |
        | scan all (ours), per document | 10000 | 2.00 |  | 3.00 | 1.75 |

        Processor time, one round, 1000 songs without playlists; Test, 2 processors, SQLite 3.40.1. All \
        columns but the last were measured in this run.

        """)
  }

  @Test("A ratio that rounds to the target that it exceeds has another digit")
  func exceededTarget() {
    #expect(1.304.ratioText(above: 1.3) == "1.304")
    #expect(1.31.ratioText(above: 1.3) == "1.31")
  }

  @Test("A caption names the number of rounds")
  func caption() {
    #expect(1.roundsText == "one round")
    #expect(5.roundsText == "median of 5 rounds")
  }

  @Test("The median of an even number of rounds is the mean of the middle two")
  func evenMedian() {
    #expect([4.0, 1, 3, 2].median == 2.5)
  }

  @Test("A variant with a wrong result stops the run")
  func wrongAnswer() async throws {
    let folder = try Folder.temporary()
    let runner = Runner(rounds: 1, folder: folder)

    await #expect(throws: WrongAnswer.self) {
      try await runner.run(TestScenario(answers: [1000, 999]))
    }

    try folder.remove()
  }

  private let scenario = TestScenario(answers: [0, 0])

  private func measurement(
    _ role: Role, _ name: String? = nil, milliseconds: [UInt64], target: Double? = nil
  ) -> Measurement {
    var measurement = Measurement(
      role: role, variant: Variant(name ?? "\(role)", target: target) { _ in { _ in 0 } })
    for time in milliseconds {
      measurement.add(cpu: time * 1_000_000, wall: time * 1_000_000, answer: 0)
    }
    return measurement
  }
}

private struct TestScenario: Scenario {
  let answers: [Int]
  var original: Double?

  let name = "test"
  let work = "scan all"
  let unit = "document"
  let operations = 1000

  var raw: Variant { Variant("raw") { [answers] _ in { _ in answers[0] } } }
  var record: Variant? { Variant("record") { [answers] _ in { _ in answers[1] } } }
  var ours: [Variant] { [] }
}
