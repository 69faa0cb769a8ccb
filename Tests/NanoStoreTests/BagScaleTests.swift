// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import NanoTesting
import Testing

@Suite("Large bags")
struct BagScaleTests {
  @Test(
    "Adding a document to a bag of 100,000 writes two rows, and queries use indexes", .sqlite)
  func hundredThousand() async throws {
    let store = try anyStore()
    let songs = store["songs"]
    let bag = try await store.bag(named: "everything")
    try bag.add((0..<100_000).map { try Document(["n": .int($0)], key: "s\($0)") }, in: "songs")
    // The async call frees the thread for other tests.
    try await bag.save()
    try check(store, songs, bag)
  }

  private func check(_ store: Store, _ songs: DocumentCollection, _ bag: Bag) throws {
    let again = try store.bag(named: "everything")
    #expect(try again.count() == 100_000)
    #expect(try again.contains(key: "s99999", in: "songs"))
    #expect(try !again.contains(key: "s100000", in: "songs"))
    #expect(try again.documents(limit: 2, offset: 99_998).map { $0["n"] } == [99_998, 99_999])
    #expect(try store.bags(containingKey: "s77777", in: "songs").map(\.key) == [bag.key])
    #expect(try again.find(Field("n") == 55_555).keys() == ["s55555"])

    // One row for the document and one for the membership; no other row changes.
    let changes = try changes(store) {
      try again.add(Document(["n": 100_000], key: "s100000"), in: "songs")
      try again.save()
    }
    #expect(changes == 2)
    #expect(
      try self.changes(store) {
        try again.remove(key: "s5", in: "songs")
        try again.save()
      } == 1)
    #expect(try self.changes(store) { try again.save() } == 0)
    #expect(try self.changes(store) { try songs.delete("s6") } == 2)
    #expect(try bag.count() == 99_999)
    #expect(try bag.documents(limit: 1, offset: 4).map(\.key) == ["s4"])
    #expect(try bag.documents(limit: 1, offset: 5).map(\.key) == ["s7"])
    #expect(try bag.saved.members(limit: 1, offset: 99_998).map(\.key) == ["s100000"])
    #expect(try songs.deleteAll() == 100_000)
    #expect(try bag.count() == 0)
  }

  /// Returns the number of rows that a block inserts, updates, and deletes.
  private func changes(_ store: Store, _ work: () throws -> Void) throws -> Int64 {
    func total() throws -> Int64 {
      try store.write { try store.sql("SELECT total_changes() AS n")[0]["n"]?.int64 ?? 0 }
    }
    let before = try total()
    try work()
    return try total() - before
  }

  @Test("Saving a bag does not look up bags in it that lead to no changes")
  func unchangedBags() throws {
    let engine = FailingEngine(ReferenceEngine())
    let store = try Store(opening: { engine })
    let root = Bag(name: "root", in: store)
    let inner = (0..<60).map { _ in Bag(in: store) }
    let outer = try inner.map { bag -> Bag in
      let outer = Bag(in: store)
      try outer.add(bag)
      // Contains a changed bag only by containing the one that is saved.
      try outer.add(root)
      try root.add(outer)
      return outer
    }
    try root.save()

    try root.add(Document(["n": 1], key: "a"), in: "people")
    engine.succeed()
    try root.save()
    let calls = engine.calls
    try inner[7].add(Document(["n": 1], key: "b"), in: "people")
    try root.save()

    #expect(calls < 60)
    #expect(!inner[7].hasUnsavedChanges)
    #expect(try outer.allSatisfy { try $0.count() == 2 })
    #expect(try store["people"].count() == 2)
  }

  @Test(
    "Many saves of a bag in one transaction need memory for their changes only",
    .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status")))
  func manySaves() throws {
    let scratch = try Scratch()
    let helper = try HelperProcess()
    #expect(try helper.send("open", scratch.file("a.db")) == "ok")

    let reply = try helper.send("saveBag", "1000")

    let megabytes = try #require(Int(reply.dropFirst("ok ".count)))
    #expect(megabytes < 80)
  }

  @Test("A rollback to a savepoint releases the loaded documents of a bag that was saved before it")
  func inflatedSavepoint() throws {
    struct Stop: Error {}
    let store = try anyStore()
    let bag = Bag(in: store)
    try bag.add(Document(["n": 1], key: "a"), in: "people")
    try bag.save()
    try bag.inflate()

    try store.write {
      try bag.add(Document(["n": 2], key: "b"), in: "people")
      try bag.save()
      #expect(bag.loadedCount == 2)
      #expect(throws: Stop.self) {
        try store.write {
          try bag.add(Document(["n": 3], key: "c"), in: "people")
          try bag.save()
          throw Stop()
        }
      }
      #expect(bag.loadedCount == 0)
    }

    #expect(bag.loadedCount == 0)
    #expect(try bag.saved.keys() == ["a", "b"])
  }

  @Test("Queries for members use a single index and no scan", .sqlite)
  func indexes() throws {
    let store = try anyStore()
    try store.createCollection("log", identity: .rowID)
    let bag = try store.bag(named: "b")
    try bag.add(store["log"].insert(["n": 1]))
    try bag.add(Document(["n": 1], key: "a"), in: "people")
    try bag.save()
    let inBag = Field("bag") == 1
    let ofMember = Field("collection") == "people" && Field("key") == "a"
    let queries: [(Query, String)] = [
      (Query(inBag, orderings: [.forward("position")], limit: 9, offset: 5), "bag_position"),
      (
        Query(
          inBag && Field("position") >= 7, orderings: [.forward("position")], limit: 9,
          after: PagePosition(values: [7], rowID: 3)), "bag_position"
      ),
      (Query(inBag, orderings: [.reverse("position")], limit: 1), "bag_position"),
      (Query(inBag && ofMember), "bag_collection_key_unique"),
      (Query(ofMember), "collection_key"),
      (Query(Field("collection") == "people"), "collection_key"),
      (
        Query(inBag && Field("collection") == "people" && Field("key").isIn(["a", "b"])),
        "bag_collection_key_unique"
      ),
    ]
    for (query, index) in queries {
      let explanation = try store.engine().read(.snapshot, nil) {
        try $0.explain(query, in: InternalCollection.bagMembers.rawValue)
      }
      #expect(explanation.indexes == [index], "\(query)")
      #expect(!explanation.plan.contains { $0.contains("SCAN") }, "\(explanation.plan)")
    }
  }
}
