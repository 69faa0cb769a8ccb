// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreEncryption
import NanoStoreModels
import NanoTestSupport
import NanoTesting

/// A store that creates an index automatically.
final class TuningSubject: CrashSubject {
  private let path: String
  private(set) var kills = 0

  init(_ path: String) throws {
    self.path = path
    let store = try CrashScenario.rounds.open(path)
    try store["large"].insert(
      (0..<CrashScenario.documents).map { ["n": .int(Int64($0)), "text": "some words"] })
    try store.close()
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }

  func runAndKill(_ random: inout SplitMix, _ figures: inout Figures) throws {
    kills += 1
    let writer = try KilledProcess(
      "nanostore-stress", ["crash-writer", path, "--scenario", "tuned", "--seed", "1"])
    // In most cases, continue to the point where the index is built.
    let isForBuilding = !random.oneIn(4)
    while let line = writer.line(), line != "upkeep tuning" || !isForBuilding {
      if !isForBuilding, random.oneIn(20) { break }
    }
    random.pause()
    try require(writer.kill(), "the writer ended before it was killed")
    figures["killed in tuning"] += 1

    let store = try CrashScenario.rounds.open(path)
    let documents = store["large"]
    try require(try documents.count() == CrashScenario.documents, "documents are missing")
    figures["complete indexes after a kill in tuning"] += try documents.indexes().count
    for number in [0, 77, CrashScenario.documents - 1] {
      let count = try documents.find(Field("n") == .int(Int64(number))).count()
      try require(count == 1, "\(count) documents are found instead of one")
    }
    try require(try store.verify().isEmpty, "verify: \(try store.verify())")
    try store.close()
    try PlainCheck.check(path)
  }
}

/// A collection whose documents are upgraded to the next version of their type.
final class UpgradeSubject: CrashSubject {
  private let path: String
  private(set) var kills = 0
  private var acknowledged = 0

  init(_ path: String) throws {
    self.path = path
    try fill()
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }

  private func fill() throws {
    remove()
    acknowledged = 0
    let store = try CrashScenario.rounds.open(path)
    try store[Before.Member.self].insert(
      (0..<CrashScenario.documents).map {
        Before.Member(id: "m\($0)", name: "F\($0) L\($0)", points: $0)
      })
    try store.close()
  }

  func runAndKill(_ random: inout SplitMix, _ figures: inout Figures) throws {
    kills += 1
    let writer = try KilledProcess(
      "nanostore-stress", ["crash-writer", path, "--scenario", "upgrade", "--seed", "1"])
    var done = 0
    func read(_ line: String) {
      if line.hasPrefix("done ") { done = Int(line.dropFirst(5)) ?? 0 }
    }
    for _ in 0..<random.number(1...12) {
      guard let line = writer.line(), line != "end" else { break }
      read(line)
    }
    random.pause(upTo: 10)
    try require(writer.kill(), "the writer ended before it was killed")
    while let line = writer.line() { read(line) }
    acknowledged += done
    figures["killed in upgrade"] += 1
    try check()
  }

  private func check() throws {
    let store = try CrashScenario.rounds.open(path)
    let members = store[After.Member.self]
    let upgraded = try store["members"]
      .find(.comparison(.attribute(.version), .equal, .value(2))).count()
    try require(upgraded >= acknowledged, "\(upgraded) upgraded, \(acknowledged) acknowledged")
    var seen = Set<String>()
    for member in try members.find().fetch() {
      try require(member == After.member(member.points), "\(member.id) differs")
      seen.insert(member.id)
    }
    try require(seen.count == CrashScenario.documents, "\(seen.count) members")
    try require(try store.verify().isEmpty, "verify: \(try store.verify())")
    try store.close()
    if upgraded == CrashScenario.documents { try fill() }
  }
}

/// A file imported by the command-line tool, which must be atomic.
final class ImportSubject: CrashSubject {
  private let path: String
  private let source: String
  private(set) var kills = 0

  init(_ path: String) throws {
    self.path = path
    source = path + ".ndjson"
    let lines = (0..<CrashScenario.documents * 5).map {
      "{\"id\":\"k\($0)\",\"n\":\($0),\"tags\":[\"a\",\"b\($0 % 9)\"],\"p\($0 % 50)\":{\"x\":1.5}}\n"
    }
    try lines.joined().write(toFile: source, atomically: true, encoding: .utf8)
  }

  func remove() {
    for suffix in ["", "-wal", "-shm", ".ndjson"] {
      try? FileManager.default.removeItem(atPath: path + suffix)
    }
  }

  func runAndKill(_ random: inout SplitMix, _ figures: inout Figures) throws {
    kills += 1
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: path + suffix)
    }
    try CrashScenario.rounds.open(path).using {
      try $0["members"].createIndex("tags", elements: true)
    }
    let tool = try KilledProcess("nanostore", ["import", path, "members", source, "--key", "id"])
    random.pause(upTo: 900)
    let wasKilled = tool.kill()
    figures[wasKilled ? "killed in import" : "imports that finished before the kill"] += 1
    let expected = wasKilled ? [0, CrashScenario.documents * 5] : [CrashScenario.documents * 5]
    try CrashScenario.rounds.open(path).using { store in
      let count = try store["members"].count()
      try require(expected.contains(count), "\(count) documents of an import")
      let found = try store["members"].find(Field("tags") == "b3").count()
      try require(found == count / 9 + (count % 9 > 3 ? 1 : 0), "\(found) found by an index")
      try require(try store.verify().isEmpty, "verify: \(try store.verify())")
    }
  }
}
