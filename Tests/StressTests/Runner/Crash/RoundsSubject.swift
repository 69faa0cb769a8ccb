// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreEncryption
import NanoTesting

/// A store in which one process after the other plays rounds. Its ledger is kept here, outside of them.
final class RoundsSubject: CrashSubject {
  private let life: Life
  private let path: String
  private let seed: UInt64
  private let plan: RoundPlan
  private var ledger = Ledger()
  private(set) var kills = 0

  init(_ life: Life, _ path: String, seed: UInt64) throws {
    self.life = life
    self.path = path
    self.seed = seed
    plan = RoundPlan(seed: seed)
    let store = try life.open(path)
    if life != .encrypted { try store.prepareCollections() }
    try store.close()
  }

  func remove() {
    for suffix in ["", "-wal", "-shm", "-journal", ".backup"] {
      try? FileManager.default.removeItem(atPath: path + suffix)
    }
  }

  func beKilled(_ random: inout SplitMix, _ figures: inout Figures) throws {
    kills += 1
    let writer = try KilledProcess(
      "nanostore-stress",
      [
        "crash-writer", path, "--life", life.rawValue, "--seed", "\(seed)",
        "--durability", random.pick(["normal", "full", "fast"]),
      ])
    var progress = Progress(done: ledger.round, begun: ledger.round)
    // Sometimes while it opens the file and recovers what the one before left.
    for _ in 0..<(random.oneIn(6) ? 0 : random.number(1...30)) {
      guard let line = writer.line() else { throw TrialFailure("the writer ended by itself") }
      progress.note(line)
    }
    random.passAMoment()
    try require(writer.kill(), "the writer ended by itself")
    while let line = writer.line() { progress.note(line) }
    figures["killed in \(progress.upkeep ?? "or between transactions")"] += 1
    try check(progress, &figures)
  }

  private func check(_ progress: Progress, _ figures: inout Figures) throws {
    let store = try life.open(path)
    let last = try store.lastRound()
    try require(
      last >= progress.done, "round \(last) is the last; \(progress.done) was acknowledged")
    try require(last <= progress.begun, "round \(last) is there, which was never begun")
    figures["transactions acknowledged"] += progress.done - ledger.round
    figures["unacknowledged transactions kept"] += last - progress.done
    ledger.play(to: last, plan)
    try ledger.check(store, indexed: life != .encrypted)
    try store.close()
    try PlainCheck.check(path)
    if progress.sawBackup { try checkBackup(upTo: last) }
  }

  /// A backup is whole, or not there.
  private func checkBackup(upTo last: Int) throws {
    guard FileManager.default.fileExists(atPath: path + ".backup") else { return }
    let store = try life.open(path + ".backup")
    var past = Ledger()
    try past.play(to: store.lastRound(), plan)
    try require(past.round <= last, "the backup is newer than its source")
    try past.check(store)
    try store.close()
  }

  /// What the writer said.
  private struct Progress {
    var done: Int
    var begun: Int
    /// What it did when it was killed, beside transactions.
    var upkeep: String?
    var sawBackup = false

    mutating func note(_ line: String) {
      let words = line.split(separator: " ")
      guard words.count == 2 else { return }
      upkeep = words[0] == "upkeep" ? String(words[1]) : nil
      if upkeep == "backup" { sawBackup = true }
      guard let number = Int(words[1]) else { return }
      if words[0] == "done" { done = number } else { begun = number }
    }
  }
}
