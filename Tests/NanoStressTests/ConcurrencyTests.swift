// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@Suite("Many tasks of several processes")
struct ConcurrencyTests {
  @Test("They find one file as if each came after the other")
  func concurrency() throws {
    let run = try TrialRun(
      "concurrency", "--tasks", "4", "--processes", "2", "--seconds", "3")
    #expect(run.status == 0, "\(run.report)")
    #expect((run.figures["appends checked"]?.int ?? 0) > 0)
    #expect((run.figures["promises checked"]?.int ?? 0) > 0)
  }
}
