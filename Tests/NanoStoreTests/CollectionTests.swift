// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@Suite("Documents in a collection")
struct CollectionTests {
  let store: Store
  let people: DocumentCollection

  init() throws {
    store = try Store(.memory)
    people = store["people"]
  }

  @Test("What is saved comes back whole, with its key and its moment")
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

  @Test("A key that is made is a UUID that sorts after the one before")
  func madeKeys() throws {
    let keys = try (0..<100).map { try #require(try people.insert(["n": .int($0)]).key) }

    #expect(keys == keys.sorted())
    #expect(Set(keys).count == 100)
    #expect(try people.get(keys[7])?["n"] == 7)
  }

  @Test("Inserting a key twice is an error that names collection and key; saving replaces")
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

  @Test("An update changes some fields and leaves the others")
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

  @Test("A removed last row id is not used again")
  func rowIDs() throws {
    try people.save(["n": 1], key: "a")
    try people.save(["n": 2], key: "b")

    #expect(try people.remove("b"))
    #expect(try people.remove("b") == false)
    #expect(try people.save(["n": 3], key: "c").rowID == 3)
    #expect(try people.removeAll() == 2)
    #expect(try people.insert(["n": 4]).rowID == 4)
  }

  @Test("A batch is stored wholly or not at all")
  func batches() throws {
    try people.insert(contentsOf: [["n": 1], ["n": 2]])
    let documents = try [
      Document(["n": 3], key: "x"), Document(["n": 4], key: "y"), Document(["n": 5], key: "x"),
    ]
    #expect(throws: StoreError.self) { try people.insert(contentsOf: documents) }
    #expect(try people.count() == 2)
    #expect(try people.save(contentsOf: documents).count == 3)
    #expect(try people.get("x")?["n"] == 5)
  }

  @Test("Reading a collection that does not exist finds nothing and makes nothing")
  func unknownCollection() throws {
    let nothing = store["nothing"]
    #expect(try nothing.get("a") == nil)
    #expect(try nothing.count() == 0)
    #expect(try nothing.documents().isEmpty)
    #expect(try nothing.find(Field("a") == 1).distinct("a").isEmpty)
    #expect(try nothing.remove("a") == false)
    #expect(try nothing.find().remove() == 0)
    #expect(try nothing.find().average("a") == nil)
    #expect(try nothing.find().total("a") == 0)
    #expect(try store.collections().isEmpty)
  }

  @Test("A document with chosen fields cannot replace the whole one")
  func partialDocuments() throws {
    try people.save(["name": "Ada", "address": ["city": "London", "zip": "1"]], key: "ada")
    var partial = try #require(try people.find().select("address.city").first())
    #expect(try partial.object() == ["address": ["city": "London"]])
    partial["address.city"] = "Paris"
    let error = #expect(throws: StoreError.self) { try people.save(partial) }
    #expect(error?.code == .partialDocument)
  }

  @Test("Codable values are stored and read")
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

@Suite("Queries")
struct QueryTests {
  let store: Store
  let films: DocumentCollection

  init() throws {
    store = try Store(.memory)
    films = store["films"]
    try films.insert(contentsOf: [
      ["title": "Alien", "year": 1979, "genres": ["Horror", "Science Fiction"]],
      ["title": "Brazil", "year": 1985, "genres": ["Science Fiction"]],
      ["title": "Casablanca", "year": 1942, "genres": ["Drama"]],
      ["title": "Duel", "year": 1971, "genres": []],
      ["title": "Éloge", "year": nil],
    ])
  }

  private func titles(_ query: DocumentQuery) throws -> [String] {
    try query.documents().compactMap { $0["title"]?.string }
  }

  @Test("Conditions in Swift and as text find the same", arguments: [false, true])
  func conditions(indexed: Bool) throws {
    if indexed {
      try films.createIndex("year")
      try films.createIndex("genres")
      try films.createIndex("title", unique: true)
    }
    #expect(try titles(films.find(Field("year") > 1975)) == ["Alien", "Brazil"])
    #expect(try titles(films.find("[year] > ?", 1975)) == ["Alien", "Brazil"])
    #expect(try titles(films.find(Field("genres") == "Science Fiction")) == ["Alien", "Brazil"])
    #expect(
      try titles(films.find("[genres] = 'Horror' AND [year] BETWEEN 1970 AND 1980")) == ["Alien"])
    #expect(try titles(films.find(Field("title").beginsWith("É"))) == ["Éloge"])
    #expect(
      try titles(films.find(Field("title").matches(.insensitiveEqualTo, "éLOGE"))) == ["Éloge"])
    #expect(try titles(films.find(Field("year") == .null)) == ["Éloge"])
    #expect(try titles(films.find(!Field("genres").exists)) == ["Éloge"])
    #expect(
      try titles(films.find(!(Field("year") > 1975)).sorted(by: "-year")) == [
        "Duel", "Casablanca", "Éloge",
      ])
    #expect(try titles(films.find("ORDER BY [year] DESC LIMIT 2 OFFSET 1")) == ["Alien", "Duel"])
  }

  @Test("Aggregates, groups and distinct values")
  func aggregates() throws {
    #expect(try films.find().average("year") == (1979 + 1985 + 1942 + 1971) / 4.0)
    #expect(try films.find().minimum("title") == "Alien")
    #expect(try films.find().total("year") == .int(1979 + 1985 + 1942 + 1971))
    let rows = try films.find().grouped(by: "genres", aggregates: [.count, .minimum("year")])
    #expect(rows.map(\.group) == [[nil], ["Drama"], ["Horror"], ["Science Fiction"]])
    #expect(rows.map(\.values) == [[2, 1971], [1, 1942], [1, 1979], [2, 1979]])
    #expect(try films.find().distinct("genres") == ["Drama", "Horror", "Science Fiction"])
  }

  @Test(
    "Pages by position cover everything once", arguments: ["year", "-year", "genres", "-title"])
  func pages(order: String) throws {
    let query = films.find().sorted(by: order)
    var seen: [Int64?] = []
    var page = try query.page(2)
    seen += page.documents.map(\.rowID)
    while let next = page.next {
      page = try query.after(next).page(2)
      seen += page.documents.map(\.rowID)
    }
    #expect(seen == (try query.documents().map(\.rowID)))
    #expect(seen.count == 5)
  }

  @Test("A stream gives everything and can be left early")
  func streams() async throws {
    try await films.insert(contentsOf: (0..<1000).map { ["n": .int(Int64($0))] })
    var count = 0
    for try await document in films.find(Field("n").exists).stream() {
      #expect(document["n"] == .int(Int64(count)))
      count += 1
    }
    #expect(count == 1000)
    for try await _ in films.find().stream() { break }
    #expect(try await films.count() == 1005)
  }

  @Test("Explain names the index and what is checked beside it")
  func explanation() throws {
    let query = films.find(Field("year") > 1975 && Field("title").contains("a"))
    #expect(try query.explain().indexes.isEmpty)
    try films.createIndex("year")
    let explained = try query.explain()
    #expect(explained.indexes == ["year"])
    #expect(explained.checkedPerDocument?.contains("title") == true)
    #expect(explained.checkedPerDocument?.contains("year") == false)
  }

  @Test("Update and remove by condition")
  func changes() throws {
    #expect(try films.find(Field("year") < 1980).update(set: ["old": true]) == 3)
    #expect(try films.find(Field("old") == true).count() == 3)
    #expect(try films.find(Field("old") == true).sorted(by: "year").limit(1).remove() == 1)
    #expect(try titles(films.find(Field("old") == true)) == ["Alien", "Duel"])
  }
}

