// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import NanoTesting
import Synchronization
import Testing

@Suite("The document cache", .sqlite, .timeLimit(.minutes(10)))
struct CacheTests {
  private let scratch: Scratch
  private let store: Store
  private let people: DocumentCollection

  init() throws {
    scratch = try Scratch()
    store = try Store(.file(scratch.file("a.db")))
    people = store["people"]
    try people.insert((1...20).map { ["n": .int($0), "even": .bool($0 % 2 == 0)] })
    try people.save(["n": 0], key: "ada")
  }

  @Test("The cache is off by default, and a size of -1 turns it off again")
  func off() throws {
    #expect(people.cacheSize == nil)
    #expect(store.defaultCacheSize == nil)
    let first = try #require(try people.get("ada"))
    #expect(!first.hasSameStorage(as: try #require(try people.get("ada"))))
    #expect(!store.isCurrent(first))

    people.cacheSize = 5
    let second = try #require(try people.get("ada"))
    #expect(store.isCurrent(second) && !store.isCurrent(first))
    people.cacheSize = -7
    #expect(people.cacheSize == nil)
    #expect(!store.isCurrent(second))
    #expect(store.cacheUse == CacheUse())
    people.cacheSize = 5
    #expect(!store.isCurrent(second))
  }

  @Test("The size applies to a collection, whatever its spelling, and defaults to the store's size")
  func sizes() throws {
    store.defaultCacheSize = 7
    #expect(people.cacheSize == 7)
    store["PEOPLE"].cacheSize = 3
    #expect(people.cacheSize == 3)
    #expect(store["others"].cacheSize == 7)
    var configuration = Store.Configuration()
    configuration.documentCacheSize = 11
    configuration.documentCacheLimit = 1_000
    let other = try Store(.memory, configuration: configuration)
    #expect(other["a"].cacheSize == 11)
    #expect(other.cacheLimit == 1_000)
  }

