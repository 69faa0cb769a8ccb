// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStoreEncryption
import NanoTesting

/// Kills writing processes and checks the files that they leave.
struct CrashStressTest: StressTest {
  static let configuration = CommandConfiguration(
    commandName: "crash",
    abstract:
      "Kills writing processes at random moments, and checks that no acknowledged write is lost.")

  @Option(help: "The number of processes to kill.")
  var kills = 500
  @Option(help: "The seed of the rounds. It does not determine the moments of the kills.")
  var seed: UInt64 = 1
  @Option(help: "Runs only this scenario.")
  var scenario: CrashScenario?
  @Option(help: "Starts no further process after this number of seconds.")
  var seconds = 1_500.0

  /// The number of kills after which a file is replaced, so that later kills affect larger files.
  private static let killsPerFile = 12

  func perform() throws -> Figures {
    var random = SplitMix(seed: seed)
    var figures = Figures()
    figures["kills"] = 0
    let folder = try StressTestFolder("crash")
    var subjects: [CrashScenario: any CrashSubject] = [:]
    let scenarios =
      scenario.map { [$0] } ?? CrashScenario.allCases + [.rounds, .rounds, .encrypted]
    let start = ContinuousClock.now
    for kill in 1...kills where ContinuousClock.now - start < .seconds(seconds) {
      let scenario = scenarios[kill % scenarios.count]
      let subject: any CrashSubject
      if let known = subjects[scenario], known.kills < Self.killsPerFile {
        subject = known
      } else {
        subjects[scenario]?.remove()
        subject = try scenario.subject(folder.file("\(scenario.rawValue)-\(kill)"), &random)
      }
      subjects[scenario] = subject
      do {
        try subject.runAndKill(&random, &figures)
      } catch {
        folder.keep()
        throw StressTestFailure(
          "kill \(kill) of \(scenario.rawValue): \(error); the file is in \(folder.path); "
            + "reproduce with: crash --seed \(seed) --scenario \(scenario.rawValue)")
      }
      figures["kills"] += 1
      if kill % 50 == 0 { note("\(kill) kills") }
    }
    return figures
  }
}

/// A store that is repeatedly written by a process that is killed, and its expected contents.
protocol CrashSubject: AnyObject {
  var kills: Int { get }
  /// Starts a writing process, kills it, and checks the store.
  func runAndKill(_ random: inout SplitMix, _ figures: inout Figures) throws
  func remove()
}

extension CrashScenario {
  fileprivate func subject(_ path: String, _ random: inout SplitMix) throws -> any CrashSubject {
    switch self {
    case .rounds, .journal, .encrypted: try RoundsSubject(self, path, seed: random.next())
    case .tuned: try TuningSubject(path)
    case .upgrade: try UpgradeSubject(path)
    case .importing: try ImportSubject(path)
    }
  }
}

extension SplitMix {
  /// Waits for a random time with a logarithmic distribution.
  mutating func pause(upTo milliseconds: Double = 60) {
    let microseconds = exp(Double.random(in: 2...log(milliseconds * 1_000), using: &self))
    usleep(UInt32(microseconds))
  }
}
