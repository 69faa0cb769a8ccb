// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Bags")
struct BagTests {
  let store: Store
  let people: DocumentCollection
  init() throws {
    store = try anyStore()
    people = store["people"]
  }

  /// Returns a saved bag with the saved people a, b, and c.
  private func saved(_ name: String? = "team") throws -> Bag {
    let bag = Bag(name: name, in: store)
    for key in ["a", "b", "c"] {
      try bag.add(Document(["name": .string(key)], key: key), in: "people")
    }
    try bag.save()
    return bag
  }

  private func sizes(_ bag: Bag) throws -> [Int] {
    [try bag.saved.count(), try bag.unsaved.count(), try bag.removed.count()]
  }

  @Test("A new bag has a key, no name and no members, and is unsaved")
  func newBag() throws {
    let bag = Bag()
    #expect(!bag.key.isEmpty && bag.key != Bag().key)
    #expect(bag.name == nil)
    #expect(bag.hasUnsavedChanges)
    #expect(try bag.count() == 0)
    #expect(try bag.documents().isEmpty)
    #expect(try bag.representation().names == ["key", "members"])
    #expect(code { try bag.save() } == .invalidArgument)
    try bag.reload()
  }

  @Test("bag(named:) returns the stored bag, or a new one with that name")
  func byName() throws {
    let first = try store.bag(named: "007")
    #expect(first.hasUnsavedChanges)
    #expect(try store.bags().isEmpty)
    try first.save()

    let again = try store.bag(named: "007")
    #expect(again.key == first.key)
    #expect(!again.hasUnsavedChanges && !first.hasUnsavedChanges)
    #expect(try store.bags(named: "7").isEmpty)
    #expect(try store.bags(named: "007").map(\.key) == [first.key])
    #expect(try store.bag(key: first.key)?.name == "007")
    #expect(try store.bag(key: "nobody") == nil)
    let second = Bag(name: "007", in: store)
    try second.save()
    #expect(try store.bags(named: "007").count == 2)
    #expect(try store.bag(named: "007").key == first.key)
    #expect(
      try store.bags(keys: [second.key, "x", first.key]).map(\.key) == [second.key, first.key])
  }

  @Test("Saving a bag saves its documents; a bag read again has no changes and the same order")
  func saving() throws {
    let bag = try saved()
    #expect(!bag.hasUnsavedChanges)
    #expect(try sizes(bag) == [3, 0, 0])
    #expect(try people.find().keys() == ["a", "b", "c"])

    let again = try store.bag(named: "team")
    #expect(!again.hasUnsavedChanges)
    #expect(try sizes(again) == [3, 0, 0])
    #expect(try again.documents().map { $0["name"] } == ["a", "b", "c"])
    #expect(try again.documents().map(\.isEdited) == [false, false, false])
    #expect(try again.saved.keys() == ["a", "b", "c"])
    #expect(try again.document("b")?["name"] == "b")
    #expect(try again.document("x") == nil)
  }

  @Test("A new document receives its key when it is added, and requires a collection")
  func newDocuments() throws {
    let bag = Bag(in: store)
    #expect(code { try bag.add(try Document(["n": 1])) } == .invalidArgument)
    #expect(try bag.count() == 0)
    let added = try bag.add(Document(["n": 1]), in: "numbers")
    try bag.save()
    #expect(try store["numbers"].get(try #require(added.key))?["n"] == 1)
    #expect(try bag.contains(added))
    #expect(try bag.contains(key: try #require(added.key), in: "NUMBERS"))
    #expect(try !bag.contains(key: try #require(added.key), in: "people"))
    #expect(try !bag.contains(Document(["n": 1])))
  }

  @Test("A stored document without edits is not written again")
  func unedited() throws {
    let ada = try people.save(["name": "Ada"], key: "ada")
    let bag = Bag(in: store)
    try bag.add(ada)
    try bag.add(try #require(try people.get("ada")))
    try bag.save()
    #expect(try people.get("ada")?.revision == 1)
    #expect(try bag.count() == 1)
  }

  @Test("Adding an edited member marks it unsaved, and saving keeps its position")
  func editing() throws {
    let bag = try saved()
    var b = try #require(try bag.document("b"))
    b["name"] = "B"
    try bag.add(b)
    #expect(try sizes(bag) == [2, 1, 0])
    #expect(try bag.count() == 3)
    #expect(try bag.documents().map { $0["name"] } == ["a", "B", "c"])
    #expect(try people.get("b")?["name"] == "b")

    try bag.save()
    #expect(try sizes(bag) == [3, 0, 0])
    #expect(try people.get("b")?["name"] == "B")
    #expect(try store.bag(named: "team").documents().map { $0["name"] } == ["a", "B", "c"])
  }

  @Test("An edited partial document is rejected (Q19)")
  func partial() throws {
    try people.save(["name": "Ada", "born": 1815], key: "ada")
    var some = try #require(try people.find().select("name").first())
    let bag = Bag(in: store)
    try bag.add(some)
    try bag.save()
    #expect(try people.get("ada")?["born"] == 1815)
    some["name"] = "X"
    #expect(code { try bag.add(some) } == .partialDocument)
    #expect(!bag.hasUnsavedChanges)
  }

  @Test(
    "Removed members are listed even if they were never saved, and unknown keys change nothing")
  func removing() throws {
    let bag = try saved()
    #expect(try !bag.remove(key: "nope"))
    #expect(!bag.hasUnsavedChanges)
    let d = try bag.add(Document(["name": "d"], key: "d"), in: "people")
    #expect(try bag.remove(d))
    #expect(try bag.remove(key: "a"))
    #expect(try !bag.remove(key: "a"))
    #expect(try sizes(bag) == [2, 0, 2])
    #expect(try bag.removed.keys() == ["d", "a"])
    #expect(try bag.removed.documents().map { $0["name"] } == ["d", "a"])
    #expect(try !bag.contains(d) && !bag.contains(key: "a"))
    #expect(try bag.members().map(\.key) == ["b", "c"])

    try bag.save()
    #expect(try sizes(bag) == [2, 0, 0])
    #expect(try store.bag(named: "team").keys == ["b", "c"])
    #expect(try people.get("a") != nil)
    #expect(try people.get("d") == nil)
  }

  @Test("A removed document that is added again occurs once, at the end")
  func addingBack() throws {
    let bag = try saved()
    let a = try #require(try bag.document("a"))
    try bag.remove(a)
    try bag.add(a)
    #expect(try sizes(bag) == [2, 1, 0])
    #expect(try bag.keys == ["b", "c", "a"])
    try bag.save()
    #expect(try store.bag(named: "team").keys == ["b", "c", "a"])
  }

  @Test("removeAll() lists every member as removed, saved or not (Q11)")
  func removeAll() throws {
    let bag = try saved()
    try bag.add(Document([:], key: "d"), in: "people")
    try bag.removeAll()
    #expect(try sizes(bag) == [0, 0, 4])
    #expect(try Set(bag.removed.keys()) == ["a", "b", "c", "d"])
    #expect(try bag.count() == 0)
    #expect(bag.hasUnsavedChanges)
    let c = try #require(try people.get("c"))
    try bag.add(c)
    #expect(try sizes(bag) == [0, 1, 3])
    try bag.save()
    #expect(try sizes(bag) == [1, 0, 0])
    #expect(try store.bag(named: "team").keys == ["c"])
    #expect(try people.count() == 3)

    let detached = Bag()
    try detached.removeAll()
    #expect(try sizes(detached) == [0, 0, 0])
  }

  @Test("A changed name is stored when the bag is saved, not before")
  func renaming() throws {
    let bag = try saved("old")
    bag.name = "new"
    #expect(try store.bags(named: "old").count == 1)
    try bag.save()
    #expect(try store.bags(named: "old").isEmpty)
    #expect(try store.bags(named: "new").map(\.key) == [bag.key])
    bag.name = "new"
    #expect(!bag.hasUnsavedChanges)
  }

  @Test("reload() keeps unsaved and removed members and restores nothing (Q13)")
  func reload() throws {
    let bag = try saved()
    var b = try #require(try bag.document("b"))
    b["name"] = "B"
    try bag.add(b)
    try bag.remove(key: "a")
    let other = try store.bag(named: "team")
    other.name = "crew"
    try other.add(Document([:], key: "d"), in: "people")
    try other.save()

    try bag.reload()
    #expect(bag.name == "crew")
    #expect(try sizes(bag) == [2, 1, 1])
    #expect(try bag.saved.keys() == ["c", "d"])
    #expect(try bag.removed.keys() == ["a"])
    bag.name = "mine"
    try bag.reload()
    #expect(bag.name == "mine")

    try store.deleteBag(key: bag.key)
    #expect(code { try bag.reload() } == .notFound)
    #expect(code { try bag.save() } == .notFound)
    #expect(try sizes(bag)[1] == 1)
  }

  @Test(
    "Inflating loads documents into memory and deflating releases them; the bag's content is unchanged"
  )
  func inflation() throws {
    let bag = try store.bag(key: saved().key)!
    #expect(bag.loadedCount == 0)
    try bag.inflate()
    #expect(bag.loadedCount == 3)
    try people.save(["name": "A"], key: "a")
    #expect(try bag.document("a")?["name"] == "a")
    try bag.reload()
    #expect(bag.loadedCount == 3)
    #expect(try bag.document("a")?["name"] == "A")
    try bag.add(Document(["name": "C"], key: "c"), in: "people")
    try bag.remove(key: "b")
    try bag.save()
    #expect(bag.loadedCount == 2)
    #expect(try bag.documents().map { $0["name"] } == ["A", "C"])
    bag.deflate()
    #expect(bag.loadedCount == 0)
    #expect(!bag.hasUnsavedChanges)
    #expect(try bag.documents().map { $0["name"] } == ["A", "C"])
  }

  @Test("A rollback reverts what a bag has read in the transaction")
  func rolledBackReads() throws {
    struct Stop: Error {}
    let bag = try saved()
    let other = try store.bag(named: "team")

    #expect(throws: Stop.self) {
      try store.write {
        other.name = "crew"
        try other.save()
        try people.save(["name": "A"], key: "a")
        try bag.reload()
        try bag.inflate()
        #expect(bag.name == "crew")
        #expect(try bag.document("a")?["name"] == "A")
        throw Stop()
      }
    }

    #expect(bag.name == "team" && !bag.hasUnsavedChanges)
    #expect(try bag.document("a")?["name"] == "a")
    bag.name = "crew"
    try bag.save()
    #expect(try store.bags().map(\.name) == ["crew"])
  }

  @Test(
    "Bags are equal if they have the same members in the same states; names and keys are ignored")
  func equality() throws {
    let bag = try saved()
    let again = try store.bag(named: "team")
    #expect(try bag.isEqual(to: again))
    try again.add(Document([:], key: "d"), in: "people")
    #expect(try !bag.isEqual(to: again))
    let other = Bag(name: "other", in: store)
    for key in ["c", "b", "a"] { try other.add(try #require(try people.get(key))) }
    #expect(try !bag.isEqual(to: other))
    try other.save()
    #expect(try bag.isEqual(to: other))
    #expect(try Bag().isEqual(to: Bag()))
  }

  @Test("A copy has the same name and contents under a new key, and can be saved (Q14)")
  func copying() throws {
    let bag = try saved()
    var copy = try bag.copy()
    #expect(copy.key != bag.key && copy.name == "team")
    #expect(copy.hasUnsavedChanges)
    #expect(try bag.isEqual(to: copy))

    try bag.add(Document(["name": "d"], key: "d"), in: "people")
    try bag.remove(key: "a")
    copy = try bag.copy()
    #expect(try copy.isEqual(to: bag))
    #expect(try copy.contains(key: "b") && !copy.contains(key: "a"))
    #expect(try copy.documents().count == 3)
    try copy.save()
    #expect(try store.bag(key: copy.key)?.keys == ["b", "c", "d"])
    #expect(try people.get("d")?["name"] == "d")
    // A member that was removed and added again is at the end.
    let b = try #require(try bag.document("b"))
    try bag.remove(b)
    try bag.add(b)
    let moved = try bag.copy()
    #expect(try moved.keys == ["c", "d", "b"])
    try moved.save()
    #expect(try moved.keys == ["c", "d", "b"])
    // The original is unchanged.
    #expect(try sizes(bag) == [1, 2, 1])
    #expect(try store.bag(key: bag.key)?.keys == ["a", "b", "c"])

    let detached = Bag(name: "x")
    try detached.add(Document([:], key: "e"), in: "people")
    let second = try detached.copy()
    #expect(try second.unsaved.keys() == ["e"])
    try store.save(second)
    #expect(try people.get("e") != nil)
  }

  @Test("A bag without a store is attached when it is saved, and stays attached")
  func attaching() throws {
    let bag = Bag(name: "x")
    try bag.add(Document([:], key: "a"), in: "people")
    #expect(bag.store == nil)
    try store.save(bag)
    #expect(bag.store === store)
    try store.save(bag)
    #expect(try store.bags().count == 1)
    let other = try anyStore()
    #expect(code { try other.save(bag) } == .invalidArgument)
    #expect(code { try Bag(in: other).add(bag) } == .invalidArgument)
    let outer = Bag()
    try outer.add(bag)
    #expect(code { try other.save(outer) } == .invalidArgument)
    #expect(outer.store == nil && bag.store === store)
  }

  @Test("Members can come from any collections, with keys or row IDs")
  func heterogeneous() throws {
    try store.createCollection("log", identity: .rowID)
    let line = try store["log"].insert(["text": "hello"])
    let ada = try people.save(["name": "Ada"], key: "1")
    let book = try store["Books"].save(["title": "Dune"], key: "1")
    let bag = try store.bag(named: "mixed")
    try bag.add([line, ada, book])
    try bag.save()

    #expect(try bag.members().map(\.collection) == ["log", "people", "Books"])
    #expect(try bag.members().map(\.rowID) == [1, nil, nil])
    #expect(try bag.documents().map(\.collection) == ["log", "people", "Books"])
    #expect(try bag.contains(line))
    #expect(try bag.document("1")?.collection == "Books")
    #expect(try bag.document("1", in: "PEOPLE")?.collection == "people")
    #expect(try store.bags(containing: line).count == 1)
    #expect(try bag.remove(key: "1", in: "books"))
    #expect(try bag.count() == 2)
    bag.undo()
    #expect(try bag.remove(key: "1"))
    #expect(try bag.count() == 1)
    try bag.save()
    var edited = try #require(try bag.documents().first)
    edited["text"] = "bye"
    try bag.add(edited)
    try bag.save()
    #expect(try store["log"].get(rowID: 1)?["text"] == "bye")
    #expect(try bag.representation()["members"] == [1])
  }

  @Test("Custom objects are returned as their class")
  func objects() throws {
    store.register(Car.self)
    let bag = try store.bag(named: "garage")
    try bag.add(object: Car(key: "xj", name: "XJ-7"), in: "cars")
    try bag.add(Document(["name": "Ada"], key: "ada"), in: "people")
    try bag.save()
    let objects = try store.bag(named: "garage").contents.objects()
    #expect((objects[0] as? Car)?.name == "XJ-7")
    #expect((objects[1] as? Document)?.key == "ada")
  }

  private struct Car: StorableObject, Codable {
    var key: String
    var name: String
    var storedKey: String? { key }
  }

  @Test("A bag describes itself as JSON, and omits its name in logs")
  func description() throws {
    let bag = try saved("secret")
    try bag.remove(key: "a")
    let object = try DocumentObject(json: bag.jsonDescription())
    #expect(
      object == [
        "key": .string(bag.key), "name": "secret", "hasStore": true, "hasUnsavedChanges": true,
        "saved": 2, "unsaved": 0, "removed": 1,
      ])
    #expect(try DocumentObject(json: Bag().jsonDescription())["name"] == "<untitled>")
    #expect(!bag.description.contains("secret") && bag.description.contains(bag.key))
    #expect(try bag.representation().names == ["key", "name", "members"])
  }

  @Test("Members and documents can be read in pages or as a stream")
  func paging() async throws {
    let bag = Bag(in: store)
    let new = try (0..<600).map { try Document(["n": .int($0)], key: "k\($0)") }
    try bag.add(new, in: "numbers")
    #expect(try await bag.documents(limit: 2, offset: 300).map { $0["n"] } == [300, 301])
    try await bag.save()
    #expect(try await bag.documents(limit: 2, offset: 300).map { $0["n"] } == [300, 301])
    #expect(try await bag.members(limit: 5, offset: 598).map(\.key) == ["k598", "k599"])
    #expect(try await bag.members(limit: 0).isEmpty)
    #expect(code { _ = try bag.members(limit: -1) } == .invalidArgument)
    #expect(code { _ = try bag.documents(offset: -1) } == .invalidArgument)
    try await bag.remove(key: "k0")
    #expect(try await bag.documents(limit: 2, offset: 0).map { $0["n"] } == [1, 2])
    bag.undo()
    var seen: [Int64] = []
    for try await document in bag.stream() {
      seen.append(document["n"]?.int64 ?? -1)
      try await store["copies"].save(["n": document["n"] ?? 0])
    }
    #expect(seen == Array(0..<600))
  }

  @Test("A collection that indexes every field keeps its documents in their bags")
  func everything() throws {
    try people.setIndexing(.everything)
    let bag = try saved()
    #expect(try bag.find(Field("name") == "b").keys() == ["b"])
    try people.delete("b")
    #expect(try bag.keys == ["a", "c"])
    #expect(try store.verify().isEmpty)
  }
}

extension Bag {
  var keys: [String] { get throws { try contents.keys() } }
}
