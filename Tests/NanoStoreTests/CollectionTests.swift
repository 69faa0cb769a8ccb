// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Documents in a collection")
struct CollectionTests {
  let store: Store
  let people: DocumentCollection

  init() throws {
    store = try anyStore()
    people = store["people"]
  }

  @Test("A saved document is read back with its content, key, and date")
  func roundTrip() throws {
    let object: DocumentObject = [
      "name": "Ada", "born": 1815, "height": 1.65, "living": false, "nickname": nil,
      "works": ["Notes", ["year": 1843]], "joined": .date(Date(timeIntervalSince1970: 1.5)),
      "portrait": .data(Data([0, 255])), "home": .url(URL(string: "https://example.org/a")!),
      "$odd": .double(.infinity),
    ]
    let before = Date()

    let saved = try people.save(object, key: "ada")
    let read = try #require(try people.get("ada"))

    #expect(try read.object() == object)
    #expect(read.key == "ada")
    #expect(read.rowID == 1)
    #expect(saved.rowID == 1)
    #expect(read.revision == 1)
    #expect(try #require(read.added) >= before.addingTimeInterval(-1))
    #expect(read["works.1.year"] == 1843)
  }

  @Test("Generated keys are UUIDs in ascending order")
  func generatedKeys() throws {
    let keys = try (0..<100).map { try #require(try people.insert(["n": .int($0)]).key) }

    #expect(keys == keys.sorted())
    #expect(Set(keys).count == 100)
    #expect(try people.get(keys[7])?["n"] == 7)
  }

  @Test(
    "Inserting a duplicate key throws an error with collection and key; saving replaces the document"
  )
  func insertAndSave() throws {
    try people.insert(["n": 1], key: "a")
    let error = #expect(throws: StoreError.self) { try people.insert(["n": 2], key: "a") }

    #expect(error?.code == .duplicateKey)
    #expect(error?[.collection] == "people")
    #expect(error?[.key] == "a")
    #expect(error?.description.contains("\"a\"") == false)
    #expect(try people.get("a")?["n"] == 1)

    let replaced = try people.save(["n": 3], key: "a")
    #expect(replaced.rowID == 1)
    #expect(try people.get("a")?["n"] == 3)
    #expect(try people.get("a")?.revision == 2)
    #expect(try people.count() == 1)
  }

  @Test("An update changes the specified fields and keeps the others")
  func update() throws {
    try people.save(["name": "Ada", "address": ["city": "London", "zip": "1"]], key: "ada")

    try people.update("ada", set: ["address.city": "Paris", "age": 36], remove: ["address.zip"])

    #expect(
      try people.get("ada")?.object()
        == ["name": "Ada", "address": ["city": "Paris"], "age": 36])
    #expect(throws: StoreError.self) { try people.update("nobody", set: ["a": 1]) }
    let error = #expect(throws: StoreError.self) {
      try people.update("ada", set: ["name.first": 1])
    }
    #expect(error?.code == .typeMismatch)
  }

  @Test("Changes can be reused for several updates, with and without await")
  func fieldChanges() async throws {
    let changes = [FieldChange.set("seen", true), .remove("n")]
    try await people.insert([["n": 1], ["n": 2], ["n": 3]])
    let some = people.find(Field("n") > 1)

    #expect(try await some.update(changes) == 2)

    #expect(try await people.find(Field("seen") == true).count() == 2)
    #expect(try await some.update(changes) == 0)
  }

  @Test("The row ID of a deleted last document is not reused")
  func rowIDs() throws {
    try people.save(["n": 1], key: "a")
    try people.save(["n": 2], key: "b")

    #expect(try people.delete("b"))
    #expect(try people.delete("b") == false)
    #expect(try people.save(["n": 3], key: "c").rowID == 3)
    #expect(try people.deleteAll() == 2)
    #expect(try people.insert(["n": 4]).rowID == 4)
  }

  @Test("A batch is atomic")
  func batches() throws {
    try people.insert([["n": 1], ["n": 2]])
    let documents = try [
      Document(["n": 3], key: "x"), Document(["n": 4], key: "y"), Document(["n": 5], key: "x"),
    ]
    #expect(throws: StoreError.self) { try people.insert(documents) }
    #expect(try people.count() == 2)
    #expect(try people.save(documents).count == 3)
    #expect(try people.get("x")?["n"] == 5)
  }

  @Test("Reading a nonexistent collection returns nothing and creates nothing")
  func unknownCollection() throws {
    let nothing = store["nothing"]
    #expect(try nothing.get("a") == nil)
    #expect(try nothing.count() == 0)
    #expect(try nothing.fetch().isEmpty)
    #expect(try nothing.find(Field("a") == 1).distinct("a").isEmpty)
    #expect(try nothing.delete("a") == false)
    #expect(try nothing.find().delete() == 0)
    #expect(try nothing.find().average("a") == nil)
    #expect(try nothing.find().sum("a") == 0)
    #expect(try store.collections().isEmpty)
  }

  @Test("A partial document cannot replace the complete one")
  func partialDocuments() throws {
    try people.save(["name": "Ada", "address": ["city": "London", "zip": "1"]], key: "ada")
    var partial = try #require(try people.find().select("address.city").first())
    #expect(try partial.object() == ["address": ["city": "London"]])
    partial["address.city"] = "Paris"
    let error = #expect(throws: StoreError.self) { try people.save(partial) }
    #expect(error?.code == .partialDocument)
  }

  @Test("Codable values are stored and read back")
  func codable() async throws {
    struct Person: Codable, Equatable, Sendable {
      var name: String
      var born: Date?
      var tags: [String]
    }
    let ada = Person(name: "Ada", born: Date(timeIntervalSince1970: -4_880_000_000), tags: ["math"])
    try await people.save(ada, key: "ada")
    #expect(try await people.get("ada", as: Person.self) == ada)
    #expect(try await people.find(Field("tags") == "math").decoded(as: Person.self) == [ada])
  }
}
