// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoPostgres
import NanoServerSupport
import NanoStorePostgres
import NanoTestSupport
import NanoTesting
import Synchronization
import Testing

@Suite("Change feeds on a server", .postgres, .timeLimit(.minutes(10)))
struct ServerFeedTests {
  private func tracked() throws -> (store: Store, films: DocumentCollection, schema: String) {
    let configuration = Faults.configuration()
    let store = try TestDatabase.store(configuration)
    try store["films"].setChangeTracking(.on)
    return (store, store["films"], configuration.schema)
  }

  // The horizon waits for transactions of other tests, which may continue on this thread.
  private func onThread(_ test: @escaping @Sendable () throws -> Void) async throws {
    try await Faults.onThread(test)
  }

  @Test("The names of schemas and collections with a feed can contain quotes and dollar signs")
  func quotedNames() throws {
    let store = try TestDatabase.store(Faults.configuration { $0.schema += " o'neil \" $nano$" })
    defer { try? store.close() }
    let films = store["cost$nano$ 'x' \""]
    try films.setChangeTracking(.on)
    try films.createFullTextIndex("t")

    try films.save(["n": 1], key: "a")
    try films.save(["n": 2, "t": "gin"], key: "a")
    #expect(try films.search("gin").count() == 1)
    try films.setExpiration(Date(timeIntervalSince1970: 4e9), of: "a")
    try films.save(["n": 3], key: "b")
    try films.delete("a")

    #expect(try films.count() == 1)
    #expect(try store.verify().isEmpty)
  }

  @Test("A transaction that commits late is not skipped by a reader that has seen later ones")
  func lateCommit() async throws {
    let (store, films, _) = try tracked()
    defer { try? store.close() }
    let mayCommit = DispatchSemaphore(value: 0)
    let hasWritten = DispatchSemaphore(value: 0)
    async let late: Void = Faults.onThread {
      try store.write {
        try films.save(["n": 1], key: "late")
        hasWritten.signal()
        mayCommit.wait()
      }
    }
    try await Faults.onThread { hasWritten.wait() }
    try await films.save(["n": 2], key: "early")
    for _ in 0..<20 {
      guard case .entries(let entries, _, _) = try await films.changes(since: nil) else {
        Issue.record("a reset")
        break
      }
      #expect(entries.isEmpty, "An entry overtook one that commits later")
    }
    mayCommit.signal()
    try await late
    let values = try await Faults.onThread {
      let follower = Follower()
      try follower.follow(films)
      return follower.values.values.sorted()
    }
    #expect(values == [1, 2])
    guard case .entries(let entries, _, _) = try await films.changes(since: nil) else { return }
    #expect(entries.map(\.key) == ["late", "early"])
  }

  private func save(
    _ key: String, in collection: String = "c", _ writer: any EngineWriter
  ) throws -> Int64 {
    try GeneratedDocument(["n": 1], key: DocumentKey(key)).new {
      try writer.save($0, into: collection)
    }
  }

  @Test(
    "What transactions write that began before tracking is in the feed, after copied entries",
    arguments: [false, true])
  func earlierTransactions(isCopy: Bool) throws {
    let engine = try TestDatabase.engine()
    defer { try? engine.close() }
    let (old, gone) = try engine.write(nil) { (try save("old", $0), try save("gone", $0)) }
    let copied = FeedRow(
      rowID: old, place: .number(1_000), key: nil, type: nil, revision: 1, deleted: nil)

    let saved = try engine.write(nil) { earlier in
      _ = try save("first", in: "other", earlier)
      try engine.write(nil) { writer in
        try writer.setTracking(FeedState(timeline: 5), of: "c")
        if isCopy { try writer.setFeedRows([copied], of: "c") }
      }
      _ = try earlier.delete(.key(try DocumentKey("gone")), from: "c")
      return try save("saved", earlier)
    }

    let cursor = isCopy ? FeedCursor(number: 1_000, rowID: old) : FeedCursor.start
    let rows = try engine.read(.call, nil) {
      try $0.feedRows(after: cursor, limit: 10, settledOnly: false, in: "c").rows
    }
    #expect(rows.map(\.rowID) == (isCopy ? [gone, saved] : [old, gone, saved]))
    #expect(rows.filter(\.isDeleted).map(\.rowID) == [gone])
  }

