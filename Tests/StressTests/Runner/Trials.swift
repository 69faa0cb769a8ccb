// SPDX-License-Identifier: MIT

import ArgumentParser

/// Trials of what the store promises: each one is a command, runs for as long as its options say, and ends
/// with a line of figures. `make reliability` runs them all and writes docs/RELIABILITY.md.
@main
struct Trials: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "nanostore-stress",
    abstract: "Tries what the store promises under faults, load and hostile input.",
    subcommands: [
      CrashTrial.self, CrashWriter.self, FailingCallsTrial.self, FailingCallsWorker.self,
      PowerLossTrial.self, LimitsTrial.self, SampleCommand.self,
      ReportCommand.self,
      ProgramsTrial.self, ConcurrencyTrial.self,
      DamageTrial.self,
    ])
}
