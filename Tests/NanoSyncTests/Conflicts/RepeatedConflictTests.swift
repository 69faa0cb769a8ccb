// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery
import NanoStore
import NanoSync
import NanoTestSupport
import Synchronization
import Testing

@Suite struct RepeatedConflictTests {
  private func replicate(
    _ a: SyncDatabase, _ b: SyncDatabase, _ rules: ConflictRules, pulls: Bool = true
  ) async throws {
    var options = ReplicationOptions()
    options.rules = rules
    options.pulls = pulls
    try await Replication(a, with: LocalPeer(b), options) { _ in }.run()
  }

  @Test func `A closure decides every conflict of a document, and a merge keeps both edits`()
    async throws
  {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    let calls = Mutex(0)
    var rules = ConflictRules()
    rules.resolve = { _ in
      calls.withLock { $0 += 1 }
      return .merge
    }
    try await a.collection.save(["x": 0, "y": 0], key: "k")
    try await replicate(a, b, rules)
    for round in 1...4 as ClosedRange<Int64> {
      try await a.collection.update("k", set: ["x": .int(round)])
      try await b.collection.update("k", set: ["y": .int(round)])
      try await replicate(a, b, rules)
      for database in [a, b] {
        let object = try #require(try await database.collection.get("k")).object()
        #expect(object["x"] == .int(round) && object["y"] == .int(round))
      }
      #expect(calls.withLock { $0 } == Int(round))
    }
  }

  @Test func `Every conflict stays open until a person decides it`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    var rules = ConflictRules()
    rules.resolve = { _ in .undecided }
    try await a.collection.save(["n": 0], key: "k")
    try await replicate(a, b, rules)
    for round in 1...3 as ClosedRange<Int64> {
      try await a.collection.update("k", set: ["n": .int(round * 10)])
      try await b.collection.update("k", set: ["n": .int(round * 10 + 1)])
      try await replicate(a, b, rules)
      #expect(try a.conflictedIDs() == ["k"])
      let conflict = try #require(try a.conflict("k"))
      #expect(try a.resolve(conflict, with: ["n": .int(round * 10 + 2)]))
      try await replicate(a, b, rules)
      #expect(try await b.collection.get("k")?["n"] == .int(round * 10 + 2))
      #expect(try b.conflictedIDs().isEmpty)
    }
  }

  @Test func `Stores that decide differently agree, and what is edited afterward is kept`()
    async throws
  {
    let (a, b, hub) = (try anyDatabase(), try anyDatabase(), try anyDatabase())
    let count = Mutex<Int64>(0)
    func rules(_ name: String) -> ConflictRules {
      var rules = ConflictRules()
      rules.resolve = { conflict in
        var merged = ThreeWayMerge().merge(
          base: conflict.base ?? [:], winner: conflict.winner, other: conflict.loser
        ).object
        merged["by"] = .string(name)
        // Never the same twice.
        merged["count"] = .int(
          count.withLock {
            $0 += 1; return $0
          })
        return .object(merged)
      }
      return rules
    }
    let (ofA, ofB) = (rules("a"), rules("b"))
    try await a.collection.save(["x": 0, "y": 0], key: "k")
    try await replicate(a, hub, ofA)
    try await replicate(b, hub, ofB)
    for round in 1...3 as ClosedRange<Int64> {
      try await a.collection.update("k", set: ["x": .int(round)])
      try await b.collection.update("k", set: ["y": .int(round)])
      // Both decide before either knows of the other's decision.
      try await replicate(a, b, ofA, pulls: false)
      try await replicate(b, a, ofB, pulls: false)
      for _ in 0..<3 {
        try await replicate(a, hub, ofA)
        try await replicate(b, hub, ofB)
      }
      let contents = try a.contents()
      #expect(try contents == b.contents() && contents == hub.contents())
      #expect(try a.conflictedIDs().isEmpty && b.conflictedIDs().isEmpty)
      let object = try #require(try await a.collection.get("k")).object()
      #expect(object["x"] == .int(round) && object["y"] == .int(round))
    }
  }

  @Test(arguments: 0..<8)
  func `Equal increments are all counted when different conflicts are merged first`(_ attempt: Int)
    async throws
  {
    var rules = ConflictRules()
    rules.counters = [FieldPath(components: ["c"])]
    let databases = try (0..<4).map { _ in try anyDatabase() }
    let (p, q, r, s) = (databases[0], databases[1], databases[2], databases[3])
    try await p.collection.save(["c": 0], key: "k")
    for other in [q, r, s] { try await replicate(other, p, rules) }
    for database in [p, q, r] { try await database.collection.update("k", .increment("c", by: 1)) }
    try await replicate(p, s, rules, pulls: false)
    try await replicate(q, p, rules)
    try await replicate(r, s, rules)
    for _ in 0..<3 {
      for database in [q, r, s] { try await replicate(database, p, rules) }
    }
    for database in databases { #expect(try await database.collection.get("k")?["c"] == 3) }
  }
}