  @Test(
    "A referenced document is returned again by every kind of read, even with a cache size of 0")
  func identity() throws {
    people.cacheSize = 0
    let ada = try #require(try people.get("ada"))
    let id = try #require(ada.rowID)
    func isSame(_ document: Document?) -> Bool { document?.hasSameStorage(as: ada) == true }
    #expect(isSame(try people.get("ada")))
    #expect(isSame(try people.get(rowID: id)))
    let found = people.find(Field("n") == 0)
    for _ in 0..<4 { #expect(isSame(try found.fetch().first)) }
    #expect(isSame(try found.first()))
    #expect(isSame(try found.page(1).documents[0]))
    #expect(isSame(try people.get(keys: ["ada"])[0]))
    #expect(isSame(try store.read { try people.get("ada") }))
    #expect(isSame(try store.write { try people.get("ada") }))
    #expect(isSame(try people.documents(sql: "SELECT id FROM people WHERE key = 'ada'")[0]))
    #expect(store.cacheUse.documents == 0)
  }

  @Test("A single read notices what another store and another program committed")
  func lookups() throws {
    people.cacheSize = 5
    let other = try Store(.file(scratch.file("a.db")))
    for n in 1...20 as ClosedRange<Int64> {
      let store = n % 2 == 0 ? store : other
      if n % 3 == 0 {
        try store.execute("UPDATE people SET body = json_object('n', ?) WHERE key = 'ada'", n)
      } else {
        try store["people"].save(["n": .int(n)], key: "ada")
      }
      #expect(try people.get("ada")?["n"] == .int(n))
      #expect(try people.get("ada")?["n"] == .int(n))
    }
    let rowID = try #require(try people.get("ada")?.rowID)
    // The key moves to another row, so that the row of the former lookup is still there.
    try other.execute("UPDATE people SET key = 'bob' WHERE key = 'ada'")
    try other["people"].insert(["n": 100], key: "ada")
    #expect(try people.get(rowID: rowID)?.key == "bob")
    #expect(try people.get("ada")?["n"] == 100)
    try other["people"].delete("ada")
    #expect(try people.get("ada") == nil)
    try store.close()
    #expect(throws: StoreError.self) { try people.get("bob") }
  }

  @Test("A document that another store lets expire is not returned from the cache")
  func expiration() throws {
    let clock = ManualClock()
    func open() throws -> Store {
      var engine = SQLiteConfiguration()
      engine.clock = clock
      return try Store(.file(scratch.file("b.db")), engine: engine)
    }
    let (one, two) = (try open(), try open())
    try one["c"].save(["n": 1], key: "k")
    one["c"].cacheSize = 5
    #expect(try one["c"].get("k") != nil)
    #expect(try one["c"].get("k") != nil)
    let end = Date(microsecondsSince1970: clock.now()).addingTimeInterval(10)
    try two["c"].setExpiration(end, of: "k")
    #expect(try one["c"].get("k") != nil)
    #expect(try one["c"].get("k") != nil)
    clock.advance(by: .seconds(10))
    #expect(try one["c"].get("k") == nil)
  }

  @Test("Async reads return cached documents")
  func asynchronous() async throws {
    people.cacheSize = 2
    let ada = try #require(try await people.get("ada"))
    #expect(try await people.get("ada")?.hasSameStorage(as: ada) == true)
    let found = try await people.find(Field("n") == 0).fetch()
    #expect(found[0].hasSameStorage(as: ada))
    #expect(await store.isCurrent(ada))
    _ = try await people.update("ada", set: ["n": 5])
    #expect(await !store.isCurrent(ada))
  }

  @Test("Unreferenced documents are cached up to the size, and the least recently used are evicted")
  func leastRecentlyUsed() throws {
    people.cacheSize = 3
    for n in [1, 2, 3] as [Int64] { _ = try people.get(rowID: n) }
    #expect(store.cacheUse.documents == 3)
    _ = try people.get(rowID: 1)
    _ = try people.get(rowID: 4)  // evicts 2
    #expect(store.cacheUse.documents == 3)
    let all = try people.fetch()
    #expect(all.count == 21)
    #expect(store.cacheUse.documents == 3)
    for document in all { #expect(store.isCurrent(document)) }
    people.cacheSize = 1
    #expect(store.cacheUse.documents == 1)
    for document in all { #expect(store.isCurrent(document)) }
    #expect(try people.fetch().elementsEqual(all) { $0.hasSameStorage(as: $1) })
  }

  @Test("A flush releases unreferenced documents, and referenced ones are still returned")
  func flush() throws {
    people.cacheSize = 100
    let ada = try #require(try people.get("ada"))
    _ = try people.fetch()
    #expect(store.cacheUse.documents == 21)
    people.flushCache()
    #expect(store.cacheUse == CacheUse())
    #expect(store.isCurrent(ada))
    #expect(ada.hasSameStorage(as: try #require(try people.get("ada"))))
    store.flushCache()
    #expect(store.cacheUse == CacheUse())
  }

  @Test("All collections together cache no more bytes than the limit")
  func limit() throws {
    store.defaultCacheSize = 1_000
    store.cacheLimit = 40_000
    let text = DocumentValue.string(String(repeating: "x", count: 1_000))
    for name in ["a", "b"] {
      try store[name].insert((0..<100).map { ["n": .int($0), "text": text] })
      #expect(try store[name].fetch().count == 100)
      #expect(store.cacheUse.bytes <= 40_000)
      #expect(store.cacheUse.documents > 10)
    }
    store.cacheLimit = 5_000
    #expect(store.cacheUse.bytes <= 5_000)
    store.cacheLimit = 0
    #expect(store.cacheUse == CacheUse())
    let first = try #require(try store["a"].fetch().first)
    #expect(store.isCurrent(first))
  }

  @Test("A lower limit evicts from many collections no more than necessary")
  func lowerLimit() throws {
    store.defaultCacheSize = 1_000
    let text = DocumentValue.string(String(repeating: "x", count: 1_000))
    for number in 0..<12 {
      try store["c\(number)"].insert((0...number).map { ["n": .int(Int64($0)), "text": text] })
      #expect(try store["c\(number)"].fetch().count == number + 1)
    }
    let all = store.cacheUse.bytes

    store.cacheLimit = all / 4

    #expect((all / 5...all / 4).contains(store.cacheUse.bytes))
  }

  @Test("A document is current until its row is written or deleted, by any means")
  func isCurrent() throws {
    people.cacheSize = 10
    func check(_ change: (Document) throws -> Void, line: Int = #line) throws {
      let key = "k\(line)"
      try people.save(["n": 99, "line": .int(Int64(line))], key: key)
      let document = try #require(try people.get(key))
      #expect(store.isCurrent(document) && store.isCurrent(document))
      try change(document)
      #expect(!store.isCurrent(document), "line \(line)")
      if let now = try people.get(key) {
        #expect(store.isCurrent(now) == (now.revision != nil))
        #expect(!now.hasSameStorage(as: document))
      }
    }
    try check { try people.save(["n": 98], key: $0.key!) }
    try check { try people.update(#require($0.key), set: ["n": 97]) }
    try check { try people.save($0) }
    try check { try people.delete($0) }
    try check { _ in try people.find(Field("n") == 99).delete() }
    try check { _ in try people.find(Field("n") == 99).update(set: ["n": 1]) }
    try check { _ in try people.deleteAll() }
    try check { _ in
      try people.drop()
      // The first document of the new collection has the same row ID and revision.
      try people.insert((0..<30).map { ["n": .int($0)] })
    }
    try check { try store.execute("UPDATE people SET type = 'x' WHERE id = ?", $0.rowID!) }
    try check { _ in try store.execute("DELETE FROM people") }
    try check { document in
      try store.write { _ = try people.update(document.key!, set: ["n": 5]) }
    }
  }

  @Test(
    "A document changed in a transaction is not current inside it, and is current again after a rollback"
  )
  func rollback() throws {
    struct Undone: Error {}
    people.cacheSize = 10
    let ada = try #require(try people.get("ada"))
    #expect(throws: Undone.self) {
      try store.write {
        try people.update("ada", set: ["n": 7])
        #expect(!store.isCurrent(ada))
        #expect(try people.get("ada")?["n"] == 7)
        #expect(try people.find(Field("n") == 7).fetch().map(\.key).contains("ada"))
        throw Undone()
      }
    }
    #expect(store.isCurrent(ada))
    #expect(try people.get("ada")?["n"] == 0)
    try people.update("ada", set: ["n": 8])
    #expect(try people.get("ada")?["n"] == 8)
  }

  @Test("Edited, partial, and saved documents and those of other stores are not current")
  func notCurrent() throws {
    people.cacheSize = 10
    var changed = try #require(try people.get("ada"))
    let ada = changed
    changed["n"] = 5
    #expect(!store.isCurrent(changed) && store.isCurrent(ada))
    #expect(try !store.isCurrent(Document(["n": 1])))
    let saved = try people.save(["n": 4], key: "grace")
    #expect(!store.isCurrent(saved))
    let partial = try people.find(Field("n") == 0).select("n").fetch()[0]
    #expect(!store.isCurrent(partial))
    let other = try Store(.file(scratch.file("a.db")))
    other["people"].cacheSize = 10
    let theirs = try #require(try other["people"].get("ada"))
    #expect(!store.isCurrent(theirs) && other.isCurrent(theirs))
    #expect(!theirs.hasSameStorage(as: ada))
    try store.close()
    #expect(!store.isCurrent(ada))
    try store.reopen()
    #expect(!store.isCurrent(ada))
  }

  @Test("Pending saves are visible and make previously read documents not current")
  func pendingSaves() throws {
    people.cacheSize = 10
    let ada = try #require(try people.get("ada"))
    store.saveInterval = 100
    try people.save(["n": 50], key: "ada")
    #expect(!store.isCurrent(ada))
    #expect(try people.get("ada")?["n"] == 50)
    #expect(try people.find(Field("n") == 50).fetch().count == 1)
    store.discardUnsavedChanges()
    #expect(store.isCurrent(ada))
    #expect(try people.get("ada")?["n"] == 0)
  }

  @Test("Writes by another store and another process are visible immediately")
  func otherWriters() throws {
    people.cacheSize = 100
    try people.createIndex("n")
    let query = people.find(Field("n") >= 0)
    for _ in 0..<4 { _ = try query.fetch() }
    let other = try Store(.file(scratch.file("a.db")))
    let process = try HelperProcess()
    #expect(try process.send("open", scratch.file("a.db")) == "ok")
    let ada = try #require(try people.get("ada"))

    try other["people"].update("ada", set: ["n": 30])
    #expect(!store.isCurrent(ada))
    #expect(try query.fetch().last?["n"] == 30)
    for _ in 0..<4 { _ = try query.fetch() }
    #expect(try process.send("save", "people", "ada", #"{"n":31}"#) == "ok")
    #expect(try query.fetch().last?["n"] == 31)
    #expect(try people.get("ada")?["n"] == 31)
    let third = try #require(try people.get("ada"))
    #expect(try process.send("remove", "people", "ada") == "ok true")
    #expect(!store.isCurrent(third))
    #expect(try query.fetch().count == 20)
    #expect(try process.send("drop", "people") == "ok true")
    #expect(try query.fetch().count == 0)
    #expect(try process.send("save", "people", "new", #"{"n":1}"#) == "ok")
    #expect(try people.get(rowID: 1)?["n"] == 1)
    #expect(try query.fetch().map(\.key) == ["new"])
  }

  @Test("Rows written by another program are not cached until they are adopted")
  func foreignRows() throws {
    people.cacheSize = 10
    let before = try #require(try people.get("ada"))
    try store.execute("UPDATE people SET body = '{\"n\":1000}' WHERE key = 'ada'")
    let foreign = try #require(try people.get("ada"))
    #expect(foreign["n"] == 1000 && foreign.revision == nil && !store.isCurrent(foreign))
    try people.insert(["n": 100])
    let adopted = try #require(try people.get("ada"))
    #expect(store.isCurrent(adopted))
    let revision = try #require(adopted.revision)
    #expect(revision != before.revision)
    try store.execute("UPDATE people SET body = '{\"n\":1001}' WHERE key = 'ada'")
    try people.insert(["n": 101])
    let again = try #require(try people.get("ada"))
    #expect(again["n"] == 1001 && again.revision != revision && again.revision != 1)
  }

  @Test(
    "A read transaction on an old snapshot neither returns newer documents nor corrupts the cache")
  func oldSnapshot() throws {
    people.cacheSize = 10
    try store.read {
      let old = try #require(try people.get("ada"))
      let done = DispatchSemaphore(value: 0)
      let new = Mutex<Document?>(nil)
      Thread.detachNewThread {
        _ = try? people.update("ada", set: ["n": 60])
        let read = try? people.get("ada")
        new.withLock { $0 = read }
        done.signal()
      }
      done.wait()
      #expect(try people.get("ada")?["n"] == 0)
      #expect(try people.find(Field("n") == 60).fetch().isEmpty)
      #expect(new.withLock { $0?["n"] } == 60)
      withExtendedLifetime(old) {}
    }
    let now = try #require(try people.get("ada"))
    #expect(now["n"] == 60 && store.isCurrent(now))
  }

  @Test("Concurrent reads and writes match the file")
  func threads() throws {
    people.cacheSize = 8
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for round in 0..<40 {
        if thread < 2 {
          _ = try? people.update(rowID: Int64(round % 20 + 1), set: ["n": .int(Int64(round))])
        } else if round % 10 == thread {
          people.flushCache()
        } else {
          let documents = try? people.find(Field("n") >= 0).fetch()
          #expect(documents?.count == 21)
          _ = documents?.first.map(store.isCurrent)
        }
      }
    }
    let rows = try store.sql("SELECT id, revision, body FROM people ORDER BY id")
    for (document, row) in zip(try people.fetch(), rows) {
      #expect(document.revision == row["revision"]?.int64)
      #expect(try document.object() == DocumentObject(json: row["body"]?.string ?? ""))
    }
  }

  @Test(
    "Stores with a single connection use the cache",
    arguments: [Store.Location.memory, .temporary])
  func oneConnection(location: Store.Location) throws {
    let store = try Store(location)
    store["a"].cacheSize = 10
    try store["a"].insert((0..<5).map { ["n": .int($0)] })
    let all = try store["a"].fetch()
    for _ in 0..<4 {
      #expect(try store["a"].fetch().elementsEqual(all) { $0.hasSameStorage(as: $1) })
    }
    #expect(store.isCurrent(all[2]))
    try store["a"].update(rowID: 3, set: ["n": 9])
    #expect(!store.isCurrent(all[2]) && store.isCurrent(all[1]))
    #expect(try store["a"].fetch()[2]["n"] == 9)
    try store.close()
    try store.reopen()
    try store["a"].insert((5..<10).map { ["n": .int($0)] })
    #expect(try store["a"].fetch().map { $0["n"] } == (5..<10).map { .int($0) })
  }

  @Test(
    "A read transaction on a file without WAL sees one state while another store tries to write")
  func oneState() throws {
    func open() throws -> Store {
      try Store.file(scratch.file("delete.db")) {
        $0.journalMode = .delete
        $0.busyTimeout = .seconds(0.05)
      }
    }
    let store = try open()
    try store["a"].save(["n": 1], key: "a")
    let other = try open()
    let seen = try store.read {
      let before = try store["a"].get("a")?["n"]
      let refused = code { try other["a"].save(["n": 2], key: "a") }
      return (before, refused, try store["a"].get("a")?["n"])
    }
    #expect(seen == (1, .locked, 1))
    try other["a"].save(["n": 2], key: "a")
    #expect(try store["a"].get("a")?["n"] == 2)
  }

  @Test("An engine that reports content versions and committed states can be cached")
  func plainEngine() throws {
    let store = try Store(opening: { ReferenceEngine() })
    store["a"].cacheSize = 10
    try store["a"].save(["n": 1], key: "a")
    let first = try #require(try store["a"].get("a"))
    #expect(store.isCurrent(first))
    #expect(first.hasSameStorage(as: try #require(try store["a"].get("a"))))
    try store["a"].save(["n": 2], key: "a")
    #expect(!store.isCurrent(first))
    #expect(try store["a"].find().fetch()[0]["n"] == 2)
  }
}
