// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoServerSupport
import NanoStore
import NanoSync
import NanoTestSupport
import Synchronization
import Testing

@Suite("Sync on a server, beside other transactions", .postgres, .timeLimit(.minutes(15)))
struct ServerSyncTests {
  private func database(_ schema: ServerSchema) throws -> SyncDatabase {
    let database = try SyncDatabase(schema.store()["films"])
    try database.enable()
    return database
  }

  /// A transaction of another program that has an ID, in another schema of the server.
  private func unrelated() throws -> OpenTransaction {
    let store = try ServerSchema().store()
    return OpenTransaction(store) { try store["other"].save(["n": 1], key: "a") }
  }

  private func ids(_ database: SyncDatabase, since: RevisionChange.Sequence? = nil) throws
    -> [String]
  {
    try database.changes(since: since, limit: 100).changes.map(\.id)
  }

  @Test("A program's own changes have revisions and are in the changes at once")
  func ownChanges() throws {
    let database = try database(ServerSchema())
    let other = try unrelated()
    defer { other.end() }

    try database.collection.save(["n": 1], key: "a")
    #expect(try database.revision("a")?.hasPrefix("1-") == true)
    #expect(try ids(database) == ["a"])
    try database.collection.save(["n": 2], key: "a")
    try database.collection.save(["n": 2], key: "b")
    #expect(try ids(database) == ["a", "b"])
    #expect(try database.revision("a")?.hasPrefix("2-") == true)
    try database.collection.delete("b")
    #expect(try database.leaves("b").map { $0.hasSuffix("deleted") } == [true])
    let counts = try database.counts()
    #expect((counts.documents, counts.deleted) == (1, 1))
  }

  @Test("Thousands of changes have revisions while another transaction stays open")
  func thousands() throws {
    let database = try database(ServerSchema())
    let other = try unrelated()
    defer { other.end() }
    // More than an object remembers of its own changes.
    try database.collection.insert((0..<3_000).map { try Document(["n": 1], key: "\($0)") })
    try database.catchUp()
    #expect(try database.counts().documents == 3_000)
    #expect(try database.changes(since: nil, limit: 5_000).changes.count == 3_000)
  }

  @Test("A document that was looked at before others ended has one revision")
  func once() throws {
    let database = try database(ServerSchema())
    let other = try unrelated()
    for number in 0..<5 as Range<Int64> {
      try database.collection.save(["n": .int(number)], key: "a")
      try database.catchUp()
    }
    let before = try database.leaves("a")
    other.end()
    // Also for an object that does not know what has been looked at.
    for database in [database, try SyncDatabase(database.collection)] {
      try database.catchUp()
      #expect(try database.leaves("a") == before)
      #expect(try ids(database) == ["a"])
    }
    #expect(before.first?.hasPrefix("5-") == true)
  }

  @Test("A single replication pushes what was written before it")
  func push() async throws {
    let (a, b) = (try database(ServerSchema()), try anyDatabase())
    let other = try unrelated()
    defer { other.end() }

    for key in ["x", "y"] { try await a.collection.save(["n": 1], key: key) }
    try await Replication(a, with: LocalPeer(b), ReplicationOptions()) { _ in }.run()

    #expect(try await Set(b.collection.find().keys()) == ["x", "y"])
    #expect(try a.contents() == b.contents())
  }

