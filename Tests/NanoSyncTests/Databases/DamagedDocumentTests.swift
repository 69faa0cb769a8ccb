// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoStoreEncryption
import NanoSync
import NanoTestSupport
import Testing

/// Documents that other programs, or a disk, have damaged.
@Suite struct DamagedDocumentTests {
  @discardableResult
  private func replicate(
    _ a: SyncDatabase, _ b: SyncDatabase, _ options: ReplicationOptions = ReplicationOptions()
  ) async throws -> SyncStatus {
    let status = StatusBox()
    try await Replication(a, with: LocalPeer(b), options, report: status.change).run()
    return status.value
  }

  @Test(arguments: [false, true])
  func `A document that cannot be read stops no others, in either store`(isTarget: Bool)
    async throws
  {
    let scratch = try Scratch()
    let a = try SyncDatabase(Store(.file(scratch.file("a.db")))["films"])
    try a.enable()
    let b = try anyDatabase()
    for key in ["x", "y"] { try await a.collection.save(["n": 1], key: key) }
    if isTarget {
      try await replicate(a, b)
      try await b.collection.attach(.data(Data([1])), named: "a", to: "x")
      try await b.collection.save(["n": 2], key: "y")
    } else {
      try a.catchUp()
    }

    try scratch.shell("a.db", "UPDATE films SET body = '{' WHERE key = 'x'")
    let status = isTarget ? try await replicate(b, a) : try await replicate(a, b)

    #expect(Set(status.failures.map(\.key)) == ["x"])
    #expect(try a.revisions(["x", "y"])["y"]?.winner != nil)
    #expect(try await a.collection.get("y")?.object() == b.collection.get("y")?.object())
    #expect(try await b.collection.get("y") != nil)
  }

  private func encrypted(_ scratch: Scratch) throws -> SyncDatabase {
    let store = try Store(
      .file(scratch.file("a.db")), encryption: Encryption(.key(Data(repeating: 7, count: 32))))
    let database = try SyncDatabase(store["films"])
    try database.enable()
    for key in ["x", "y"] { try database.collection.save(["n": 1], key: key) }
    try database.catchUp()
    return database
  }

  @Test func `A document that does not decrypt stops no others, and continues when it is saved`()
    throws
  {
    let scratch = try Scratch()
    let database = try encrypted(scratch)

    try scratch.shell(
      "a.db",
      """
      UPDATE films SET body = (SELECT body FROM films WHERE key = 'y') WHERE key = 'x';
      INSERT INTO films(key, body) SELECT 'z', body FROM films WHERE key = 'y';
      """)
    try database.collection.save(["n": 2], key: "y")
    try database.catchUp()

    #expect(try Set(database.problems().ids) == ["x", "z"])
    #expect(try database.revision("y")?.hasPrefix("2-") == true)
    #expect(try database.leaves("x").map { $0.hasPrefix("1-") } == [true])

    for key in ["x", "z"] { try database.collection.save(["n": 3], key: key) }
    #expect(try database.revision("x")?.hasPrefix("2-") == true)
    #expect(try database.revision("z")?.hasPrefix("1-") == true)
    #expect(try database.problems().isEmpty)
  }

  @Test func `A document that does not decrypt is not deleted when the feed begins again`() throws {
    let scratch = try Scratch()
    let database = try encrypted(scratch)

    try scratch.shell(
      "a.db", "UPDATE films SET body = (SELECT body FROM films WHERE key = 'y') WHERE key = 'x'")
    try database.collection.setChangeTracking(.off)
    try database.collection.setChangeTracking(.on)
    try database.catchUp()

    #expect(try database.leaves("x").map { $0.hasSuffix("deleted") } == [false])
  }

  @Test func `A row whose key has no stored form is reported, and gets no revisions`() throws {
    let scratch = try Scratch()
    let database = try SyncDatabase(Store(.file(scratch.file("a.db")))["films"])
    try database.enable()

    try scratch.shell(
      "a.db",
      "INSERT INTO films(id, key, body) VALUES (101, x'0102', '{}'), (102, CAST(x'ff' AS TEXT), '{}')"
    )

    #expect(try database.changes(since: nil, limit: 10).changes.isEmpty)
    #expect(try Set(database.problems().ids) == ["row 101", "row 102"])
  }

  @Test func `The problem of a row ends with it, also if another document has its key`() throws {
    let scratch = try Scratch()
    let database = try SyncDatabase(Store(.file(scratch.file("a.db")))["films"])
    try database.enable()
    try database.collection.save(["n": 1], key: "0102")
    try scratch.shell("a.db", "INSERT INTO films(id, key, body) VALUES (101, x'0102', '{}')")
    try database.catchUp()
    #expect(try database.problems().ids == ["row 101"])

    try scratch.shell("a.db", "DELETE FROM films WHERE id = 101")
    try database.catchUp()

    #expect(try database.problems().isEmpty)
    #expect(try database.leaves("0102").map { $0.hasPrefix("1-") } == [true])
  }

  @Test func `A document that does not decrypt under another key is deleted under its former one`()
    throws
  {
    let scratch = try Scratch()
    let database = try encrypted(scratch)

    try scratch.shell("a.db", "UPDATE films SET key = 'z' WHERE key = 'x'")

    let changes = try database.changes(since: nil, limit: 10).changes
    #expect(changes.filter(\.isDeleted).map(\.id) == ["x"])
    #expect(try database.problems().ids == ["z"])
  }

  @Test(arguments: ["push", "pull", "pull with a selector"])
  func `A document that a disk has damaged is reported, and follows once it can be read`(
    _ direction: String
  ) async throws {
    let scratch = try Scratch()
    let (a, b) = (try encrypted(scratch), try anyDatabase())
    func sync() async throws -> SyncStatus {
      guard direction != "push" else { return try await replicate(a, b) }
      var options = ReplicationOptions()
      if direction != "pull" { options.pullFilter = .selector(["n": 1]) }
      return try await replicate(b, a, options)
    }
    // The triggers of the feed do not look at these two columns.
    let unnoticed =
      "UPDATE films SET (revision, position) = (SELECT revision, position FROM kept) WHERE key = 'x'"

    try scratch.shell(
      "a.db",
      """
      CREATE TABLE kept AS SELECT body, revision, position FROM films WHERE key = 'x';
      UPDATE films SET body = (SELECT body FROM films WHERE key = 'y') WHERE key = 'x';
      \(unnoticed);
      """)
    for _ in 0..<2 {
      let failures = try await sync().failures
      #expect(failures.map(\.key) == ["x"])
      #expect(failures.map(\.isRetried) == [true])
      #expect(try await b.collection.find().keys() == ["y"])
    }

    try scratch.shell(
      "a.db",
      "UPDATE films SET body = (SELECT body FROM kept) WHERE key = 'x'; \(unnoticed); DROP TABLE kept"
    )
    #expect(try await sync().failures.isEmpty)
    #expect(try a.contents() == b.contents())
    #expect(try await b.collection.count() == 2)
  }
}
