// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreEncryption
import NanoTesting

/// A store in which successive processes execute rounds. The expected contents are kept outside these processes.
final class RoundsSubject: CrashSubject {
  private let scenario: CrashScenario
  private let path: String
  private let seed: UInt64
  private let plan: RoundPlan
  private var expectedState = ExpectedState()
  /// The round of the last acknowledged backup.
  private var backedUp: Int?
  private(set) var kills = 0

  init(_ scenario: CrashScenario, _ path: String, seed: UInt64) throws {
    self.scenario = scenario
    self.path = path
    self.seed = seed
    plan = RoundPlan(seed: seed)
    let store = try scenario.open(path)
    if scenario != .encrypted { try store.prepareCollections() }
    try store.close()
  }

  func remove() {
    for suffix in ["", "-wal", "-shm", "-journal", ".backup"] {
      try? FileManager.default.removeItem(atPath: path + suffix)
    }
  }

  func runAndKill(_ random: inout SplitMix, _ figures: inout Figures) throws {
    kills += 1
    let writer = try KilledProcess(
      "nanostore-stress",
      [
        "crash-writer", path, "--scenario", scenario.rawValue, "--seed", "\(seed)",
        "--durability", random.pick(["normal", "full", "fast"]),
      ])
    var progress = Progress(done: expectedState.round, begun: expectedState.round)
    // In some cases, kill the process while it opens the file and recovers the previous transaction.
    for _ in 0..<(random.oneIn(6) ? 0 : random.number(1...30)) {
      guard let line = writer.line() else {
        throw StressTestFailure("the writer ended before it was killed")
      }
      progress.note(line)
    }
    random.pause()
    try require(writer.kill(), "the writer ended before it was killed")
    while let line = writer.line() { progress.note(line) }
    figures["killed in \(progress.upkeep ?? "or between transactions")"] += 1
    try check(progress, &figures)
  }

  private func check(_ progress: Progress, _ figures: inout Figures) throws {
    let store = try scenario.open(path)
    let last = try store.lastRound()
    try require(
      last >= progress.done, "the last round is \(last), but \(progress.done) was acknowledged")
    try require(last <= progress.begun, "the store has round \(last), which was never started")
    figures["transactions acknowledged"] += progress.done - expectedState.round
    figures["unacknowledged transactions kept"] += last - progress.done
    expectedState.advance(to: last, plan)
    try expectedState.check(store, indexed: scenario != .encrypted)
    try store.close()
    try PlainCheck.check(path)
    if let round = progress.backedUp { backedUp = round }
    figures["backups acknowledged"] += progress.backups
    if progress.sawBackup { try checkBackup(upTo: last) }
  }

  /// Checks that a backup is complete. It exists, and is no older, since one was acknowledged.
  private func checkBackup(upTo last: Int) throws {
    guard FileManager.default.fileExists(atPath: path + ".backup") else {
      return try require(backedUp == nil, "an acknowledged backup does not exist")
    }
    let store = try scenario.open(path + ".backup")
    var past = ExpectedState()
    try past.advance(to: store.lastRound(), plan)
    try require(past.round <= last, "the backup is newer than its source")
    try require(
      past.round >= backedUp ?? 0, "the backup is older than the one that was acknowledged")
    try past.check(store)
    try store.close()
  }

  /// The progress that the writer reported.
  struct Progress {
    var done: Int
    var begun: Int
    /// The maintenance operation that was killed, if any.
    var upkeep: String?
    var sawBackup = false
    /// The round of the last backup after which the writer continued.
    var backedUp: Int?
    /// The number of these backups.
    var backups = 0

    mutating func note(_ line: String) {
      if upkeep == "backup" {
        backedUp = done
        backups += 1
      }
      let words = line.split(separator: " ")
      guard words.count == 2 else { return }
      upkeep = words[0] == "upkeep" ? String(words[1]) : nil
      if upkeep == "backup" { sawBackup = true }
      guard let number = Int(words[1]) else { return }
      if words[0] == "done" { done = number } else { begun = number }
    }
  }
}
