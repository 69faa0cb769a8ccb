// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@Suite("Short stress tests", .serialized)
struct StressTests {
  @Test("Killing writing processes loses no acknowledged transaction")
  func crash() throws {
    let run = try StressTestRun("crash", "--kills", "30")
    #expect(run.status == 0, "\(run.report)")
    #expect(run.figures["kills"] == 30)
    #expect((run.figures["transactions acknowledged"]?.int ?? 0) > 0)
  }

  /// The library that records and fails system calls is for Linux.
  static let hasFaults: Bool = {
    #if os(Linux)
      true
    #else
      false
    #endif
  }()

  @Test(
    "After a power loss, the file opens with all commits or a prefix of them",
    .enabled(if: hasFaults))
  func powerLoss() throws {
    let run = try StressTestRun("power-loss", "--losses", "160", "--rounds", "25")
    #expect(run.status == 0, "\(run.report)")
    #expect(run.figures["losses"] == 160)
    #expect((run.figures["commits kept"]?.int ?? 0) > 0)
  }

  @Test(
    "A failing system call causes a typed error or none, and the store works again afterward",
    .enabled(if: hasFaults), arguments: ["wal", "full", "journal", "encrypted"])
  func failingCalls(variant: String) throws {
    let run = try StressTestRun("failing-calls", "--variant", variant, "--places", "1")
    #expect(run.status == 0, "\(run.report)")
    #expect((run.figures["faults"]?.int ?? 0) > 20)
    #expect((run.figures["errors.outOfMemory"]?.int ?? 0) > 0)
    #expect(run.figures["kinds of faults"] == 30)
    #expect(run.figures["kinds left out at the end of the time"] == "none")
  }

  @Test(
    "A run of failing calls that its time ends lists the kinds of faults that it left out",
    .enabled(if: hasFaults))
  func leftOutFaults() throws {
    let run = try StressTestRun("failing-calls", "--places", "1", "--seconds", "0")
    #expect(run.status == 0, "\(run.report)")
    #expect(run.figures["kinds of faults"] == 0)
    let leftOut = run.figures["kinds left out at the end of the time"]?.string ?? ""
    #expect(leftOut.contains("rename-io-once (wal, full, journal, encrypted)"))
  }
}
