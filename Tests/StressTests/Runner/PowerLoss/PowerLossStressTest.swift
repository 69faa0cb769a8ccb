// SPDX-License-Identifier: MIT

import ArgumentParser
import CFaults
import Foundation
import NanoStore
import NanoTesting

/// Records how a store writes its files, and opens possible states of the disk after a power loss.
struct PowerLossStressTest: StressTest {
  static let configuration = CommandConfiguration(
    commandName: "power-loss",
    abstract: "Drops, reorders and tears unsynced writes, and checks that commits survive.")

  @Option(help: "The number of power losses.")
  var losses = 3_000
  @Option var seed: UInt64 = 1
  @Option(help: "The number of rounds in one history.")
  var rounds = 40
  @Option(help: "Tests only this journal mode.")
  var mode: String?
  @Option(help: "Tests only the history of this seed.")
  var history: UInt64?
  @Option(help: "Starts no further history after this number of seconds.")
  var seconds = 1_200.0

  /// The number of losses simulated for one history.
  private static let lossesPerHistory = 60

  func perform() throws -> Figures {
    try require(faults_available(), "system calls can be recorded only on Linux")
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
          throw StressTestFailure(
            "\(variant): \(error) (seed \(seed), history \(historySeed), after \(done) losses)")
        }
        done += count
      }
    }
    figures["losses"] = done
    return figures
  }
}

/// A journal mode and a durability level.
struct PowerLossVariant: CustomStringConvertible {
  let mode: SQLiteConfiguration.JournalMode
  let durability: Durability

  static let all: [PowerLossVariant] = [.wal, .delete, .truncate, .persist].flatMap { mode in
    [.normal, .full].map { PowerLossVariant(mode: mode, durability: $0) }
  }

  var description: String { "\(mode.rawValue) \(durability.rawValue)" }

  var configuration: Store.Configuration {
    var configuration = Store.Configuration()
    configuration.indexTuning = .off
    return configuration
  }

  var engine: SQLiteConfiguration {
    var engine = SQLiteConfiguration()
    engine.journalMode = mode
    engine.durability = durability
    engine.pageCacheSize = 60 << 10
    return engine
  }
}
