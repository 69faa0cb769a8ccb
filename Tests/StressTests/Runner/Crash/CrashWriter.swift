// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStoreEncryption
import NanoStoreModels
import NanoTesting

/// The process that is killed. It writes, and prints what it starts and what was acknowledged.
struct CrashWriter: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "crash-writer", shouldDisplay: false)

  @Argument var path: String
  @Option var scenario: CrashScenario
  @Option var seed: UInt64
  @Option var durability = "normal"

  func run() throws {
    let store = try scenario.open(path, Durability(rawValue: durability) ?? .normal)
    say("open")
    switch scenario {
    case .rounds, .journal, .encrypted: try commitRounds(on: store)
    case .tuned: try query(store)
    case .upgrade: try upgrade(store)
    case .importing: throw StressTestFailure("the command line tool imports")
    }
  }

  private func commitRounds(on store: Store) throws {
    let plan = RoundPlan(seed: seed)
    var random = SplitMix(seed: seed ^ UInt64(getpid()))
    var number = try store.lastRound()
    while true {
      number += 1
      say("begin \(number)")
      try store.commit(plan.round(number), hasUniqueNames: scenario != .encrypted)
      say("done \(number)")
      if random.oneIn(4) { try performMaintenance(store, &random) }
    }
  }

  /// Performs maintenance that changes no documents.
  private func performMaintenance(_ store: Store, _ random: inout SplitMix) throws {
    if scenario == .encrypted {
      say("upkeep rotation")
      return try store.rotateKeys()
    }
    let people = store[RoundPlan.people]
    switch random.number(1...8) {
    case 1:
      say("upkeep index")
      try people.createIndex("n", "name", elements: false, name: "extra")
    case 2:
      say("upkeep drop")
      try people.dropIndex("extra")
    case 3:
      say("upkeep text")
      try people.dropIndex("title_text")
      try people.createFullTextIndex("title", name: "title_text")
    case 4:
      say("upkeep policy")
      let policy = try store[RoundPlan.things].indexing()
      try store[RoundPlan.things].setIndexing(policy == .everything ? .declared : .everything)
    case 5:
      say("upkeep rebuild")
      try people.rebuildIndexes()
    case 6:
      say("upkeep compact")
      try store.compact()
    case 7:
      say("upkeep backup")
      try store.backup(to: path + ".backup", replacing: true)
    default:
      say("upkeep close")
      try store.close()
      try store.reopen()
    }
  }

  private func query(_ store: Store) throws {
    let documents = store["large"]
    for round in 0... {
      say("begin \(round)")
      _ = try documents.find(Field("n") == .int(Int64(round % CrashScenario.documents))).count()
      guard round % 50 == 49 else { continue }
      say("upkeep tuning")
      try store.finishIndexTuning()
      for index in try documents.indexes() { try documents.dropIndex(index.name) }
    }
  }

  private func upgrade(_ store: Store) throws {
    try store[After.Member.self].upgrade(batch: 100) { say("done \($0.done)") }
    say("end")
    while true { sleep(10) }
  }
}

/// Prints a line without buffering.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
