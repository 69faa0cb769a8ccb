// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoStore
import NanoSync
import NanoTestSupport
import Testing

@Suite struct SyncDatabaseTests {
  /// The revision of `{"title":"Alien"}`.
  private static let alien = RevisionID(
    parent: nil, isDeleted: false, body: ["title": "Alien"], attachments: []
  ).description

  @Test func `Documents from before and after sync was turned on have revisions`() throws {
    let films = try anyStore()["films"]
    try films.save(["title": "Alien"], key: "alien")
    let database = try SyncDatabase(films)
    try database.enable()
    #expect(try database.revision("alien") == Self.alien)
    try films.save(["title": "Aliens"], key: "aliens")
    try films.update("alien", set: ["year": 1979])
    #expect(try database.revision("aliens")?.hasPrefix("1-") == true)
    #expect(try database.revision("alien")?.hasPrefix("2-") == true)
    try films.delete("aliens")
    #expect(try database.leaves("aliens").map { $0.hasSuffix("deleted") } == [true])
  }

  @Test func `Setting up a collection that does not exist creates it only on demand`() throws {
    let store = try anyStore()
    let database = try SyncDatabase(store["films"])

    let error = #expect(throws: StoreError.self) { try database.enable(creates: false) }

    #expect(error?.code == .notFound)
    #expect(try store.collections().isEmpty)
    try database.enable()
    #expect(try database.isEnabled())
  }

