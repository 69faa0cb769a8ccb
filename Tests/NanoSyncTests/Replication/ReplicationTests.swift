// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoStoreEncryption
import NanoSync
import NanoTestSupport
import Synchronization
import Testing

@Suite struct ReplicationTests {
  /// Replicates once, and returns the status at the end.
  @discardableResult
  private func replicate(
    _ a: SyncDatabase, _ b: SyncDatabase, _ change: (inout ReplicationOptions) -> Void = { _ in }
  ) async throws -> SyncStatus {
    var options = ReplicationOptions()
    change(&options)
    let status = StatusBox()
    try await Replication(a, with: LocalPeer(b), options, report: status.change).run()
    return status.value
  }

  @Test func `Two stores have the same documents after a replication`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    for n in 0..<30 { try await a.collection.save(["n": .int(Int64(n))], key: "a\(n)") }
    for n in 0..<20 { try await b.collection.save(["n": .int(Int64(n))], key: "b\(n)") }
    try await b.collection.delete("b3")
    let status = try await replicate(a, b)
    #expect((status.pulled, status.pushed) == (19, 30))
    #expect(try a.contents() == b.contents())
    #expect(try await a.collection.count() == 49)
    // Nothing is transferred twice.
    let again = try await replicate(a, b)
    #expect((again.pulled, again.pushed) == (0, 0))
    #expect(try await replicate(a, b).done == 0)
    try await a.collection.update("b7", set: ["seen": true])
    try await a.collection.delete("a1")
    #expect(try await replicate(a, b).pushed == 2)
    #expect(try await b.collection.get("b7")?["seen"] == true)
    #expect(try await b.collection.get("a1") == nil)
    #expect(try a.contents() == b.contents())
  }

  @Test func `Only the chosen direction is transferred`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await a.collection.save(["n": 1], key: "a")
    try await b.collection.save(["n": 1], key: "b")
    try await replicate(a, b) { $0.pushes = false }
    #expect(try await (a.collection.count(), b.collection.count()) == (2, 1))
    try await replicate(a, b) { $0.pulls = false }
    #expect(try await (a.collection.count(), b.collection.count()) == (2, 2))
  }

  @Test func `Edits of different fields are merged on both sides`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await a.collection.save(["title": "Alien", "plays": 10, "tags": ["x"]], key: "alien")
    try await replicate(a, b)
    try await a.collection.update(
      "alien", set: ["title": "ALIEN", "plays": 12, "tags": ["x", "a"]])
    try await b.collection.update("alien", set: ["year": 1979, "plays": 13, "tags": ["x", "b"]])
    let status = try await replicate(a, b) {
      $0.rules.counters = ["plays"]
      $0.rules.sets = ["tags"]
    }
    #expect(status.resolved == 1)
    #expect(status.overridden.isEmpty)
    let merged = try #require(try await a.collection.get("alien"))
    #expect(merged["title"] == "ALIEN")
    #expect(merged["year"] == 1979)
    #expect(merged["plays"] == 15)
    #expect(Set(merged["tags"]?.array ?? []) == ["x", "a", "b"])
    #expect(try a.contents() == b.contents())
    #expect(try a.conflictedIDs().isEmpty && b.conflictedIDs().isEmpty)
  }

  @Test func `Two devices that add the same to a counter have added both`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await a.collection.save(["title": "Alien", "stats": ["plays": 10]], key: "alien")
    try await replicate(a, b)
    for round in 1...2 as ClosedRange<Int64> {
      for database in [a, b] {
        try await database.collection.update("alien", set: ["stats.plays": .int(9 + 2 * round)])
      }
      try await replicate(a, b) { $0.rules.counters = ["stats.plays"] }
      #expect(try await a.collection.get("alien")?["stats"] == ["plays": .int(10 + 2 * round)])
      #expect(try a.contents() == b.contents())
    }
  }

  @Test func `Documents that two devices insert alike are one, as are equal edits of other fields`()
    async throws
  {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    for database in [a, b] {
      try await database.collection.save(["title": "Alien", "plays": 10], key: "alien")
      try database.catchUp()
      try await database.collection.update("alien", set: ["title": "ALIEN"])
    }
    let status = try await replicate(a, b) { $0.rules.counters = ["plays"] }
    #expect(status.resolved == 0)
    #expect(try await a.collection.get("alien")?["plays"] == 10)
    // Also after the document was deleted.
    try await a.collection.delete("alien")
    try await replicate(a, b)
    for database in [a, b] {
      try await database.collection.save(["title": "Alien", "plays": 10], key: "alien")
    }
    let again = try await replicate(a, b) { $0.rules.counters = ["plays"] }
    #expect(again.resolved == 0)
    #expect(try await b.collection.get("alien")?["plays"] == 10)
    #expect(try a.contents() == b.contents())
  }

  @Test func `Edits of one field take the winner's value and report the field`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await a.collection.save(["n": 1, "m": 1], key: "x")
    try await replicate(a, b)
    try await a.collection.update("x", set: ["n": 2])
    try await b.collection.update("x", set: ["n": 3])
    let status = try await replicate(a, b)
    #expect(status.overridden.map(\.fields) == [["n"]])
    #expect(try a.contents() == b.contents())
  }

  @Test func `Two devices that resolve at once through a server agree`() async throws {
    let (a, b, server) = (try anyDatabase(), try anyDatabase(), try anyDatabase())
    try await a.collection.save(["n": 1, "m": 1], key: "x")
    try await replicate(a, server)
    try await replicate(b, server)
    try await a.collection.update("x", set: ["n": 2])
    try await b.collection.update("x", set: ["m": 3])
    // Both push before they pull.
    for device in [a, b] { try await replicate(device, server) { $0.pulls = false } }
    for device in [a, b] { try await replicate(device, server) { $0.pushes = false } }
    #expect(try a.revision("x") == b.revision("x"))
    #expect(try await a.collection.get("x")?["n"] == 2)
    #expect(try await a.collection.get("x")?["m"] == 3)
    for device in [a, b, a] { try await replicate(device, server) }
    #expect(try a.contents() == b.contents())
    #expect(try a.contents() == server.contents())
    #expect(try server.conflictedIDs().isEmpty)
  }

  @Test func `An edit wins over a deletion, unless the rule says otherwise`() async throws {
    for rule in [ConflictRules.DeletionRule.editWins, .deletionWins] {
      let (a, b) = (try anyDatabase(), try anyDatabase())
      try await a.collection.save(["n": 1], key: "x")
      try await replicate(a, b)
      try await a.collection.delete("x")
      try await b.collection.update("x", set: ["n": 2])
      try await replicate(a, b) { $0.rules.deletions = rule }
      let expected: DocumentValue? = rule == .editWins ? 2 : nil
      #expect(try await a.collection.get("x")?["n"] == expected)
      #expect(try await b.collection.get("x")?["n"] == expected)
      #expect(try a.contents() == b.contents())
    }
  }

  @Test func `A document that is inserted again after its deletion has won stays`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await a.collection.save(["n": 1], key: "x")
    try await replicate(a, b)
    try await a.collection.delete("x")
    try await b.collection.update("x", set: ["n": 2])
    try await replicate(a, b) { $0.rules.deletions = .deletionWins }
    #expect(try await b.collection.get("x") == nil)

    try await b.collection.save(["n": 3], key: "x")
    for (mine, theirs) in [(a, b), (a, b), (b, a)] {
      try await replicate(mine, theirs) { $0.rules.deletions = .deletionWins }
      #expect(try await a.collection.get("x")?["n"] == 3)
      #expect(try await b.collection.get("x")?["n"] == 3)
    }
    #expect(try a.contents() == b.contents())
  }

  @Test func `A deletion that has won also deletes a further edit that did not know of it`()
    async throws
  {
    let (a, b, server) = (try anyDatabase(), try anyDatabase(), try anyDatabase())
    try await server.collection.save(["n": 1], key: "x")
    for database in [a, b] { try await replicate(database, server) }
    try await a.collection.delete("x")
    try await b.collection.update("x", set: ["n": 2])
    for database in [a, b] { try await replicate(database, server) { $0.pulls = false } }
    try await replicate(a, server) { $0.rules.deletions = .deletionWins }
    try await b.collection.update("x", set: ["n": 3])
    for database in [b, a, b] {
      try await replicate(database, server) { $0.rules.deletions = .deletionWins }
    }
    for database in [a, b, server] { #expect(try await database.collection.get("x") == nil) }

    try await a.collection.save(["n": 9], key: "x")
    for database in [a, b, a, b] {
      try await replicate(database, server) { $0.rules.deletions = .deletionWins }
    }
    for database in [a, b, server] {
      #expect(try await database.collection.get("x")?["n"] == 9)
    }
  }

  @Test func `A deletion wins over an edit that arrives after the document was inserted again`()
    async throws
  {
    let (a, c, new) = (try anyDatabase(), try anyDatabase(), try anyDatabase())
    let server = try anyDatabase()
    try await server.collection.save(["n": 1, "old": true], key: "x")
    for database in [a, c] { try await replicate(database, server) }
    try await a.collection.delete("x")
    try await replicate(a, server)
    try await a.collection.save(["n": 9], key: "x")
    try await replicate(a, server)
    try await c.collection.update("x", set: ["n": 3])
    for database in [c, a, new, c, a] {
      try await replicate(database, server) { $0.rules.deletions = .deletionWins }
    }
    for database in [a, c, new, server] {
      #expect(try await database.collection.get("x")?.object() == ["n": 9])
      #expect(try database.conflictedIDs().isEmpty)
    }
  }

  @Test(arguments: [false, true])
  func `A deletion wins over an edit that arrives after it was applied to another one`(
    isLate: Bool
  ) async throws {
    let (a, b, c) = (try anyDatabase(), try anyDatabase(), try anyDatabase())
    let server = try anyDatabase()
    try await server.collection.save(["n": 1], key: "x")
    for database in [a, b, c] { try await replicate(database, server) }
    try await a.collection.delete("x")
    try await b.collection.update("x", set: ["n": 2])
    try await c.collection.update("x", set: ["n": 3])
    for database in isLate ? [a, b, a, c, a, b, c] : [a, b, c, a, b, c] {
      try await replicate(database, server) { $0.rules.deletions = .deletionWins }
    }
    for database in [a, b, c, server] { #expect(try await database.collection.get("x") == nil) }
  }

  @Test func `A closure decides with all three versions`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await a.collection.save(["n": 1], key: "x")
    try await replicate(a, b)
    try await a.collection.update("x", set: ["n": 5])
    try await b.collection.update("x", set: ["n": 3])
    try await replicate(a, b) {
      $0.rules.resolve = { conflict in
        #expect(conflict.base == ["n": 1])
        #expect(conflict.mine == ["n": 5])
        #expect(conflict.theirs == ["n": 3])
        return .object(["n": 8])
      }
    }
    #expect(try await a.collection.get("x")?["n"] == 8)
    #expect(try a.contents() == b.contents())
  }

  @Test func `A conflict that is not decided stays open`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await a.collection.save(["n": 1], key: "x")
    try await replicate(a, b)
    try await a.collection.update("x", set: ["n": 2])
    try await b.collection.update("x", set: ["n": 3])
    try await replicate(a, b) { $0.rules.resolve = { _ in .undecided } }
    #expect(try a.conflictedIDs() == ["x"])
    #expect(try b.conflictedIDs() == ["x"])
    #expect(try a.contents() == b.contents())
    let conflict = try #require(try a.conflict("x"))
    #expect(try a.resolve(conflict, with: conflict.theirs))
    #expect(try !a.resolve(conflict, with: conflict.theirs))
    try await replicate(a, b)
    #expect(try b.conflictedIDs().isEmpty)
    #expect(try await b.collection.get("x")?["n"] == 3)
  }

  @Test func `Documents that both sides insert under one key are merged`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await a.collection.save(["a": 1, "same": true], key: "x")
    try await b.collection.save(["b": 2, "same": true], key: "x")
    try await replicate(a, b)
    let merged = try #require(try await a.collection.get("x")?.object())
    #expect(merged["a"] == 1 && merged["b"] == 2 && merged["same"] == true)
    #expect(try a.contents() == b.contents())
  }

  @Test func `Attachments are transferred once`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await a.collection.save(["n": 1], key: "x")
    let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
    try await a.collection.attach(
      .data(content), named: "poster", contentType: "image/png", to: "x")
    try await replicate(a, b)
    #expect(try await b.collection.attachments(of: "x").data("poster") == content)
    try await b.collection.update("x", set: ["n": 2])
    try await replicate(a, b)
    #expect(try await a.collection.get("x")?["n"] == 2)
    #expect(try await a.collection.attachments(of: "x").data("poster") == content)
    try await b.collection.attachments(of: "x").remove("poster")
    try await replicate(a, b)
    #expect(try await a.collection.attachments(of: "x").all().isEmpty)
    #expect(try a.contents() == b.contents())
  }

  @Test func `A document that violates a unique index is reported and does not stop others`()
    async throws
  {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await a.collection.createIndex("email", unique: true)
    try await a.collection.save(["email": "x"], key: "mine")
    for n in 0..<5 { try await b.collection.save(["email": n == 2 ? "x" : "\(n)"], key: "b\(n)") }
    let status = try await replicate(a, b) { $0.pushes = false }
    #expect(status.failures.map(\.key) == ["b2"])
    #expect(try await a.collection.count() == 5)
    // It is tried again, although the peer has no newer change.
    try await a.collection.delete("mine")
    #expect(try await replicate(a, b) { $0.pushes = false }.failures.isEmpty)
    #expect(try await a.collection.get("b2") != nil)
  }

  @Test func `A filter on keys or on documents omits the others`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    for n in 0..<10 { try await b.collection.save(["n": .int(Int64(n))], key: "\(n)") }
    try await replicate(a, b) { $0.pullFilter = .ids(["3", "7"]) }
    #expect(try await a.collection.find().fetch().compactMap(\.key).sorted() == ["3", "7"])
    let c = try anyDatabase()
    try await replicate(b, c) {
      $0.pushFilter = PushFilter(identity: "small") { ($0.body["n"]?.int64 ?? 0) < 4 }
    }
    #expect(try await c.collection.count() == 4)
  }

  @Test func `Everything is pulled after a filter of no keys`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await b.collection.save(["n": 1], key: "x")
    try await replicate(a, b) { $0.pullFilter = .ids([]) }
    #expect(try await a.collection.count() == 0)

    try await replicate(a, b)

    #expect(try await a.collection.count() == 1)
  }

  @Test func `Any number of requests and bytes is possible`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    for n in 0..<10 { try await b.collection.save(["n": .int(Int64(n))], key: "\(n)") }
    try await a.collection.save(["n": 1], key: "x")
    try await replicate(a, b) {
      $0.requests = .max
      $0.batchBytes = .max
    }
    #expect(try await (a.collection.count(), b.collection.count()) == (11, 11))
  }

  private struct Failure: Error {}

  @Test(arguments: [Failure(), StoreError(.unsupported, "x"), CancellationError()] as [any Error])
  func `An error of the rules' closure leaves that conflict open and stops no others`(
    _ error: any Error
  ) async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await a.collection.save(["n": 1], key: "x")
    try await replicate(a, b)
    try await a.collection.update("x", set: ["n": 5])
    try await b.collection.update("x", set: ["n": 3])
    try await b.collection.save(["n": 1], key: "y")

    let status = try await replicate(a, b) { $0.rules.resolve = { _ in throw error } }

    #expect(status.failures.map(\.key) == ["x"])
    #expect(try a.conflictedIDs() == ["x"])
    #expect(try await a.collection.get("y") != nil)
  }

  @Test func `Small batches transfer everything`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    for n in 0..<57 {
      try await a.collection.save(["text": .string(String(repeating: "x", count: n))], key: "\(n)")
    }
    try await replicate(a, b) {
      $0.batchDocuments = 5
      $0.batchBytes = 150
      $0.requests = 2
    }
    #expect(try a.contents() == b.contents())
    let c = try anyDatabase()
    try await replicate(c, b) {
      $0.batchDocuments = 7
      $0.batchBytes = 1
    }
    #expect(try c.contents() == b.contents())
  }

  @Test func `Keys in different Unicode forms are different documents`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await a.collection.save(["form": "composed"], key: "\u{E9}")
    try await a.collection.save(["form": "decomposed"], key: "e\u{301}")
    try await replicate(a, b)
    #expect(try await b.collection.count() == 2)
    #expect(try await b.collection.get("e\u{301}")?["form"] == "decomposed")
    #expect(try a.contents() == b.contents())
  }

  @Test func `A continuous replication transfers changes of both sides as they happen`()
    async throws
  {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    var options = ReplicationOptions()
    options.isContinuous = true
    let status = StatusBox()
    let replication = Replication(a, with: try LocalPeer(b), options, report: status.change)
    let task = Task { try await replication.run() }
    try await a.collection.save(["n": 1], key: "a")
    try await until { try b.collection.get("a") != nil }
    try await b.collection.save(["n": 1], key: "b")
    try await until { try a.collection.get("b") != nil }
    try await a.collection.delete("b")
    try await until { try b.collection.get("b") == nil }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func `An encrypted store replicates with others`() async throws {
    let scratch = try Scratch()
    let store = try Store(
      .file(scratch.file("a.db")), encryption: Encryption(.key(Data(repeating: 7, count: 32))))
    let a = try SyncDatabase(store["films"])
    try a.enable()
    let b = try anyDatabase()
    try await a.collection.save(["n": 1], key: "x")
    try await b.collection.save(["n": 1], key: "y")
    try await replicate(a, b)
    try await a.collection.update("y", set: ["m": 1])
    try await b.collection.update("y", set: ["n": 2])
    try await replicate(a, b)
    #expect(try await a.collection.get("y")?.object() == ["n": 2, "m": 1])
    #expect(try a.contents() == b.contents())
  }

  @Test func `A store that was restored from a backup catches up`() async throws {
    let scratch = try Scratch()
    let (path, copy) = (scratch.file("a.db"), scratch.file("backup.db"))
    let store = try Store(.file(path))
    let a = try SyncDatabase(store["films"])
    try a.enable()
    let b = try anyDatabase()
    try await a.collection.save(["n": 1], key: "x")
    try await replicate(a, b)
    try await store.backup(to: copy)
    try await a.collection.save(["n": 2], key: "x")
    try await a.collection.save(["n": 2], key: "y")
    try await replicate(a, b)
    try store.close()
    let restored = try SyncDatabase(try Store(.file(copy))["films"])
    try await restored.collection.save(["n": 9], key: "z")
    try await replicate(restored, b)
    #expect(try restored.contents().joined(separator: "\n") == b.contents().joined(separator: "\n"))
    #expect(try await restored.collection.get("x")?["n"] == 2)
    #expect(try await restored.collection.count() == 3)
  }

  @Test func `The error of a store that ends a replication names the collection`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await a.collection.save(["n": 1], key: "x")
    try await a.collection.setChangeTracking(.off)

    let error = await #expect(throws: SyncError.self) { try await replicate(a, b) }

    #expect(error?.kind == .store)
    #expect(error?.message.contains("films") == true)
  }
}

/// Collects changes of a status.
final class StatusBox: Sendable {
  private let status = Mutex(SyncStatus())
  var value: SyncStatus { status.withLock { $0 } }
  func change(_ change: (inout SyncStatus) -> Void) { status.withLock { change(&$0) } }
}

/// Waits until a condition holds, even on a busy machine.
func until(_ condition: () throws -> Bool) async throws {
  for _ in 0..<20_000 {
    if try condition() { return }
    try await Task.sleep(for: .milliseconds(10))
  }
  Issue.record("The condition does not hold")
}
