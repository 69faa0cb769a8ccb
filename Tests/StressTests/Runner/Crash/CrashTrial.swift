// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStoreEncryption
import NanoTesting

/// Kills processes that write, and looks at what they left.
struct CrashTrial: Trial {
  static let configuration = CommandConfiguration(
    commandName: "crash",
    abstract: "Kills writing processes at random moments; nothing acknowledged is lost.")

  @Option(help: "How many processes are killed.")
  var kills = 500
  @Option(help: "The same seed gives the same rounds, not the same moments.")
  var seed: UInt64 = 1
  @Option(help: "Only this kind of life.")
  var life: Life?
  @Option(help: "Begins no further one after so many seconds.")
  var seconds = 1_500.0

  /// Files live so long, so that later kills meet larger ones.
  private static let killsPerFile = 12

  func perform() throws -> Figures {
    var random = SplitMix(seed: seed)
    var figures = Figures()
    figures["kills"] = 0
    let folder = try TrialFolder("crash")
    var subjects: [Life: any CrashSubject] = [:]
    let lives = life.map { [$0] } ?? Life.allCases + [.rounds, .rounds, .encrypted]
    let start = ContinuousClock.now
    for kill in 1...kills where ContinuousClock.now - start < .seconds(seconds) {
      let life = lives[kill % lives.count]
      let subject: any CrashSubject
      if let known = subjects[life], known.kills < Self.killsPerFile {
        subject = known
      } else {
        subjects[life]?.remove()
        subject = try life.subject(folder.file("\(life.rawValue)-\(kill)"), &random)
      }
      subjects[life] = subject
      do {
        try subject.beKilled(&random, &figures)
      } catch {
        folder.keep()
        throw TrialFailure(
          "kill \(kill) of \(life.rawValue): \(error); the file is in \(folder.path); "
            + "again with: crash --seed \(seed) --life \(life.rawValue)")
      }
      figures["kills"] += 1
      if kill % 50 == 0 { note("\(kill) kills") }
    }
    return figures
  }
}

/// What is killed again and again, and what is known of it.
protocol CrashSubject: AnyObject {
  var kills: Int { get }
  /// Lets a process write, kills it, and checks what is there.
  func beKilled(_ random: inout SplitMix, _ figures: inout Figures) throws
  func remove()
}

extension Life {
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
  /// Lets a moment pass, short ones as likely as long ones.
  mutating func passAMoment(upTo milliseconds: Double = 60) {
    let microseconds = exp(Double.random(in: 2...log(milliseconds * 1_000), using: &self))
    usleep(UInt32(microseconds))
  }
}
