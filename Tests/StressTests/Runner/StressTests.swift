// SPDX-License-Identifier: MIT

import ArgumentParser

/// Stress tests of the store's guarantees. Each is a command that runs as long as its options specify, and ends with
/// a line of figures. `make reliability` runs all of them and generates the table in docs/RELIABILITY.md.
@main
struct StressTests: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "nanostore-stress",
    abstract: "Tests the store's guarantees under faults, load and hostile input.",
    subcommands: [
      CrashStressTest.self, CrashWriter.self, FailingCallsStressTest.self, FailingCallsWorker.self,
      PowerLossStressTest.self, LimitsStressTest.self, SampleCommand.self,
      ReportCommand.self,
      ProgramsStressTest.self, ConcurrencyStressTest.self,
      DamageStressTest.self,
    ])
}
