// SPDX-License-Identifier: MIT

import NanoStore
import Testing

@Suite("Bags and changes in the store")
struct BagStoreTests {
  let scratch: Scratch
  let store: Store
  let people: DocumentCollection
  init() throws {
    scratch = try Scratch()
    store = try Store.file(scratch.file("a.db"))
    people = store["people"]
  }

  private var memberships: Int {
    get throws {
      try store.sql("SELECT count(*) AS n FROM nano_bag_members")[0]["n"]?.int ?? -1
    }
  }

  @Test("Every way to delete a document removes it from all bags")
  func removingDocuments() throws {
    let steps: [(String, (Document) throws -> Void)] = [
      ("key", { _ = try people.delete($0.key!) }),
      ("keys", { _ = try people.delete(keys: ["x", $0.key!]) }),
      ("row ID", { _ = try people.delete(rowID: $0.rowID!) }),
      ("document", { _ = try people.delete($0) }),
      ("other spelling", { _ = try store["PEOPLE"].delete($0.key!) }),
      ("query", { _ in _ = try people.find(Field("n") == 1).limit(1).delete() }),
      ("all", { _ in _ = try people.deleteAll() }),
      ("drop", { _ in _ = try people.drop() }),
      ("batch", { _ = try people.apply([.delete(key: $0.key!)]) }),
      ("block", { document in _ = try store.write { try people.delete(document) } }),
    ]
    for (name, remove) in steps {
      let one = try store.savedBag(name, "a", "b")
      let two = try store.savedBag(name, "b", "a")
      let a = try #require(try people.get("a"))
      #expect(try store.bags(containing: a).count == 2, "\(name)")
      try remove(a)
      #expect(try store.bags(containing: a).isEmpty, "\(name)")
      #expect(try !one.contains(a), "\(name)")
      #expect(!one.hasUnsavedChanges && !two.hasUnsavedChanges)
      #expect(try one.count() == people.count(), "\(name)")
      try people.deleteAll()
      #expect(try memberships == 0, "\(name)")
      try store.deleteBags(keys: [one.key, two.key])
    }
  }

  @Test("Deleting a document identified by row ID removes it from its bags")
  func removingByRowID() throws {
    try store.createCollection("log", identity: .rowID)
    let bag = try store.bag(named: "log")
    for n in 1...3 { try bag.add(try store["log"].insert(["n": .int(Int64(n))])) }
    try bag.save()
    try store["log"].delete(rowID: 1)
    try store["log"].find(Field("n") == 2).delete()
    #expect(try bag.members().map(\.rowID) == [3])
    #expect(try memberships == 1)
  }