  @Test("A change of a transaction that began first and commits last is not missed")
  func late() throws {
    let schema = try ServerSchema()
    let database = try database(schema)
    try database.collection.save(["n": 1], key: "a")
    try database.catchUp()
    // The other program waits for it before its commit.
    let gate = try schema.store()
    let open = OpenTransaction(gate) { _ = try gate.sql("SELECT pg_advisory_xact_lock(4711)") }
    let hasEnded = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      #expect(throws: Never.self) {
        try schema.psql(
          """
          BEGIN; INSERT INTO films (key, added, revision, body) VALUES ('late', 0, 1, '{"n": 1}');
          UPDATE films SET body = '{"n": 2}', source = NULL WHERE key = 'a';
          SELECT pg_advisory_xact_lock(4711); COMMIT
          """)
      }
      hasEnded.signal()
    }
    let waiting =
      "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted"
    while try gate.sql(waiting).isEmpty { usleep(5_000) }

    try database.collection.save(["n": 1], key: "b")
    let page = try database.changes(since: nil, limit: 100)
    #expect(page.changes.map(\.id) == ["a", "b"])

    open.end()
    hasEnded.wait()
    #expect(Set(try ids(database, since: page.last)) == ["a", "late"])
    #expect(try database.revision("a")?.hasPrefix("2-") == true)
    #expect(try database.revision("late")?.hasPrefix("1-") == true)
  }

  @Test("More changes than one transaction takes have revisions at once")
  func many() throws {
    let database = try database(ServerSchema())
    try database.collection.save((0..<700).map { try Document(["n": 1], key: "before\($0)") })
    let other = try unrelated()
    defer { other.end() }
    for round in 1...2 as ClosedRange<Int64> {
      try database.collection.save(
        (0..<1_200).map { try Document(["n": .int(round)], key: "\($0)") })
      #expect(try database.changes(since: nil, limit: 5_000).changes.count == 1_900)
    }
    #expect(try database.leaves("7").first?.hasPrefix("2-") == true)
  }

  @Test("Tracking that was turned off and on again leads to deletions at once")
  func restarted() throws {
    let database = try database(ServerSchema())
    for key in ["a", "b"] { try database.collection.save(["n": 1], key: key) }
    try database.catchUp()
    let other = try unrelated()
    defer { other.end() }
    try database.collection.setChangeTracking(.off)
    try database.collection.delete("a")
    try database.collection.setChangeTracking(.on)
    try database.collection.save(["n": 2], key: "b")
    #expect(try database.leaves("a").map { $0.hasSuffix("deleted") } == [true])
    #expect(try database.leaves("b").map { $0.hasPrefix("2-") } == [true])
  }

  @Test("A program's transaction that wrote before others changed revisions is repeated")
  func ownTransaction() throws {
    let schema = try ServerSchema()
    let (mine, theirs) = (try database(schema), try database(schema))
    try mine.replicate(
      json: #"{"_id":"x","_rev":"1-\#(hash("a"))","v":1}"#,
      #"{"_id":"x","_rev":"1-\#(hash("b"))","v":2}"#)
    let conflict = try #require(try mine.conflict("x"))
    let page = try mine.changes(since: nil, limit: 10)
    var attempts = 0
    let isResolved = try mine.store.write(retries: 3) {
      attempts += 1
      try mine.store["log"].save(["n": 1], key: "resolved")
      if attempts == 1 {
        // Has a later number and commits first.
        #expect(throws: Never.self) {
          try Self.elsewhere {
            _ = try theirs.edit([DocumentEdit(id: "y", parent: nil, body: [:])])[0].get()
          }
        }
      }
      return try mine.resolve(conflict, with: ["v": 3])
    }
    #expect(isResolved)
    #expect(attempts == 2)
    #expect(try ids(theirs, since: page.last) == ["y", "x"])
  }

  /// Runs outside of the transaction of this thread.
  private static func elsewhere(_ work: @escaping @Sendable () throws -> Void) throws {
    let (done, failed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      do { try work() } catch { failed.signal() }
      done.signal()
    }
    done.wait()
    if failed.wait(timeout: .now()) == .success { throw StoreError(.database, "It failed") }
  }

  @Test("Setting up a collection does not bring it back while another transaction drops it")
  func dropped() throws {
    let schema = try ServerSchema()
    let (program, server) = (try schema.store(), try schema.store())
    try program["films"].save(["n": 1], key: "a")
    let database = try SyncDatabase(server["films"])
    let dropping = Mutex<Int?>(nil)
    let drop = OpenTransaction(program) {
      try program["films"].drop()
      let pid = try program.sql("SELECT pg_backend_pid()::bigint AS pid").first?["pid"]?.int
      dropping.withLock { $0 = pid }
    }
    let code = Mutex<StoreError.Code?>(nil)
    let hasEnded = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      do { try database.enable(creates: false) } catch {
        code.withLock { $0 = (error as? StoreError)?.code }
      }
      hasEnded.signal()
    }
    let found = dropping.withLock { $0 }
    let pid = try #require(found)
    let waiting = "SELECT pid FROM pg_stat_activity WHERE \(pid) = ANY(pg_blocking_pids(pid))"
    while try program.sql(waiting).isEmpty { usleep(5_000) }

    drop.end()
    hasEnded.wait()

    let thrown = code.withLock { $0 }
    #expect(thrown == .notFound)
    #expect(try server.collections().allSatisfy { $0.name != "films" })
  }

  @Test("Two processes that set a collection up at once agree")
  func setUp() async throws {
    let schema = try ServerSchema()
    let stores = [try schema.store(), try schema.store()]
    try await stores[0]["films"].save(["n": 1], key: "a")
    await onThreads(8) { number in
      #expect(throws: Never.self) {
        let database = try SyncDatabase(stores[number % 2]["films"])
        try database.enable()
        #expect(try database.revision("a")?.hasPrefix("1-") == true)
      }
    }
    let databases = try stores.map { try SyncDatabase($0["films"]) }
    #expect(try databases[0].uuid() == databases[1].uuid())
  }
}
