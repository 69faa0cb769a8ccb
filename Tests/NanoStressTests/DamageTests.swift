// SPDX-License-Identifier: MIT

import NanoStore
import Testing

extension StressTests {
  @Test(
    "A damaged store returns correct data or an error that names the damage, and can be recovered")
  func damage() throws {
    let run = try StressTestRun("damage", "--mutations", "150", "--seed", "7", "--patience", "600")
    #expect(run.status == 0, "\(run.report)")
    #expect(run.figures["damaged stores"] == 150)
    #expect(run.figures["recovered"]?.int ?? 0 > 100)
  }
}
