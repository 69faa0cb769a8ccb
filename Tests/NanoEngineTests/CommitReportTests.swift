// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQLite
import NanoTesting
import Synchronization
import Testing

@Suite("Commit reports")
struct CommitReportTests {
  private struct Undo: Error {}

  private final class CommitLog: Sendable {
    let commits = Mutex<[Commit]>([])
    func take() -> [Commit] {
      commits.withLock { commits in
        defer { commits = [] }
        return commits
      }
    }
  }

  @Test(
    "A commit report covers all changes and is never wrong, whatever the transaction did",
    arguments: 0..<6)
  func memory(seed: UInt64) throws {
    try check(try SQLiteEngine(.memory, SQLiteConfiguration()), seed)
  }

  @Test("Reports are correct in a file with everything indexed", arguments: 0..<3)
  func file(seed: UInt64) throws {
    let folder = try TemporaryFolder()
    let engine = try SQLiteEngine(.file(folder.file()), SQLiteConfiguration())
    try engine.write(nil) { try $0.setIndexing(.everything, in: "c", nil) }
    try check(engine, seed)
    try engine.close()
  }

  @Test("Reports of the reference engine are correct", arguments: 0..<3)
  func reference(seed: UInt64) throws { try check(ReferenceEngine(), seed) }

  @Test(
    "Collections whose names are in different Unicode normalization forms have reports of their own"
  )
  func normalizationForms() throws {
    let engine = try SQLiteEngine(.memory, SQLiteConfiguration())
    let (a, b) = ("caf\u{E9}", "cafe\u{301}")
    let document = GeneratedDocument(["n": 1])
    let commitLog = CommitLog()
    let observation = try engine.observeCommits { commit in
      commitLog.commits.withLock { $0.append(commit) }
    }
    try engine.write(nil) { writer in
      for name in [a, b] { _ = try document.new { try writer.insert($0, into: name) } }
    }
    _ = commitLog.take()

    try engine.write(nil) { writer in
      _ = try document.new { try writer.insert($0, into: a) }
      _ = try writer.dropCollection(b)
    }

    let commit = try #require(commitLog.take().first)
    #expect(commit.change(in: a)?.rows == [2: .inserted])
    let dropped = try #require(commit.change(in: b))
    #expect(dropped.rows == nil)
    observation.cancel()
  }

  private func check(_ engine: any Engine, _ seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let commitLog = CommitLog()
    let observation = try engine.observeCommits { commit in
      commitLog.commits.withLock { $0.append(commit) }
    }
    try engine.write(nil) { writer in
      for name in ["c", "d"] {
        try writer.createIndex(IndexDefinition(columns: [.init("u")], isUnique: true), in: name)
        let tags = IndexDefinition(columns: [.init("tags")], isUnique: true, kind: .elements)
        try writer.createIndex(tags, in: name)
      }
    }
    _ = commitLog.take()
    for _ in 0..<150 {
      let before = try Self.state(engine)
      do {
        try engine.write(nil) { try Self.transaction($0, &random) }
      } catch is Undo {
        #expect(commitLog.take().isEmpty)
        continue
      }
      let commits = commitLog.take()
      #expect(commits.count <= 1)
      let after = try Self.state(engine)
      for name in ["c", "d"] {
        try expectReported(commits.first?.change(in: name), before[name] ?? [:], after[name] ?? [:])
      }
    }
    observation.cancel()
  }

  private func expectReported(
    _ change: Change?, _ before: [Int64: String], _ after: [Int64: String]
  ) throws {
    if let change, change.rows == nil { return }
    let rows = change?.rows ?? [:]
    for id in Set(before.keys).union(after.keys) where before[id] != after[id] {
      let kind: Change.Kind =
        before[id] == nil ? .inserted : after[id] == nil ? .deleted : .updated
      #expect(rows[id] == kind)
    }
    for (id, kind) in rows { #expect((kind == .deleted) == (after[id] == nil)) }
  }

  /// Returns every document, by row ID.
  private static func state(_ engine: any Engine) throws -> [String: [Int64: String]] {
    try engine.read(.snapshot, nil) { reader in
      var state: [String: [Int64: String]] = [:]
      for name in ["c", "d"] {
        try reader.find(Query(), in: name) { stored in
          let body = String(decoding: stored.body, as: UTF8.self)
          state[name, default: [:]][stored.rowID] = "\(stored.revision ?? -1) \(body)"
          return true
        }
      }
      return state
    }
  }

  private static func transaction(
    _ writer: any EngineWriter, _ random: inout SplitMix
  ) throws {
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      switch Int.random(in: 0..<8, using: &random) {
      case 0:
        try? writer.savepoint {
          try transaction(writer, &random)
          if Bool.random(using: &random) { throw Undo() }
        }
      case 1 where Int.random(in: 0..<6, using: &random) == 0: throw Undo()
      default: try change(writer, &random)
      }
    }
  }

  /// Performs one random write. A rejected write is ignored, and the transaction continues.
  private static func change(_ writer: any EngineWriter, _ random: inout SplitMix) throws {
    let name = ["c", "C", "d"].randomElement(using: &random) ?? "c"
    let n = Int64.random(in: 0..<12, using: &random)
    let key = try DocumentKey("k\(Int.random(in: 0..<8, using: &random))")
    let object: DocumentObject = ["n": .int(n), "u": .int(n), "tags": [.int(n), .int(n + 20)]]
    let isKeyed = Bool.random(using: &random)
    let document = GeneratedDocument(object, key: isKeyed ? key : nil)
    let few = Query(.comparison(.field("n"), .less, .value(.int(n / 3))))
    do {
      switch Int.random(in: 0..<12, using: &random) {
      case 0...2: _ = try document.new { try writer.insert($0, into: name) }
      case 3...5: _ = try document.new { try writer.save($0, into: name) }
      case 6: _ = try document.new { try writer.replace(.rowID(n), with: $0, in: name) }
      case 7: _ = try document.new { try writer.replace(.key(key), with: $0, in: name) }
      case 8: _ = try writer.delete(.key(key), from: name)
      case 9: _ = try writer.delete(.rowID(n), from: name)
      case 10: _ = try writer.delete(few, from: name)
      default:
        if n == 0 { _ = try writer.delete(Query(), from: name) }
        if n == 1 { _ = try writer.dropCollection(name) }
      }
    } catch let error as StoreError
      where [.duplicateKey, .uniqueViolation].contains(error.code)
    {}
  }
}
