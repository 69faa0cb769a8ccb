// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@Suite("Random programs of public API calls")
struct ProgramsTests {
  @Test("A thousand programs have the same results on SQLite and on the reference engine")
  func programs() throws {
    let run = try StressTestRun("programs", "--count", "1000")
    #expect(run.status == 0, "\(run.report)")
    #expect(run.figures["programs"] == 1_000)
  }

  @Test("The same seed generates the same programs")
  func seeds() throws {
    let runs = try (0..<2).map { _ in
      try StressTestRun("programs", "--count", "5", "--seed", "42", "--jobs", "1", "--verbose")
    }
    #expect(runs[0].report == runs[1].report)
    #expect(runs[0].report.contains("seed 46"))
  }
}