@Suite("Transactions")
struct TransactionTests {
  let store: Store
  let notes: DocumentCollection
  init() throws {
    store = try Store(.memory)
    notes = store["notes"]
  }
  struct Oops: Error {}

  @Test("A block that throws leaves nothing, an inner one only undoes itself")
  func rollback() throws {
    #expect(throws: Oops.self) {
      try store.write {
        try notes.save(["n": 1], key: "a")
        throw Oops()
      }
    }
    #expect(try notes.count() == 0)
    #expect(try store.collections().isEmpty)

    try store.write {
      try notes.save(["n": 1], key: "a")
      try? store.write {
        try notes.save(["m": 2], key: "b")
        throw Oops()
      }
      #expect(try notes.count() == 1)
    }
    #expect(try notes.find().keys() == ["a"])
    #expect(try notes.observedPaths().map(\.path) == ["n"])
    #expect(try store.verify().isEmpty)
  }

  @Test("Many tasks write at once, each sees its own result")
  func coalescing() async throws {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for index in 0..<200 {
        group.addTask { [notes] in
          do {
            try await notes.insert(["n": .int(Int64(index))], key: "k\(index % 150)")
            return true
          } catch let error as StoreError where error.code == .duplicateKey {
            return false
          }
        }
      }
      let results = try await group.reduce(into: []) { $0.append($1) }
      #expect(results.filter { $0 }.count == 150)
    }
    #expect(try await notes.count() == 150)
  }

  @Test("Collected saves are seen, written together, or discarded")
  func saveInterval() throws {
    store.saveInterval = 3
    try notes.save(["n": 1], key: "a")
    try notes.save(["n": 2], key: "b")
    #expect(store.hasUnsavedChanges)
    #expect(try notes.count() == 2)
    #expect(try notes.get("a")?["n"] == 1)
    store.discardUnsavedChanges()
    #expect(!store.hasUnsavedChanges)
    #expect(try notes.count() == 0)
    try notes.save(["n": 1], key: "a")
    try notes.save(["n": 2], key: "b")
    try notes.save(["n": 3], key: "c")
    #expect(!store.hasUnsavedChanges)
    #expect(try notes.count() == 3)
  }
}