  @Test func `The same edit in two stores is the same revision`() throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    for database in [a, b] {
      try database.collection.save(["title": "Alien", "year": 1979], key: "alien")
      try database.catchUp()
      try database.collection.update("alien", set: ["seen": true])
    }
    #expect(try a.revision("alien") == b.revision("alien"))
  }

  @Test func `Several edits between two looks are one revision`() throws {
    let database = try anyDatabase()
    try database.collection.save(["n": 1], key: "a")
    try database.catchUp()
    for n in 2...5 { try database.collection.save(["n": .int(Int64(n))], key: "a") }
    #expect(try database.revision("a")?.hasPrefix("2-") == true)
  }

  @Test func `A deleted document that is inserted again continues its history`() throws {
    let database = try anyDatabase()
    for round in 0..<3 {
      try database.collection.save(["round": .int(Int64(round))], key: "a")
      try database.catchUp()
      try database.collection.delete("a")
      try database.catchUp()
    }
    #expect(try database.leaves("a").first?.hasPrefix("6-") == true)
    try database.collection.save(["round": 3], key: "a")
    #expect(try database.revision("a")?.hasPrefix("7-") == true)
  }

  @Test func `A document under a new key is a deletion under the former one`() throws {
    let scratch = try Scratch()
    let store = try Store(.file(scratch.file("a.db")))
    let database = try SyncDatabase(store["films"])
    try database.enable()
    try store["films"].save(["title": "Alien"], key: "alien")
    try database.catchUp()
    try scratch.shell("a.db", "UPDATE films SET key = 'alien-1979'")
    #expect(try database.leaves("alien").map { $0.hasSuffix("deleted") } == [true])
    #expect(try database.revision("alien-1979")?.hasPrefix("1-") == true)
  }

  @Test func `A document under a new key is deleted under the former one if it is written first`()
    async throws
  {
    let scratch = try Scratch()
    let store = try Store(.file(scratch.file("a.db")))
    let database = try SyncDatabase(store["films"])
    try database.enable()
    try await store["films"].save(["title": "Alien"], key: "alien")
    let other = try anyDatabase()
    func replicate() async throws {
      try await Replication(other, with: LocalPeer(database), ReplicationOptions()) { _ in }.run()
    }
    try await replicate()
    try scratch.shell("a.db", "UPDATE films SET key = 'alien-1979'")

    let edit = DocumentEdit(id: "alien-1979", parent: nil, body: ["title": "Other"])
    #expect(throws: StoreError.self) { try database.edit([edit])[0].get() }

    try await replicate()
    #expect(try await other.collection.find().keys() == ["alien-1979"])
    #expect(try await store.verify().isEmpty)
  }

  @Test func `Rows that other programs insert, change and delete have revisions`() throws {
    let scratch = try Scratch()
    let store = try Store(.file(scratch.file("a.db")))
    let database = try SyncDatabase(store["films"])
    try database.enable()
    try scratch.shell(
      "a.db", "INSERT INTO films(key, body) VALUES ('alien', '{\"year\": 1979}'), (NULL, '{}')")
    #expect(try database.revision("alien")?.hasPrefix("1-") == true)
    // The row without a key got one.
    #expect(try database.changes(since: nil, limit: 10).changes.count == 2)
    try scratch.shell("a.db", "UPDATE films SET body = '{\"year\": 1980}' WHERE key = 'alien'")
    #expect(try database.revision("alien")?.hasPrefix("2-") == true)
    try scratch.shell("a.db", "DELETE FROM films WHERE key = 'alien'")
    #expect(try database.leaves("alien").map { $0.hasSuffix("deleted") } == [true])
  }

  @Test func `A document that gets a key keeps its expiration`() throws {
    let scratch = try Scratch()
    let store = try Store(.file(scratch.file("a.db")))
    try store.createCollection("films")
    try scratch.shell("a.db", "INSERT INTO films(id, body) VALUES (7, '{}')")
    let database = try SyncDatabase(store["films"])
    try database.enable()
    let rowID: Int64 = 7
    let date = Date(timeIntervalSince1970: 4_000_000_000)
    #expect(try database.collection.setExpiration(date, rowID: rowID))

    try database.catchUp()

    #expect(try database.collection.get(rowID: rowID)?.key != nil)
    #expect(try database.collection.expiration(rowID: rowID) == date)
  }

  @Test func `A document that gets a key stays in its bags`() throws {
    let store = try anyStore()
    try store.createCollection("films", identity: .rowID)
    let film = try store["films"].insert(["title": "Alien"])
    let bag = try store.bag(named: "favorites")
    try bag.add(film)
    try bag.save()
    let database = try SyncDatabase(store["films"])
    try database.enable()

    try database.catchUp()

    let keyed = try #require(try store["films"].get(rowID: film.rowID ?? 0))
    let key = try #require(keyed.key)
    #expect(try bag.contains(keyed))
    #expect(try bag.contents.keys() == [key])
    #expect(try store.bags(containing: keyed).map(\.key) == [bag.key])
    try store["films"].delete(key)
    #expect(try bag.count() == 0)
  }

  @Test func `The winner of two leaves is the document, whichever arrives first`() throws {
    for order in [["a", "b"], ["b", "a"]] {
      let database = try anyDatabase()
      for letter in order {
        try database.replicate(
          json: #"{"_id":"x","_rev":"1-\#(hash(Character(letter)))","v":"\#(letter)"}"#)
      }
      #expect(try database.collection.get("x")?["v"] == "b")
      #expect(try database.leaves("x") == ["1-\(hash("b"))", "1-\(hash("a"))"])
    }
  }

  @Test func `Deleting the winner makes the loser the document`() throws {
    let database = try anyDatabase()
    try database.replicate(
      json: #"{"_id":"x","_rev":"1-\#(hash("a"))","v":"a"}"#,
      #"{"_id":"x","_rev":"1-\#(hash("b"))","v":"b"}"#)
    #expect(try database.conflictedIDs() == ["x"])
    try database.collection.delete("x")
    try database.catchUp()
    #expect(try database.collection.get("x")?["v"] == "a")
    #expect(try database.conflictedIDs() == [])
  }

  @Test func `A local edit that has no revision so far is not lost when a remote one arrives`()
    throws
  {
    let database = try anyDatabase()
    try database.replicate(json: #"{"_id":"x","_rev":"1-\#(hash("a"))","v":1}"#)
    try database.collection.update("x", set: ["mine": true])
    try database.replicate(
      json:
        #"{"_id":"x","_rev":"2-\#(hash("f"))","v":2,"_revisions":{"start":2,"ids":["\#(hash("f"))","\#(hash("a"))"]}}"#
    )
    let revisions = try #require(try database.revisions(["x"])["x"])
    #expect(revisions.leaves.count == 2)
    #expect(revisions.leaves.contains { revisions[$0.id]?.body["mine"] == true })
    #expect(revisions.leaves.contains { revisions[$0.id]?.body["v"] == 2 })
  }

  @Test func `Fields that the protocol reserves are rejected when sync is turned on`() throws {
    let films = try anyStore()["films"]
    try films.save(["_foo": 1], key: "a")
    let database = try SyncDatabase(films)
    #expect(throws: StoreError.self) { try database.enable() }
    #expect(try !database.isEnabled())
    #expect(try films.changeTracking() == .off)
    try films.delete("a")
    try database.enable()
    #expect(try database.isEnabled())
  }

  @Test func `The fields of CouchDB's replicator belong to the content, others are rejected`()
    throws
  {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    let text =
      #"{"_id":"x","_rev":"1-a","_replication_id":"r","_replication_state":"done","#
      + #""_replication_state_reason":null,"_replication_state_time":1,"_replication_stats":{},"#
      + #""_access":["me"],"_local_seq":4,"n":1}"#
    #expect(try a.replicate(json: text).isEmpty)
    let expected: DocumentObject = [
      "_replication_id": "r", "_replication_state": "done", "_replication_state_reason": .null,
      "_replication_state_time": 1, "_replication_stats": [:], "_access": ["me"], "n": 1,
    ]
    #expect(try a.collection.get("x")?.object() == expected)
    // Programs may change and insert such documents, too.
    try a.collection.update("x", set: ["n": 2])
    let winner = try #require(try a.revisions(["x"])["x"]?.winner)
    #expect(winner.revision.generation == 2)
    let json = String(decoding: winner.json(WireOptions(hasHistory: true)), as: UTF8.self)
    #expect(try b.replicate(json: json).isEmpty)
    #expect(try b.contents() == a.contents())
    #expect(try b.collection.get("x")?["_replication_id"] == "r")
    for name in ["_replication_other", "_replication_", "_accesses", "_zing"] {
      #expect(throws: ProtocolError.self) {
        try WireDocument(SyncJSON.object(Array(#"{"_id":"x","\#(name)":1}"#.utf8)))
      }
    }
  }

  @Test func `Each of 500 conflicting versions keeps its content`() throws {
    let database = try anyDatabase()
    let names = (0..<500).map { "leaf\($0)" }.shuffled()
    for start in stride(from: 0, to: names.count, by: 50) {
      let failures = try database.replicate(
        try names[start..<start + 50].map { name in
          let ids = try [#require(RevisionID("2-\(name)")), #require(RevisionID("1-root"))]
          return SyncDocument(
            id: "x", revision: ids[0], body: ["name": .string(name)], history: ids)
        })
      #expect(failures.isEmpty)
    }
    let revisions = try #require(try database.revisions(["x"])["x"])
    #expect(revisions.leaves.map(\.id.hash.description) == names.sorted(by: >))
    #expect(revisions.tree.winner == revisions.leaves.first)
    for leaf in revisions.leaves {
      #expect(revisions[leaf.id]?.body["name"]?.string == leaf.id.hash.description)
    }
    #expect(try database.collection.get("x")?["name"]?.string == names.max())
  }

  @Test func `A class and values without a JSON type survive the way to another store`() throws {
    let (a, b) = (try anyDatabase(), try anyDatabase())
    let fields: DocumentObject = [
      "date": .date(.init(timeIntervalSince1970: 1_000_000.5)), "data": .data(.init([1, 2])),
      "price": .decimal(try #require(DecimalValue("12.50"))), "$odd": ["$date": "x"],
      "nested": [["$date": 5], ["$$date": 1]],
    ]
    try a.collection.save(Document(fields, key: "a", type: "Film"))
    let document = try #require(try a.revisions(["a"])["a"]?.winner)
    let wire = try WireDocument(SyncJSON.object(document.json(WireOptions(hasHistory: true))))
    _ = try b.replicate([try wire.document(attachments: [])])
    let copy = try #require(try b.collection.get("a"))
    #expect(copy.type == "Film")
    #expect(try copy.object() == fields)
    #expect(try a.revision("a") == b.revision("a"))
  }

  @Test(arguments: ["5", "{}", #"{"type":"A","x":1}"#, #"{"version":1.5}"#])
  func `A field for the class that has another form is refused, and others are stored`(
    _ form: String
  ) throws {
    let database = try anyDatabase()
    let failures = try database.replicate(
      json: #"{"_id":"x","_rev":"1-a","$nanostore":\#(form),"n":1}"#,
      #"{"_id":"y","_rev":"1-a","$nanostore":{"type":"A","version":2},"n":1}"#)
    #expect(failures.map(\.id) == ["x"])
    #expect((failures.first?.error as? StoreError)?.code == .valueNotStorable)
    #expect(try database.collection.get("x") == nil)
    let stored = try #require(try database.collection.get("y"))
    #expect(stored.type == "A" && stored.version == 2)
    #expect(try stored.object() == ["n": 1])

    let other = try SyncJSON.object(Array(#"{"$nanostore":\#(form)}"#.utf8))
    let results = try database.edit([
      DocumentEdit(id: "x", parent: nil, body: other),
      DocumentEdit(id: "z", parent: nil, body: ["$nanostore": ["type": "B"]]),
    ])
    #expect(results.map { (try? $0.get()) != nil } == [false, true])
    #expect(try database.collection.find().keys().sorted() == ["y", "z"])
    #expect(try database.collection.get("z")?.type == "B")
  }

  @Test func `JSON of other programs comes back as it was`() throws {
    let database = try anyDatabase()
    let texts = [
      #"{"$foo":1,"$$bar":{"$date":5},"a.b":{"":[1.0,-0.5,1e300,"\u0000",null,true]}}"#,
      #"{"x":{"$date":"2020-01-01T00:00:00.000Z"},"y":{"$date":"hello"},"z":{"$oid":"q"}}"#,
    ]
    for (index, text) in texts.enumerated() {
      let object = try SyncJSON.object(Array(text.utf8))
      let revision = try #require(RevisionID("1-\(hash("a"))"))
      #expect(
        try database.replicate([SyncDocument(id: "\(index)", revision: revision, body: object)])
          .isEmpty)
      let stored = try #require(try database.revisions(["\(index)"])["\(index)"]?.winner)
      #expect(
        try DocumentValue(
          json: String(decoding: SyncJSON.bytes(stored.body), as: UTF8.self), dialect: .plain)
          == DocumentValue(json: text, dialect: .plain))
    }
  }

  @Test(arguments: [1, 2, 3, 4, 5, 200_000])
  func `An object that looks like a form gets one more dollar sign, and comes back`(
    _ count: Int
  ) throws {
    let date = DocumentValue.date(.init(timeIntervalSince1970: 0))
    let form = try DocumentObject(json: SyncJSON.bytes(date), dialect: .plain)
    #expect(try SyncJSON.value(SyncJSON.bytes(date)) == date)
    let text = try #require(form["$date"])
    let dollars = String(repeating: "$", count: count)
    let object = DocumentValue.object([dollars + "date": text])

    let written = SyncJSON.bytes(object)

    let escaped = try DocumentObject(json: written, dialect: .plain)
    #expect(escaped.names.map(\.utf8.count) == [count + 5])
    #expect(try SyncJSON.value(written) == object)
    // No forms, however many dollar signs are removed from both names.
    for plain in [
      DocumentValue.object([dollars + "other": text]),
      DocumentValue.object(["$" + dollars + "date": text, "$other": text]),
    ] {
      let written = SyncJSON.bytes(plain)
      #expect(try DocumentValue(json: written, dialect: .plain) == plain)
      #expect(try SyncJSON.value(written) == plain)
    }
  }

  @Test func `Changes are in the order of the last changes, each document once`() throws {
    let database = try anyDatabase()
    for key in ["a", "b", "c"] { try database.collection.save(["n": 1], key: key) }
    var page = try database.changes(since: nil, limit: 2)
    #expect(page.changes.map(\.id) == ["a", "b"])
    #expect(page.hasMore)
    page = try database.changes(since: page.last, limit: 2)
    #expect(page.changes.map(\.id) == ["c"])
    try database.collection.save(["n": 2], key: "a")
    page = try database.changes(since: page.last, limit: 2)
    #expect(page.changes.map(\.id) == ["a"])
    #expect(try database.lastSequence().number == page.last.number)
    #expect(try database.changes(since: nil, limit: 10).changes.map(\.id) == ["b", "c", "a"])
    #expect(try database.changes(since: database.lastSequence(), limit: 1).changes.isEmpty)
  }

  @Test func `An edit needs the revision that it changes`() throws {
    let database = try anyDatabase()
    let first = try database.edit([DocumentEdit(id: "a", parent: nil, body: ["n": 1])])[0].get()
    #expect(throws: StoreError.self) {
      try database.edit([DocumentEdit(id: "a", parent: nil, body: ["n": 2])])[0].get()
    }
    let second = try database.edit([DocumentEdit(id: "a", parent: first, body: ["n": 2])])[0].get()
    #expect(second.generation == 2)
    #expect(throws: StoreError.self) {
      try database.edit([DocumentEdit(id: "a", parent: first, body: ["n": 3])])[0].get()
    }
    #expect(try database.collection.get("a")?["n"] == 2)
    let third = try database.edit([DocumentEdit(id: "a", parent: second, isDeleted: true)])[0].get()
    #expect(try database.collection.get("a") == nil)
    let fourth = try database.edit([DocumentEdit(id: "a", parent: nil, body: ["n": 4])])[0].get()
    #expect((third.generation, fourth.generation) == (3, 4))
  }

  @Test func `A full page of changes counts as such if one of its documents was purged`() throws {
    let database = try anyDatabase()
    for key in ["a", "b", "c"] { try database.collection.save(["n": 1], key: key) }
    let revision = try #require(try database.revisions(["a"])["a"]?.tree.winner?.id)
    _ = try database.purge(["a": [revision]])
    try database.collection.save(["n": 1], key: "d")
    _ = try database.lastSequence()

    #expect(try database.countChanges(since: nil, limit: 3) == 3)
    #expect(try database.countChanges(since: nil, limit: 10) == 3)
  }
}
