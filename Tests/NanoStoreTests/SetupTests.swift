// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Store and collection setups")
struct SetupTests {
  private let folder: Scratch
  init() throws { folder = try Scratch() }

  private static let complete = """
    {"storeName": "cfg.db", "collections": {"Users": {"identity": "rowID", "cacheSize": 0,
    "defaultJson": {"active": true}, "aliases": {"last": "[name.last]"},
    "indexes": ["last, [name.first]", "[age] DESC"], "uniqueIndexes": "[email]",
    "queryableFields": "[address.country]"}}}
    """

  @Test("A setup file creates a store and its collections, and applying it again changes nothing")
  func complete() throws {
    try Data(Self.complete.utf8).write(to: URL(filePath: folder.file("setup.json")))
    var setup = try StoreSetup(contentsOf: folder.file("setup.json"))
    setup.path = folder.path
    for _ in 0..<2 {
      let store = try Store(setup)
      let users = store["users"]
      #expect(store.file == folder.file("cfg.db"))
      #expect(
        Set(try users.indexes().map(\.keys)) == [
          "[name.last], [name.first]", "[age] DESC", "[email]",
        ])
      #expect(try users.indexes().filter(\.isUnique).map(\.keys) == ["[email]"])
      #expect(try users.defaults() == ["active": true])
      #expect(try users.aliases() == ["last": "[name.last]"])
      #expect(try users.queryableFields() == ["address.country"])
      #expect(users.cacheSize == 0)
      #expect(try users.insert(["n": 1]).key == nil)
      try store.apply(setup)
      try store.close()
    }
    #expect(Store.Location.file(folder.file("cfg.db")).exists)
    #expect(!Store.Location.file(folder.file("other.db")).exists)
  }

  @Test("A setup equals the setup decoded from its own JSON")
  func codable() throws {
    let setup = try StoreSetup(DocumentObject(json: Self.complete))
    #expect(try StoreSetup(setup.object) == setup)
    let data = try JSONEncoder().encode(setup)
    #expect(try JSONDecoder().decode(StoreSetup.self, from: data) == setup)
    #expect(StoreSetup(path: "TEMP", name: "a").file.hasSuffix("/a"))
    #expect(StoreSetup().file.hasSuffix("/NanoStore.db"))
    #expect(StoreSetup(path: "CACHES").file == StoreSetup().file)
  }

  @Test("An invalid entry throws with its field, or is ignored and reported")
  func strictness() throws {
    let json = """
      {"storeName": 5, "collections": {"c": {"cacheSize": "x", "indexes": [3, "[a]"], "zzz": 1}, "d": 7}}
      """
    let object = try DocumentObject(json: json)
    #expect(error { _ = try StoreSetup(object) }?[.field] == "storeName")
    #expect(error { _ = try CollectionSetup(["aliases": ["a": 1]]) }?[.field] == "aliases.a")
    var ignored: [StoreError] = []
    let setup = StoreSetup(object, ignored: &ignored)
    #expect(
      ignored.map { $0[.field] } == [
        "storeName", "collections.c.cacheSize", "collections.c.indexes.0", "collections.c.zzz",
        "collections.d",
      ])
    #expect(setup == StoreSetup(collections: ["c": CollectionSetup(indexes: ["[a]"])]))
    #expect(code { _ = try StoreSetup(contentsOf: folder.file("missing")) } == .cannotOpen)
    let bad = try folder.write(Array("{".utf8), "bad.json")
    #expect(code { _ = try StoreSetup(contentsOf: bad) } == .invalidJSON)
  }

  @Test("A setup that fails for one collection changes none")
  func failure() async throws {
    let store = try anyStore()
    try await store["b"].insert([["n": 1], ["n": 1]])
    let setup = StoreSetup(collections: [
      "a": CollectionSetup(cacheSize: 7, defaults: ["v": 1], indexes: ["[n]"]),
      "b": CollectionSetup(aliases: ["x": "[n]"], uniqueIndexes: ["x"]),
    ])
    #expect(await asyncCode { try await store.apply(setup) } == .uniqueViolation)
    #expect(try await store.collections().map(\.name) == ["b"])
    #expect(try await store["b"].aliases().isEmpty)
    #expect(store["a"].cacheSize == nil)
    #expect(
      await asyncCode { try await store["b"].apply(CollectionSetup(identity: .rowID)) }
        == .alreadyExists)
    #expect(await asyncCode { try await store.apply(StoreSetup(name: "x.db")) } == .invalidArgument)
    try await store["b"].apply(CollectionSetup(aliases: ["x": "[n]"], indexes: ["x"]))
    #expect(try await store["b"].find("x = 1").count() == 2)
  }
}

@Suite("Row IDs as document fields")
struct RowIDFieldTests {
  @Test("A document returns its row ID instead of a stored value, and the row ID is not stored")
  func field() throws {
    let people = try anyStore().createCollection("people", identity: .rowID)
    let given: DocumentObject = ["n": 1, "__rowid__": 99]
    try people.insert(given)
    try people.insert([["n": 2, "__rowid__": "x"]])
    try people.insert(Document(["n": 3, "__rowid__": 1]))
    let first = try #require(try people.get(rowID: 1))
    #expect(first["__rowid__"] == 1)
    #expect(first[FieldPath("__rowid__")] == 1)
    #expect(try first.object() == ["n": 1])
    #expect(try people.find("[__rowid__] = 99").count() == 0)
    #expect(try people.find("ORDER BY [__rowid__] DESC").rowIDs() == [3, 2, 1])
    var changed = first
    changed["__rowid__"] = 7
    changed["n"] = 5
    #expect(changed["__rowid__"] == 1)
    try people.save(changed)
    #expect(try people.get(rowID: 1)?.object() == ["n": 5])
    #expect(Document.empty["__rowid__"] == nil)
    let foreign = try people.update(rowID: 1, set: ["__rowid__": 4])
    #expect(try foreign.object() == ["n": 5])
  }

  @Test("Replacing by row ID requires an existing document")
  func replacing() async throws {
    let people = try await anyStore().createCollection("people", identity: .rowID)
    try await people.insert(["n": 1, "old": true])
    let replaced = try await people.replace(Document(["__rowid__": 1, "n": 2]))
    #expect(replaced.rowID == 1)
    #expect(try await people.get(rowID: 1)?.object() == ["n": 2])
    #expect(
      await asyncCode { try await people.replace(Document(["__rowid__": 77])) } == .notFound)
    #expect(await asyncCode { try await people.replace(Document(["n": 3])) } == .invalidArgument)
    #expect(
      await asyncCode { try await people.replace(Document(["n": 3], key: "k")) } == .notFound)
    let partial = try #require(try await people.find().select("n").first())
    #expect(await asyncCode { try await people.replace(partial) } == .partialDocument)
    #expect(try await people.fetch().map { $0["n"] } == [2])
  }
}

extension Document {
  fileprivate static var empty: Document {
    Document(Header(), copying: .init(start: nil, count: 0))
  }
}
