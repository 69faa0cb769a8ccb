// SPDX-License-Identifier: MIT

import CFaults
import Foundation
import NanoStore
import NanoTesting

/// The recorded system calls of a store from its creation.
final class PowerLossHistory {
  private let variant: PowerLossVariant
  private let plan: RoundPlan
  private let folder: StressTestFolder
  private var random: SplitMix
  private let path: String

  init(_ variant: PowerLossVariant, rounds: Int, seed: UInt64) throws {
    self.variant = variant
    plan = RoundPlan(seed: seed, batch: 30, largest: 12_000)
    random = SplitMix(seed: seed)
    folder = try StressTestFolder("power")
    path = URL(filePath: folder.path).resolvingSymlinksInPath().path
    faults_watch(path)
    faults_record()
    try write(rounds)
  }

  deinit { faults_forget() }

  /// Executes rounds and marks what was acknowledged: 0 for the creation of the store, n > 0 for the commit of round
  /// n, and n < 0 for a backup with round -n.
  private func write(_ rounds: Int) throws {
    let store = try Store(
      .file(path + "/a.db"), configuration: variant.configuration, engine: variant.engine)
    try store.prepareCollections()
    faults_mark(0)
    for number in 1...rounds {
      try store.commit(plan.round(number))
      faults_mark(Int64(number))
      switch random.number(1...12) {
      case 1: try store.compact()
      case 2:
        try store.backup(to: path + "/b.db", replacing: true)
        faults_mark(-Int64(number))
      case 3:
        try store.close()
        try store.reopen()
      default: break
      }
    }
    try store.close()
  }

  /// Simulates power losses at random moments, in order, so that each image extends the previous one.
  func lose(times: Int, _ figures: inout Figures) throws {
    let moments = (0..<times).map { _ in Int64(random.number(1...Int(faults_count()))) }.sorted()
    var image = DiskImage(upTo: 0)
    var known = Acknowledged()
    var from: Int64 = 0
    for moment in moments {
      image = DiskImage(upTo: moment, from: image, from)
      for index in from..<moment { known.note(faults_at(index)) }
      from = moment
      let disk = try StressTestFolder("disk")
      let contents = try image.write(into: disk.path, &random)
      do {
        try check(at: disk, known, &figures)
      } catch {
        disk.keep()
        throw StressTestFailure(
          "at call \(moment): \(error); the files are in \(disk.path); the disk had \(contents)")
      }
    }
  }

  private struct Acknowledged {
    var isMade = false
    var round = 0
    var backup: Int?

    mutating func note(_ entry: faults_entry) {
      guard entry.kind == FAULTS_LOG_MARK else { return }
      isMade = true
      if entry.length < 0 { backup = -Int(entry.length) } else { round = Int(entry.length) }
    }
  }

  private func check(
    at disk: StressTestFolder, _ known: Acknowledged, _ figures: inout Figures
  ) throws {
    let store = try Store(
      .file(disk.file("a.db")), configuration: variant.configuration, engine: variant.engine)
    let last = try store.lastRound()
    try require(last <= known.round + 1, "the store has round \(last), which was never started")
    if variant.durability == .full {
      try require(
        last >= known.round, "the last round is \(last), but \(known.round) was acknowledged")
    }
    figures["commits lost with normal"] += max(0, known.round - last)
    figures["commits kept"] += last
    // Before the first round, indexes are still being created.
    let isMade = last > 0 || (known.isMade && variant.durability == .full)
    if isMade {
      var expectedState = ExpectedState()
      expectedState.advance(to: last, plan)
      try expectedState.check(store)
    } else {
      try require(try store.verify().isEmpty, "verify: \(try store.verify())")
    }
    try store.commit(plan.round(last + 1), hasUniqueNames: isMade)
    try store.close()
    try PlainCheck.check(disk.file("a.db"))
    if let backup = known.backup { try check(atBackup: disk, backup) }
  }

  private func check(atBackup disk: StressTestFolder, _ acknowledged: Int) throws {
    try require(try disk.names.contains("b.db"), "the backup is missing")
    let store = try Store(
      .file(disk.file("b.db")), configuration: variant.configuration, engine: variant.engine)
    var expectedState = ExpectedState()
    expectedState.advance(to: try store.lastRound(), plan)
    try require(
      expectedState.round >= acknowledged, "the backup is older than the acknowledged one")
    try expectedState.check(store)
    try store.close()
  }
}
