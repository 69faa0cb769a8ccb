// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoSync
import NanoTestSupport
import Testing

/// What other programs and other calls do to a synced collection.
@Suite struct UnusualStateTests {
  @discardableResult
  private func replicate(_ a: SyncDatabase, _ b: SyncDatabase) async throws -> SyncStatus {
    let status = StatusBox()
    try await Replication(a, with: LocalPeer(b), ReplicationOptions(), report: status.change).run()
    return status.value
  }

  @Test func `A dropped collection is filled again, and deletes nothing elsewhere`() async throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    for n in 0..<5 { try await b.collection.save(["n": .int(Int64(n))], key: "\(n)") }
    try await replicate(a, b)
    for isCreatedAgain in [false, true] {
      try await a.collection.drop()
      if isCreatedAgain { try await a.collection.save(["mine": true], key: "mine") }
      #expect(try !a.isEnabled())
      try a.enable()
      try await replicate(a, b)
      #expect(try await b.collection.count() == (isCreatedAgain ? 6 : 5))
      #expect(try a.contents() == b.contents())
    }
  }

  @Test func `A write of sync does not bring back a collection that was dropped meanwhile`() throws
  {
    let database = try anyDatabase()
    let documents = try ["x", "y"].map { id in
      SyncDocument(id: id, revision: try #require(RevisionID("1-a")), body: ["n": 1])
    }
    #expect(try database.replicate(documents).isEmpty)
    try database.collection.drop()

    for batch in [documents, Array(documents.prefix(1))] {
      let errors = [
        #expect(throws: StoreError.self) { try database.replicate(batch) },
        #expect(throws: StoreError.self) {
          try database.edit(batch.map { DocumentEdit(id: $0.id, parent: nil) })
        },
      ]
      #expect(errors.map { $0.map { ProtocolError($0) } } == [.noDatabase, .noDatabase])
    }

    #expect(try database.store.collections().allSatisfy { $0.name != database.name })
  }

  @Test func `A copy of a store continues with the same revisions, conflicts and deletions`()
    async throws
  {
    let scratch = try Scratch()
    for isBackup in [false, true] {
      // A database on a server is backed up by its own tools.
      let a = isBackup ? try SyncDatabase(Store(.memory)["films"]) : try anyDatabase()
      try a.enable()
      let b = try anyDatabase()
      for key in ["x", "y", "z"] { try await a.collection.save(["n": 1, "m": 1], key: key) }
      try await replicate(a, b)
      try await b.collection.delete("z")
      try await a.collection.update("x", set: ["title": "X"])
      try await a.collection.update("y", set: ["title": "Y"])
      try await b.collection.update("x", set: ["m": 2])
      try a.catchUp()
      try b.catchUp()
      // Has its revision, although the feed has not been read up to it.
      _ = try a.edit([DocumentEdit(id: "w", parent: nil, body: ["n": 1])])
      let copy: SyncDatabase
      if isBackup {
        let path = scratch.file("backup.db")
        try await a.store.backup(to: path)
        copy = try SyncDatabase(Store(.file(path))[a.name])
      } else {
        let store = try Store(.memory)
        try await a.store.copy(to: store)
        copy = try SyncDatabase(store[a.name])
      }
      // A copy is not synchronized until it begins to be. Its documents begin with revision 1 in the store, so this
      // change gives one the number that it had when it was copied.
      #expect(try copy.isEnabled() == isBackup)
      try await copy.collection.update("y", set: ["m": 3])
      try copy.enable()
      #expect(try copy.revision("x") == a.revision("x"))
      #expect(try copy.revision("w") == a.revision("w"))
      #expect(try copy.revision("y")?.hasPrefix("3-") == true)
      let status = try await replicate(copy, b)
      // A new document, two edits, and the two revisions that resolve the conflict. If the conflict is pulled and resolved
      // before its edit is pushed, the edit goes along as their history.
      #expect(status.pushed == 5 || status.pushed == 4)
      #expect(status.resolved == 1)
      #expect(try await b.collection.get("y")?["m"] == 3)
      #expect(try await copy.collection.get("z") == nil)
      #expect(try copy.contents() == b.contents())
      // The original and its copy are two devices.
      try await a.collection.save(["n": 1], key: "only here")
      try await copy.collection.save(["n": 1], key: "only there")
      for device in [a, copy, a] { try await replicate(device, b) }
      #expect(try a.contents() == b.contents() && copy.contents() == b.contents())
      #expect(try await b.collection.count() == 5)
    }
  }

  @Test func `Deletions that were pruned before they had revisions are found`() async throws {
    let database = try anyDatabase()
    for key in ["a", "b", "c"] { try await database.collection.save(["n": 1], key: key) }
    try database.catchUp()
    try await database.collection.delete("a")
    try await database.collection.delete("b")
    try await database.collection.save(["n": 2], key: "c")
    try await database.collection.pruneTombstones(before: .now.addingTimeInterval(1_000))
    for key in ["a", "b"] {
      #expect(try database.leaves(key).map { $0.hasSuffix("deleted") } == [true])
    }
    #expect(try database.revision("c")?.hasPrefix("2-") == true)
    // It ends, and continues.
    try database.catchUp()
    try await database.collection.save(["n": 3], key: "c")
    #expect(try database.revision("c")?.hasPrefix("3-") == true)
  }

  @Test func `Tracking that was turned off and on again leads to the same deletions`() async throws
  {
    let database = try anyDatabase()
    for key in ["a", "b"] { try await database.collection.save(["n": 1], key: key) }
    try database.catchUp()
    try await database.collection.setChangeTracking(.off)
    try await database.collection.delete("a")
    try await database.collection.setChangeTracking(.on)
    #expect(try database.leaves("a").map { $0.hasSuffix("deleted") } == [true])
    #expect(try database.revision("b")?.hasPrefix("1-") == true)
  }

  @Test
  func `A document that cannot be synced is reported, and a remote version does not replace it`()
    async throws
  {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    try await a.collection.save(["n": 1], key: "x")
    try await replicate(a, b)
    try await a.collection.save(["n": 2, "_mine": true], key: "x")
    try await b.collection.save(["n": 3], key: "x")
    let status = try await replicate(a, b)
    #expect(Set(status.failures.map(\.key)) == ["x"])
    #expect(try await a.collection.get("x")?["_mine"] == true)
    #expect(try a.problems().ids == ["x"])
    // When the field is renamed, the edits meet.
    try await a.collection.save(["n": 1, "mine": true], key: "x")
    try await replicate(a, b)
    #expect(try await a.collection.get("x")?.object() == b.collection.get("x")?.object())
    #expect(try await b.collection.get("x")?["mine"] == true)
    #expect(try await b.collection.get("x")?["n"] == 3)
    #expect(try a.problems().isEmpty)
  }

  @Test func `A key that begins with an underscore is rejected when sync is turned on`()
    async throws
  {
    let films = try anyStore()["films"]
    try await films.save(["n": 1], key: "_x")
    let database = try SyncDatabase(films)
    #expect(throws: StoreError.self) { try database.enable() }
    try await films.delete("_x")
    try database.enable()
    try await films.save(["n": 1], key: "_x")
    #expect(try database.changes(since: nil, limit: 10).changes.isEmpty)
    #expect(try database.problems().ids == ["_x"])
  }

  @Test func `A loser of a conflict that a unique index rejects does not stop others`() async throws
  {
    let database = try anyDatabase()
    try database.replicate(
      json: #"{"_id":"x","_rev":"1-\#(hash("a"))","v":"taken"}"#,
      #"{"_id":"x","_rev":"1-\#(hash("b"))","v":"b"}"#)
    try await database.collection.createIndex("v", unique: true)
    try await database.collection.save(["v": "taken"], key: "y")
    try await database.collection.delete("x")
    try await database.collection.save(["v": "z"], key: "z")
    #expect(try database.revision("z")?.hasPrefix("1-") == true)
    #expect(try database.problems().ids == ["x"])
    #expect(try database.revisions(["x"])["x"]?.winner?.body["v"] == "taken")
  }

  @Test func `A merge that a unique index rejects leaves the conflict open, and others are merged`()
    async throws
  {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    for key in ["x", "y"] { try await a.collection.save(["n": 1], key: key) }
    try await replicate(a, b)
    try await a.collection.createIndex("m", "n", unique: true)
    try await a.collection.save(["n": 2, "m": 9], key: "taken")
    for key in ["x", "y"] { try await a.collection.update(key, set: ["n": key == "x" ? 2 : 3]) }
    for key in ["x", "y"] { try await b.collection.update(key, set: ["m": key == "x" ? 9 : 8]) }
    let status = try await replicate(a, b)
    #expect(status.failures.map(\.key) == ["x"])
    #expect(try await a.collection.get("y")?["m"] == 8)
    #expect(try a.conflictedIDs() == ["x"])
  }

  @Test func `Generations up to the largest integer are no reason to crash`() throws {
    let largest = Int64.max
    for text in [
      #"{"_id":"x","_rev":"\#(largest)-a"}"#,
      #"{"_id":"x","_revisions":{"start":\#(largest),"ids":["a"]}}"#,
      #"{"_id":"x","_rev":"\#(largest - 1)-a"}"#,
      #"{"_id":"x","_revisions":{"start":\#(Int64(1) << 53),"ids":["a"]}}"#,
    ] {
      #expect(throws: ProtocolError.self) {
        try WireDocument(SyncJSON.object(Array(text.utf8)))
      }
    }
    let database = try anyDatabase()
    try database.replicate(json: #"{"_id":"y","_rev":"\#(Int64(1) << 53 - 1)-a","v":1}"#)
    #expect(try database.revision("y") == "\(Int64(1) << 53 - 1)-a")
    // Earlier versions accepted larger ones.
    let revision = RevisionID(generation: Int.max - 1, hash: RevisionHash("a"))
    let document = SyncDocument(id: "x", revision: revision, body: ["v": 0])
    #expect(try database.replicate([document]).isEmpty)
    for v in 1...3 as ClosedRange<Int64> {
      try database.collection.update("x", set: ["v": .int(v)])
      #expect(try database.leaves("x").count == 1)
    }
    #expect(try database.revisions(["x"])["x"]?.winner?.body["v"] == 3)
  }

  @Test func `Problems of documents that were deleted or repaired are forgotten`() throws {
    let scratch = try Scratch()
    let database = try SyncDatabase(Store(.file(scratch.file("a.db")))["films"])
    try database.enable()
    for key in ["deleted", "repaired"] { try database.collection.save(["_n": 1], key: key) }
    try scratch.shell(
      "a.db", #"INSERT INTO films(id, body) VALUES (101, '{"_n":1}'), (102, '{"_n":1}')"#)
    try database.catchUp()
    #expect(
      try Set(database.problems().ids) == ["deleted", "repaired", "row 101", "row 102"])

    try database.collection.delete("deleted")
    try database.collection.save(["n": 1], key: "repaired")
    try scratch.shell(
      "a.db",
      #"DELETE FROM films WHERE id = 101; UPDATE films SET body = '{"n":1}' WHERE id = 102"#)
    try database.catchUp()

    #expect(try database.problems().ids == [])
    #expect(try database.changes(since: nil, limit: 10).changes.count == 2)
  }
}

/// Changes of documents that are in conflict, have expired, or stay as another program wrote them.
extension UnusualStateTests {
  /// The revisions of a document with a conflict, whose loser has these fields.
  private func makeConflict(_ database: SyncDatabase, base: DocumentObject, loser: String) throws {
    let id = try database.edit([DocumentEdit(id: "x", parent: nil, body: base)])[0].get()
    var edited = base
    edited["title"] = "edited"
    _ = try database.edit([DocumentEdit(id: "x", parent: id, body: edited)])[0].get()
    let parent = "\(id)".dropFirst(2)
    try database.replicate(
      json: """
        {"_id":"x","_revisions":{"start":2,"ids":["\(hash("0"))","\(parent)"]},\(loser)}
        """)
    #expect(try database.conflictedIDs() == ["x"])
  }

  @Test(arguments: [true, false])
  func `A resolution that expires at once deletes the document and ends the conflict`(
    isMerged: Bool
  ) throws {
    let database = try anyDatabase()
    try database.collection.setExpirationRule(.field("until"))
    try makeConflict(
      database, base: ["title": "a", "until": .date(.now.addingTimeInterval(1_000_000))],
      loser: #""title":"a","until":{"$date":"2001-01-01T00:00:00.000Z"}"#)
    var rules = ConflictRules()
    if !isMerged { rules.resolve = { _ in .delete } }

    _ = try database.resolve("x", by: rules)

    #expect(try database.conflictedIDs() == [])
    #expect(try database.collection.get("x") == nil)
    #expect(try database.leaves("x").allSatisfy { $0.hasSuffix("deleted") })
  }

  @Test(arguments: [true, false])
  func `A conflict that another process resolves first is not reported as resolved here`(
    isMerged: Bool
  ) throws {
    let database = try anyDatabase()
    try makeConflict(database, base: ["title": "a"], loser: #""title":"b""#)
    let other = try SyncDatabase(database.collection)
    var rules = ConflictRules()
    rules.resolve = { conflict in
      let isResolved = try? other.resolve(conflict, with: ["title": "c"])
      #expect(isResolved == true)
      return isMerged ? .merge : .object(["title": "d"])
    }

    let outcome = try database.resolve("x", by: rules)

    if case .none = outcome {} else { Issue.record("The outcome is \(outcome)") }
    #expect(try database.collection.get("x")?["title"] == "c")
  }

  @Test func `A document that was deleted and inserted again replaces no loser of its conflict`()
    throws
  {
    let database = try anyDatabase()
    try makeConflict(database, base: ["title": "a"], loser: #""title":"b""#)
    try database.collection.delete("x")
    try database.collection.save(["title": "new"], key: "x")

    try database.catchUp()

    #expect(try database.collection.get("x")?["title"] == "new")
    #expect(try database.revisions(["x"])["x"]?.winner?.body["title"] == "new")
    #expect(try database.conflictedIDs() == ["x"])
  }

  @Test func `The loser of a conflict is the document once one that cannot be synced is deleted`()
    throws
  {
    let database = try anyDatabase()
    try makeConflict(database, base: ["title": "a"], loser: #""title":"b""#)
    try database.collection.delete("x")
    try database.collection.save(["_x": 1], key: "x")
    try database.catchUp()
    #expect(try database.problems().ids == ["x"])

    try database.collection.delete("x")
    try database.catchUp()

    #expect(try database.collection.get("x")?["title"] == "b")
    #expect(try database.problems().ids.isEmpty)
  }

  @Test func `A decision with a reserved field is refused, and the conflict stays open`() throws {
    let database = try anyDatabase()
    try makeConflict(database, base: ["title": "a"], loser: #""title":"b""#)
    let conflict = try #require(try database.conflict("x"))

    let error = #expect(throws: StoreError.self) {
      try database.resolve(conflict, with: ["_id": "x", "title": "c"])
    }

    #expect(error?.code == .valueNotStorable)
    #expect(try database.conflictedIDs() == ["x"])
  }

  @Test func `Each change of a row that stays foreign has a revision`() throws {
    let scratch = try Scratch()
    let database = try SyncDatabase(Store(.file(scratch.file("a.db")))["films"])
    try database.enable()
    try scratch.shell(
      "a.db",
      #"INSERT INTO films(key, body) VALUES ('a', '{"n":123456789012345678901,"v":1}')"#)
    #expect(try database.revision("a")?.hasPrefix("1-") == true)
    for generation in 2...3 {
      try scratch.shell(
        "a.db",
        #"UPDATE films SET body = '{"n":123456789012345678901,"v":\#(generation)}'"#)
      for _ in 0..<2 {
        try database.catchUp()
        #expect(try database.revision("a")?.hasPrefix("\(generation)-") == true)
      }
    }
  }

  @Test func `A row without a key gets one with the stored form, and stops no others`() throws {
    let scratch = try Scratch()
    let database = try SyncDatabase(Store(.file(scratch.file("a.db")))["films"])
    try database.enable()
    try scratch.shell(
      "a.db",
      #"INSERT INTO films(body) VALUES ('{"n":123456789012345678901}'), ('{"v":1,"v":2}')"#)
    try database.collection.save(["n": 1], key: "x")

    try database.catchUp()

    #expect(try database.revision("x")?.hasPrefix("1-") == true)
    #expect(try database.changes(since: nil, limit: 10).changes.count == 3)
  }

  @Test func `A document is deleted whose row ID another program's insertion reuses`() throws {
    let scratch = try Scratch()
    let database = try SyncDatabase(Store(.file(scratch.file("a.db")))["films"])
    try database.enable()
    for key in ["a", "b"] { try database.collection.save(["n": 1], key: key) }
    try database.catchUp()

    try scratch.shell(
      "a.db",
      "DELETE FROM films WHERE key = 'b'; INSERT INTO films(id, key, body) VALUES (2, 'c', '{}')")

    #expect(try database.leaves("b").map { $0.hasSuffix("deleted") } == [true])
    #expect(try database.revision("c")?.hasPrefix("1-") == true)
  }

  @Test func `A copy has no conflicts before it is set up, and keeps its changes`() async throws {
    let a = try anyDatabase()
    try await a.collection.save(["v": 1], key: "y")
    try await a.collection.save(["v": 2], key: "y")
    try a.catchUp()
    let store = try Store(.memory)
    try await a.store.copy(to: store)
    let copy = try SyncDatabase(store[a.name])
    try await copy.collection.save(["v": 3], key: "y")

    let error = #expect(throws: StoreError.self) { try copy.conflictedIDs() }

    #expect(error?.code == .invalidArgument)
    try copy.enable()
    #expect(try copy.revision("y")?.hasPrefix("2-") == true)
    #expect(try copy.revisions(["y"])["y"]?.winner?.body["v"] == 3)
  }
}
