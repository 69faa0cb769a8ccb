// SPDX-License-Identifier: MIT

import ArgumentParser
import CFaults
import Foundation
import NanoStore
import NanoTesting

/// Writes down what a store does to its files, and opens what a disk may hold when the power fails in between.
struct PowerLossTrial: Trial {
  static let configuration = CommandConfiguration(
    commandName: "power-loss",
    abstract: "Drops, reorders and tears what was not synced; commits survive as promised.")

  @Option(help: "Disks that are looked at.")
  var losses = 3_000
  @Option var seed: UInt64 = 1
  @Option(help: "Rounds that are written down at once.")
  var rounds = 40
  @Option(help: "Only this journal mode.")
  var mode: String?
  @Option(help: "Only the history of this seed.")
  var history: UInt64?
  @Option(help: "Begins no further history after so many seconds.")
  var seconds = 1_200.0

  /// Disks that are made of one history.
  private static let lossesPerHistory = 60

  func perform() throws -> Figures {
    try require(faults_available(), "calls can be written down on Linux only")
    var random = SplitMix(seed: seed)
    var figures = Figures()
    let start = ContinuousClock.now
    var variants = PowerLossVariant.all
    if let mode { variants = variants.filter { $0.mode.rawValue == mode } }
    var done = 0
    while done < losses, ContinuousClock.now - start < .seconds(seconds) {
      for variant in variants where done < losses {
        let count = min(Self.lossesPerHistory, losses - done)
        let historySeed = history ?? random.next()
        do {
          try PowerLossHistory(variant, rounds: rounds, seed: historySeed)
            .lose(times: count, &figures)
        } catch {
          throw TrialFailure(
            "\(variant): \(error) (seed \(seed), history \(historySeed), after \(done) losses)")
        }
        done += count
      }
    }
    figures["losses"] = done
    return figures
  }
}

/// A way of keeping what is not committed, and what is promised with it.
struct PowerLossVariant: CustomStringConvertible {
  let mode: Store.Configuration.JournalMode
  let durability: Store.Configuration.Durability

  static let all: [PowerLossVariant] = [.wal, .delete, .truncate, .persist].flatMap { mode in
    [.normal, .full].map { PowerLossVariant(mode: mode, durability: $0) }
  }

  var description: String { "\(mode.rawValue) \(durability.rawValue)" }

  var configuration: Store.Configuration {
    var configuration = Store.Configuration()
    configuration.indexTuning = .off
    configuration.journalMode = mode
    configuration.durability = durability
    configuration.cacheSize = 60 << 10
    return configuration
  }
}
