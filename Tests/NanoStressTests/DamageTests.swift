// SPDX-License-Identifier: MIT

import NanoStore
import Testing

extension TrialTests {
  @Test("A damaged store gives right data or an error that names the damage, and is recovered")
  func damage() throws {
    let run = try TrialRun("damage", "--mutations", "150", "--seed", "7")
    #expect(run.status == 0, "\(run.report)")
    #expect(run.figures["damaged stores"] == 150)
    #expect(run.figures["recovered"]?.int ?? 0 > 100)
  }
}