  @Test("A rolled-back deletion leaves the document in its bags")
  func rolledBackDeletion() throws {
    let bag = try store.savedBag("team", "a", "b")
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try store.write {
        try people.delete("a")
        #expect(try bag.count() == 1)
        throw Stop()
      }
    }
    try store.write { () throws in
      #expect(throws: Stop.self) {
        try store.write {
          _ = try people.deleteAll()
          throw Stop()
        }
      }
      #expect(try bag.count() == 2)
    }
    #expect(try bag.count() == 2)
  }

  @Test(
    "A member deleted by another program is skipped, and its membership is removed at the next save"
  )
  func foreignRemoval() throws {
    let bag = try store.savedBag("team", "a", "b", "c")
    let other = try Store.file(scratch.file("a.db"))
    try other.execute("DELETE FROM people WHERE key = 'b'")
    #expect(try bag.documents().compactMap(\.key) == ["a", "c"])
    #expect(try bag.document("b") == nil)
    #expect(try !bag.contains(key: "b"))
    #expect(try bag.find().keys() == ["a", "c"])
    #expect(!bag.hasUnsavedChanges)
    #expect(try memberships == 3)

    // After it is added again, it counts once and is the same member.
    let fresh = try store.bag(named: "team")
    try fresh.add(Document(["n": 2], key: "b"), in: "people")
    #expect(try fresh.count() == 3)
    fresh.undo()
    try fresh.add(Document(["n": 2], key: "d"), in: "people")
    try fresh.save()
    #expect(try memberships == 3)
    #expect(try fresh.count() == 3)
    #expect(try bag.members().map(\.key) == ["a", "c", "d"])
  }

  @Test("A member that a read found missing is removed at the next save, whatever its position")
  func foreignRemovalInLargeBag() throws {
    let bag = Bag(in: store)
    try bag.add((0..<1000).map { try Document([:], key: "k\($0)") }, in: "people")
    try bag.save()
    try store.execute("DELETE FROM people WHERE key IN ('k900', 'k901')")
    #expect(try bag.documents(limit: 10, offset: 895).count == 8)
    bag.name = "seen"
    try bag.save()
    #expect(try bag.count() == 998)
    // Members that were never read: each save checks 64, so 16 saves check all.
    try store.execute("DELETE FROM people WHERE key = 'k990'")
    for n in 1...16 {
      bag.name = "unseen \(n)"
      try bag.save()
    }
    #expect(try bag.count() == 997)
  }

  @Test("One save removes the missing members of a bag of 64, after an earlier save checked them")
  func foreignRemovalAfterCheck() throws {
    let bag = Bag(in: store)
    try bag.add((0..<64).map { try Document([:], key: "k\($0)") }, in: "people")
    try bag.save()
    bag.name = "checked"
    try bag.save()
    try store.execute("DELETE FROM people WHERE key = 'k0'")

    bag.name = "checked again"
    try bag.save()

    #expect(try bag.count() == 63)
  }

  @Test("A row of another program without a key does not hide the bag with its name")
  func foreignRow() throws {
    _ = try store.savedBag("other")
    var configuration = SQLiteConfiguration()
    configuration.allowsInternalWrites = true
    try Store(.file(scratch.file("a.db")), engine: configuration)
      .execute("INSERT INTO nano_bags(body) VALUES ('{\"name\":\"team\"}')")

    let team = try store.bag(named: "team")
    #expect(team.hasUnsavedChanges)
    try team.save()

    #expect(try store.bag(named: "team").key == team.key)
  }

  @Test("A save removes all members that a read found missing")
  func manyFoundMissing() throws {
    let bag = Bag(in: store)
    try bag.add((0..<1000).map { try Document([:], key: "k\($0)") }, in: "people")
    try bag.save()
    try store.execute("DELETE FROM people WHERE key BETWEEN 'k500' AND 'k699' AND length(key) = 4")
    #expect(try bag.documents().count == 800)
    bag.name = "seen"
    try bag.save()
    #expect(try bag.count() == 800)
  }

  @Test("A member that a read found missing stays in the bag if it exists again at the next save")
  func foundAgain() throws {
    let bag = try store.savedBag("team", "a", "b")
    try store.execute("DELETE FROM people WHERE key = 'b'")
    #expect(try bag.documents().compactMap(\.key) == ["a"])
    try people.save(["n": 2], key: "b")

    bag.name = "renamed"
    try bag.save()

    #expect(try bag.documents().compactMap(\.key) == ["a", "b"])
  }

  @Test("A document of another collection replaces the one with its key, unless it is partial")
  func otherCollection() throws {
    let archive = store["archive"]
    try archive.save(["n": 0], key: "ada")
    let ada = try people.save(["n": 1], key: "ada")
    let part = try #require(try people.find().select("n").first())
    let bag = Bag(in: store)

    #expect(code { try bag.add(part, in: "archive") } == .partialDocument)
    try bag.add([ada], in: "archive")
    try bag.save()
    #expect(try archive.get("ada")?["n"] == 1)

    try archive.save(["n": 0], key: "ada")
    try bag.add(ada, in: "archive")
    try bag.save()
    #expect(try archive.get("ada")?["n"] == 1)
  }

  @Test("A new document replaces the one with its key, even if it is added twice")
  func addedTwice() throws {
    try people.save(["n": 0], key: "ada")
    let bag = Bag(in: store)

    let added = try bag.add(Document(["n": 1], key: "ada"), in: "people")
    try bag.add(added)
    try bag.save()

    #expect(try people.get("ada")?["n"] == 1)
  }

  @Test("A new document replaces the one with its key, even if it is removed and added again")
  func removedAndAdded() throws {
    try people.save(["n": 0], key: "ada")
    let bag = Bag(in: store)

    let added = try bag.add(Document(["n": 1], key: "ada"), in: "people")
    try bag.remove(added)
    try bag.add(added)
    try bag.save()

    #expect(try people.get("ada")?["n"] == 1)
  }

  @Test("A new document replaces the one with its key, even if it is added again in a failed save")
  func addedAgainInFailedSave() throws {
    struct Undo: Error {}
    try people.save(["n": 0], key: "ada")
    let bag = Bag(in: store)

    let added = try bag.add(Document(["n": 1], key: "ada"), in: "people")
    #expect(throws: Undo.self) {
      try store.write {
        try bag.save()
        try bag.add(added)
        throw Undo()
      }
    }
    try bag.save()

    #expect(try people.get("ada")?["n"] == 1)
  }

  @Test("A deleted bag leaves the store and other bags, and its documents stay")
  func removingBags() throws {
    let inner = try store.savedBag("inner", "a")
    let outer = try store.bag(named: "outer")
    try outer.add(inner)
    try outer.save()
    #expect(try inner.delete())
    #expect(try !inner.delete())
    #expect(try store.bags().map(\.name) == ["outer"])
    #expect(try outer.count() == 0)
    #expect(try !outer.contains(inner))
    #expect(try people.count() == 1)
    #expect(try memberships == 0)
    #expect(inner.hasUnsavedChanges)
    #expect(code { try inner.reload() } == .notFound)
    try inner.save()
    #expect(try store.bag(key: inner.key)?.count() == 0)

    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try store.write {
        try outer.delete()
        throw Stop()
      }
    }
    #expect(!outer.hasUnsavedChanges)
    try outer.reload()
  }

  @Test(
    "A bag whose deletion is rolled back still has its unsaved removals", arguments: [true, false])
  func rolledBackDeletion(isCleared: Bool) throws {
    let bag = try store.savedBag("b", "x", "y")
    if isCleared { try bag.removeAll() } else { try bag.remove(key: "x") }

    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try store.write {
        try bag.delete()
        throw Stop()
      }
    }

    let remaining = isCleared ? [] : ["y"]
    #expect(bag.hasUnsavedChanges)
    #expect(try bag.keys == remaining)
    try bag.save()
    #expect(try store.bag(named: "b").keys == remaining)
  }

  @Test("Only the bags that contain a document are found by it (Q17)")
  func containing() throws {
    let one = try store.savedBag("a", "x")
    let two = try store.savedBag("b", "x", "y")
    #expect(try store.bags(containingKey: "x").map(\.key) == [one.key, two.key])
    #expect(try store.bags(containingKey: "y", in: "People").map(\.key) == [two.key])
    #expect(try store.bags(containingKey: "x", in: "books").isEmpty)
    #expect(try store.bags(containingKey: "a").isEmpty)
    #expect(try store.bags(containingKey: one.key).isEmpty)
    #expect(try store.bags(containing: try Document([:])).isEmpty)
    try two.add(one)
    #expect(try store.bags(containing: one).isEmpty)
    try two.save()
    #expect(try store.bags(containing: one).map(\.key) == [two.key])
    #expect(try store.bags(containingKey: one.key).map(\.key) == [two.key])
  }

  @Test("Saving a bag writes pending saves first, and unsaved members are not discarded")
  func saveInterval() throws {
    store.saveInterval = 100
    let other = try Store.file(scratch.file("a.db"))
    let a = try people.save(["n": 1], key: "a")
    let bag = try store.bag(named: "team")
    try bag.add(a)
    #expect(try other["people"].count() == 0)
    #expect(try bag.count() == 1 && bag.documents().count == 1)
    try bag.save()
    #expect(try other["people"].count() == 1)
    #expect(!store.hasUnsavedChanges)

    let b = try people.save(["n": 2], key: "b")
    try bag.add(b)
    store.discardUnsavedChanges()
    #expect(bag.hasUnsavedChanges)
    try bag.save()
    #expect(try people.get("b")?["n"] == 2)
    // Reads while saves are still pending.
    try people.save(["n": 3], key: "a")
    #expect(try bag.documents().map { $0["n"] } == [3, 2])
    #expect(try store.bags().count == 1)
  }

  @Test("A failed save leaves the store and the bag unchanged")
  func failedSave() throws {
    try people.createIndex("n", unique: true)
    let bag = try store.bag(named: "team")
    try bag.add(Document(["n": 1], key: "a"), in: "people")
    try bag.save()
    bag.name = "crew"
    try bag.remove(key: "a")
    try bag.add(Document(["n": 2], key: "b"), in: "people")
    try bag.add(Document(["n": 1], key: "c"), in: "people")
    #expect(code { try bag.save() } == .uniqueViolation)
    #expect(bag.name == "crew" && bag.hasUnsavedChanges)
    #expect(try bag.unsaved.keys() == ["b", "c"])
    #expect(try bag.removed.keys() == ["a"])
    #expect(try people.find().keys() == ["a"])
    #expect(try store.bag(named: "team").keys == ["a"])
    try people.delete("a")
    try bag.save()
    #expect(try store.bag(named: "crew").keys == ["b", "c"])
  }

  @Test("A bag saved in a transaction is saved inside it and unsaved again after a rollback")
  func rolledBackSave() throws {
    struct Stop: Error {}
    let bag = Bag(name: "team")
    try bag.add(Document(["n": 1], key: "a"), in: "people")
    #expect(throws: Stop.self) {
      try store.write {
        try store.save(bag)
        #expect(!bag.hasUnsavedChanges)
        #expect(try bag.saved.count() == 1)
        try bag.add(Document(["n": 2], key: "b"), in: "people")
        throw Stop()
      }
    }
    #expect(bag.hasUnsavedChanges && bag.store == nil)
    #expect(try bag.unsaved.keys() == ["a", "b"])
    #expect(try store.bags().isEmpty)
    try store.write {
      #expect(throws: Stop.self) {
        try store.write {
          try store.save(bag)
          throw Stop()
        }
      }
      #expect(bag.hasUnsavedChanges)
    }
    try store.save(bag)
    bag.name = "crew"
    try bag.removeAll()
    #expect(throws: Stop.self) {
      try store.write {
        try bag.save()
        throw Stop()
      }
    }
    #expect(bag.name == "crew" && bag.hasUnsavedChanges)
    #expect(try bag.removed.count() == 2)
    bag.undo()
    #expect(try bag.keys == ["a", "b"])
    #expect(code { try store.read { _ = try people.save([:], key: "z") } } == .readOnly)
    bag.name = "x"
    #expect(code { try store.read { try bag.save() } } == .readOnly)
  }

  @Test("Bags persist when the file is reopened")
  func reopening() throws {
    let key = try store.savedBag("team", "a", "b").key
    try store.close()
    #expect(code { _ = try store.bags() } == .closed)
    let again = try Store.file(scratch.file("a.db"))
    #expect(try again.bag(named: "team").keys == ["a", "b"])
    #expect(try again.bag(key: key)?.hasUnsavedChanges == false)
    try again["people"].delete("a")
    #expect(try again.bag(named: "team").keys == ["b"])
    #expect(try again.verify().isEmpty)
  }

  @Test(
    "Two stores on one file see each other's bags, and deletions reach bags the deleting store never read"
  )
  func twoStores() throws {
    let other = try Store.file(scratch.file("a.db"))
    try people.save(["n": 1], key: "z")
    try people.delete("z")
    try other["people"].save(["n": 1], key: "z")
    try other["people"].delete("z")
    // Both stores deleted documents before any bag existed.
    let mine = try store.savedBag("team", "a", "b")
    try other["people"].delete("a")
    #expect(try mine.keys == ["b"])
    let theirs = try other.bag(named: "team")
    try theirs.add(Document([:], key: "c"), in: "people")
    try mine.add(Document([:], key: "d"), in: "people")
    try theirs.save()
    try mine.save()
    #expect(try mine.keys == ["b", "c", "d"])
    #expect(try theirs.keys == ["b", "c", "d"])
    try theirs.add(Document([:], key: "e"), in: "people")
    try mine.add(Document([:], key: "e"), in: "people")
    try theirs.save()
    try mine.save()
    #expect(try mine.count() == 4)
    #expect(try store.verify().isEmpty)
  }

  @Test("A store without bags has no bag tables, and reading creates none")
  func noTablesWithoutBags() throws {
    try people.save(["n": 1], key: "a")
    _ = try store.bag(named: "x").documents()
    _ = try store.bags(containingKey: "a")
    try people.deleteAll()
    #expect(try !store.deleteBag(key: "x"))
    #expect(
      try store.sql("SELECT name FROM sqlite_schema WHERE name LIKE 'nano_bag%'").isEmpty)
  }
}

extension Store {
  /// Saves a bag with a new document in `people` for each key.
  func savedBag(_ name: String, _ keys: String...) throws -> Bag {
    let bag = Bag(name: name, in: self)
    for key in keys { try bag.add(Document(["n": 1], key: key), in: "people") }
    try bag.save()
    return bag
  }
}
