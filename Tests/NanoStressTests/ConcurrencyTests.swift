// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@Suite("Many tasks in several processes")
struct ConcurrencyTests {
  @Test("Concurrent calls on one file appear to run one after the other")
  func concurrency() throws {
    let run = try StressTestRun(
      "concurrency", "--tasks", "4", "--processes", "2", "--seconds", "3")
    #expect(run.status == 0, "\(run.report)")
    #expect((run.figures["appends checked"]?.int ?? 0) > 0)
    #expect((run.figures["promises checked"]?.int ?? 0) > 0)
  }
}