  @Test(
    "A copied entry with a number that a feed cannot have is refused",
    arguments: [Int64(-1), Int64.max])
  func damagedNumber(number: Int64) throws {
    let engine = try TestDatabase.engine()
    defer { try? engine.close() }
    let error = #expect(throws: StoreError.self) {
      try engine.write(nil) { writer in
        let id = try save("a", writer)
        try writer.setTracking(FeedState(timeline: 5), of: "c")
        let row = FeedRow(
          rowID: id, place: .number(number), key: nil, type: nil, revision: 1, deleted: nil)
        try writer.setFeedRows([row], of: "c")
      }
    }
    #expect(error?.code == .corruptFile)
  }

  @Test("SQL of every kind by other programs is in the feed, also of a role with few rights")
  func foreignSQL() async throws {
    try await onThread {
      let (store, films, schema) = try tracked()
      defer { try? store.close() }
      let server = try Faults.server()
      for number in 0..<6 as Range<Int64> { try films.save(["n": .int(number)], key: "\(number)") }
      let role = "role_" + schema
      try server.psql(
        """
        CREATE ROLE \(role) LOGIN; GRANT USAGE ON SCHEMA \(schema) TO \(role);
        GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON \(schema).films TO \(role);
        GRANT USAGE ON ALL SEQUENCES IN SCHEMA \(schema) TO \(role)
        """)
      let url = server.url().replacing("postgres@", with: role + "@")
      let follower = Follower()
      let statements = [
        "INSERT INTO films (key, added, revision, body) VALUES ('raw', 0, 1, '{\"n\": 100}')",
        "UPDATE films SET body = '{\"n\": 101}', source = NULL WHERE key = 'raw'",
        "INSERT INTO films (key, added, revision, body) VALUES ('raw', 0, 1, '{}') "
          + "ON CONFLICT (key) WHERE key IS NOT NULL DO UPDATE SET body = '{\"n\": 102}'",
        "UPDATE films SET id = 900 WHERE key = '1'",
        "DELETE FROM films WHERE key = '2'",
        "BEGIN; DELETE FROM films; ROLLBACK",
        "BEGIN; SAVEPOINT a; DELETE FROM films WHERE key = '3'; ROLLBACK TO a; "
          + "DELETE FROM films WHERE key = '4'; COMMIT",
        "COPY films (key, added, revision, body) FROM STDIN;\ncopied\t0\t1\t{\"n\": 103}\n\\.\n",
        "WITH gone AS (DELETE FROM films WHERE key = '0' RETURNING *) "
          + "INSERT INTO films (id, key, added, revision, body) "
          + "SELECT id, 'moved', added, revision, '{\"n\": 104}' FROM gone",
        "TRUNCATE films",
        "INSERT INTO films (key, added, revision, body) VALUES ('last', 0, 1, '{\"n\": 105}')",
      ]
      for statement in statements {
        try follower.follow(films)
        try server.psql("SET search_path = \(schema);\n" + statement, url: url)
        try follower.follow(films)
      }
      #expect(follower.resets.isEmpty)
      #expect(Set(follower.deletedKeys).isSuperset(of: ["1", "2", "4", "raw", "copied", "moved"]))
      #expect(try store.verify().isEmpty)
    }
  }

  @Test("A direct update changes the revision, so that a write that depends on it is refused")
  func foreignRevision() throws {
    let (store, films, schema) = try tracked()
    defer { try? store.close() }
    let saved = try films.save(["n": 1], key: "a")
    let found = try #require(try films.get("a"))
    try Faults.server().psql("UPDATE \(schema).films SET body = '{\"n\": 5}', source = NULL")
    #expect(try films.get("a")?.revision != found.revision)
    #expect(
      Faults.code { try films.replace(saved, ifRevision: found.revision) } == .revisionConflict)
  }

  @Test("A restored dump begins a new timeline, in which nothing is missed")
  func dump() async throws {
    try await onThread {
      let (store, films, schema) = try tracked()
      defer { try? store.close() }
      let server = try Faults.server()
      for number in 0..<5 as Range<Int64> { try films.save(["n": .int(number)], key: "\(number)") }
      try films.delete("3")
      let follower = Follower()
      try follower.follow(films)
      let database = "restored_" + schema
      let url = server.url().replacing("/plain", with: "/" + database)
      try server.psql("CREATE DATABASE \(database)")
      let text = try server.dump(schema: schema)
      try server.psql(text, url: url)
      // Before any store opens it.
      try server.psql(
        "INSERT INTO \(schema).films (key, added, revision, body) VALUES ('x', 0, 1, '{\"n\": 9}')",
        url: url)
      var configuration = Faults.configuration()
      configuration.schema = schema
      let restored = try Store.postgres(url, engine: configuration)
      defer { try? restored.close() }
      try restored["films"].save(["n": 10], key: "1")
      try follower.follow(restored["films"])
      #expect(follower.resets == [.restored])
      try restored["films"].save(["n": 11], key: "2")
      try restored["films"].delete("0")
      try follower.follow(restored["films"])
      #expect(follower.resets == [.restored])
    }
  }

  @Test("A feed survives a drop of tracking and of the collection with a reset")
  func resets() async throws {
    try await onThread {
      let (store, films, _) = try tracked()
      defer { try? store.close() }
      try films.save(["n": 1], key: "a")
      let follower = Follower()
      try follower.follow(films)
      try films.setChangeTracking(.off)
      #expect(Faults.code { _ = try films.changes(since: nil) } == .invalidArgument)
      try films.setChangeTracking(.on)
      try follower.follow(films)
      #expect(follower.resets == [.restarted])
      try films.drop()
      try films.setChangeTracking(.on)
      try films.save(["n": 3], key: "b")
      try follower.follow(films)
      #expect(follower.resets == [.restarted, .restarted])
    }
  }

  @Test("Positions stay valid in copies to and from a file")
  func copies() async throws {
    try await onThread {
      let (store, films, _) = try tracked()
      defer { try? store.close() }
      try films.save(["n": 1], key: "a")
      try films.save(["n": 2], key: "b")
      let follower = Follower()
      try follower.follow(films)
      try films.save(["n": 3], key: "a")
      try films.delete("b")
      try films.save(["n": 4], key: "c")
      let scratch = try Scratch()
      let file = try Store.file(scratch.file("copy.db"))
      defer { try? file.close() }
      try store.copy(to: file)
      try follower.follow(file["films"])
      try file["films"].save(["n": 5], key: "d")
      try file["films"].save(["n": 6], key: "c")
      try follower.follow(file["films"])
      let second = try TestDatabase.store(Faults.configuration())
      defer { try? second.close() }
      try file.copy(to: second)
      try second["films"].save(["n": 7], key: "e")
      try second["films"].delete("c")
      try follower.follow(second["films"])
      #expect(follower.resets.isEmpty)
    }
  }

  @Test("Pruned deletions of one transaction reset a position between them, also in a copy")
  func prunedBetween() async throws {
    try await onThread {
      let (store, films, _) = try tracked()
      defer { try? store.close() }
      for key in ["a", "b", "c", "d"] { try films.save(["n": 1], key: key) }
      let follower = Follower()
      try follower.follow(films)
      try store.write { for key in ["a", "b", "c"] { try films.delete(key) } }
      var between: FeedPosition?
      try Faults.wait(for: "the first deletion") {
        guard
          case .entries(let entries, let next, _) = try films.changes(
            since: follower.position, limit: 1), !entries.isEmpty
        else { return false }
        between = next
        return true
      }

      try films.delete("d")
      #expect(try films.pruneTombstones(before: .now.addingTimeInterval(60)) == 3)

      let scratch = try Scratch()
      let file = try Store.file(scratch.file("copy.db"))
      defer { try? file.close() }
      try store.copy(to: file)
      for copy in [films, file["films"]] {
        guard case .reset(.pruned) = try copy.changes(since: between) else {
          Issue.record("Deletions are missed")
          continue
        }
      }
    }
  }

  @Test("A reader that began after a deletion was pruned reads the rest of its transaction")
  func prunedBefore() async throws {
    try await onThread {
      let (store, films, _) = try tracked()
      defer { try? store.close() }
      for key in ["a", "b", "c", "d"] { try films.save(["n": 1], key: key) }
      try store.write {
        try films.delete("a")
        try films.save(["n": 2], key: "c")
      }
      try films.delete("b")
      #expect(try films.pruneTombstones(before: .now.addingTimeInterval(60)) == 1)

      let follower = Follower()
      try follower.follow(films, limit: 1)

      #expect(follower.resets.isEmpty)
    }
  }

  @Test(
    "Turning tracking off, or off and on, is a change for the store's own waiting readers",
    arguments: [false, true])
  func ownTracking(renews: Bool) async throws {
    let (store, films, _) = try tracked()
    var changes = films.changes().makeAsyncIterator()
    try await films.setChangeTracking(.off)
    let off = try #require(try await changes.next())
    #expect(off.rows == nil)
    if renews {
      try await films.setChangeTracking(.on)
      let on = try #require(try await changes.next())
      #expect(on.rows == nil)
    }
    try store.close()
  }

  @Test("Other stores see which documents changed in a tracked collection")
  func otherStores() async throws {
    let configuration = Faults.configuration()
    let store = try TestDatabase.store(configuration)
    let other = try TestDatabase.store(configuration)
    defer {
      try? store.close()
      try? other.close()
    }
    try await store["films"].setChangeTracking(.on)
    try await store["films"].save(["n": 1], key: "a")
    var changes = store["films"].changes().makeAsyncIterator()
    let saved = try await other["films"].save(["n": 2], key: "b")
    _ = try await Faults.onThread {
      try Faults.server().psql(
        "UPDATE \(configuration.schema).films SET type = 't' WHERE key = 'a'")
    }
    var rows: [Int64: Change.Kind] = [:]
    while rows.count < 2 {
      guard let change = try await changes.next() else { break }
      for (row, kind) in try #require(change.rows) { rows[row] = kind }
    }
    #expect(rows == [1: .updated, try #require(saved.rowID): .inserted])
  }

  @Test("Other stores learn of new defaults although a tracked document changes with them")
  func defaults() async throws {
    let configuration = Faults.configuration { $0.changeInterval = .milliseconds(10) }
    let store = try TestDatabase.store(configuration)
    let other = try TestDatabase.store(configuration)
    defer {
      try? store.close()
      try? other.close()
    }
    try await store["films"].setChangeTracking(.on)
    try await store["films"].save(["title": "a"], key: "a")
    let query = try store["films"].find("[year] > 1990")
    var counts = query.countUpdates().makeAsyncIterator()
    #expect(try await counts.next() == 0)

    try await Faults.onThread {
      try other.write {
        try other["films"].setDefaults(["year": 2000])
        try other["films"].save(["year": 1950], key: "b")
      }
    }
    var last = 0
    while last == 0 { last = try #require(try await counts.next()) }
    #expect(last == 1)
  }
}
