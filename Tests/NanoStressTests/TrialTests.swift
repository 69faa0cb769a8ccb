// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@Suite("Trials, in their short form", .serialized)
struct TrialTests {
  @Test("Processes that are killed while they write lose nothing that was acknowledged")
  func crash() throws {
    let run = try TrialRun("crash", "--kills", "30")
    #expect(run.status == 0, "\(run.report)")
    #expect(run.figures["kills"] == 30)
    #expect((run.figures["transactions acknowledged"]?.int ?? 0) > 0)
  }

  @Test("What a disk holds after a power loss opens, with all commits or a prefix of them")
  func powerLoss() throws {
    let run = try TrialRun("power-loss", "--losses", "160", "--rounds", "25")
    #expect(run.status == 0, "\(run.report)")
    #expect(run.figures["losses"] == 160)
    #expect((run.figures["commits kept"]?.int ?? 0) > 0)
  }

  @Test(
    "A call that fails is a typed error or none, and the store works again afterwards",
    arguments: ["wal", "full", "journal", "encrypted"])
  func failingCalls(variant: String) throws {
    let run = try TrialRun("failing-calls", "--variant", variant, "--places", "3")
    #expect(run.status == 0, "\(run.report)")
    #expect((run.figures["faults"]?.int ?? 0) > 50)
    #expect((run.figures["errors.outOfMemory"]?.int ?? 0) > 0)
  }
}
