// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import NanoTesting
import Testing

@Suite("Update operators", .timeLimit(.minutes(10)))
struct UpdateOperatorTests {
  private let store: Store
  private var films: DocumentCollection { store["films"] }

  init() throws {
    store = try anyStore()
    try store["films"].save(["title": "Alien", "views": 1, "tags": ["scary"]], key: "alien")
  }

  @Test("One call applies several operators, in order, and returns the document")
  func several() async throws {
    let title = "Aliens"
    let changed = try await films.update(
      "alien", .increment("views", by: 2), .multiply("views", by: 2.5), .append("tags", "a", 1),
      .set("title", title), .set("cast", [["name": "Weaver", "age": 30]]), .rename("cast", to: "by")
    )
    #expect(
      try changed.object() == [
        "title": "Aliens", "views": 7.5, "tags": ["scary", "a", 1],
        "by": [["name": "Weaver", "age": 30]],
      ])
    #expect(try await films.get("alien")?.object() == changed.object())
    let pulled = try await films.update("alien", .pull("by", where: Field("age") > 20))
    #expect(pulled["by"] == [])
  }

  @Test("If an operator fails, the document is unchanged, and the error names the field")
  func failing() throws {
    let error = #expect(throws: StoreError.self) {
      try films.update("alien", .increment("views"), .append("title", "x"))
    }
    #expect(error?.code == .typeMismatch)
    #expect(error?[.field] == "title")
    #expect(error?[.actual] == "text")
    #expect(try films.get("alien")?["views"] == 1)
    let missing = #expect(throws: StoreError.self) { try films.update("x", .increment("n")) }
    #expect(missing?.code == .notFound)
  }

  @Test(
    "A field with the name of the row ID is neither lost nor duplicated: only setting it is allowed"
  )
  func rowID() throws {
    let refused: [[FieldChange]] = [
      [.rename("views", to: "__rowid__")], [.rename("__rowid__", to: "b")],
      [.increment("__rowid__")],
      [.rename("views", to: "__rowid__.x")], [.set("__rowid__.x", 1)], [.remove("__rowid__")],
      [.append("__rowid__", 1)],
    ]
    for changes in refused {
      let error = #expect(throws: StoreError.self) { try films.find().update(changes) }
      #expect(error?.code == .invalidArgument && error?[.field] != nil)
      #expect(throws: StoreError.self) { try films.update("alien", changes) }
      #expect(throws: StoreError.self) { try films.update("new", changes, upsert: true) }
    }
    #expect(try films.count() == 1 && films.get("alien")?["views"] == 1)
    try films.update("alien", .set("__rowid__", 77), .set("views", 2))
    #expect(try films.get("alien")?.rowID == 1 && films.get("alien")?["views"] == 2)
  }

  @Test("Upsert inserts a document once, and setOnInsert applies only then")
  func upsert() async throws {
    for number in 1...3 {
      let before = try await films.getAndUpdate(
        "new", [.increment("n"), .setOnInsert("first", number)], upsert: true)
      #expect(before?["n"] == (number == 1 ? nil : .int(Int64(number - 1))))
    }
    #expect(try await films.get("new")?.object() == ["n": 3, "first": 1])
    try await store.write {
      try films.update("other", .append("list", 1), upsert: true)
      try films.update("other", .append("list", 2), upsert: true)
    }
    #expect(try await films.get("other")?["list"] == [1, 2])
  }

  @Test("16 concurrent writers lose no update, and upsert inserts once")
  func concurrent() async throws {
    let films = films
    try await withThrowingTaskGroup { group in
      for writer in 0..<16 {
        group.addTask {
          for number in 0..<20 {
            try await films.update(
              "counter", .increment("n"), .append("list", writer * 100 + number), upsert: true)
          }
        }
      }
      try await group.waitForAll()
    }
    let counter = try #require(try await films.get("counter"))
    #expect(counter["n"] == 320)
    let list = try #require(counter["list"]?.array).compactMap(\.int)
    #expect(Set(list).count == 320)
    for writer in 0..<16 {
      #expect(list.filter { $0 / 100 == writer } == (0..<20).map { writer * 100 + $0 })
    }
  }

  @Test("All results of a query are changed, or none")
  func query() async throws {
    try await films.insert((0..<500).map { try Document(["n": .int(Int64($0)), "a": [1]]) })
    let few = try films.find("[n] < 400")
    #expect(try await few.update(.increment("n", by: 1_000), .append("a", 2)) == 400)
    #expect(try await films.find("[n] >= 1000 AND [a] = 2").count() == 400)
    try await films.insert(["n": 2_000, "a": "text"])
    await #expect(throws: StoreError.self) {
      try await films.find("[n] >= 0").update(.increment("n"), .append("a", 3))
    }
    #expect(try await films.find("[a] = 3").count() == 0)
    #expect(try await films.find("[n] = 1000").count() == 1)
  }

  @Test("The condition of a pull cannot refer to the document's metadata")
  func metadata() async throws {
    try await films.update("alien", .set("a", [1, 2]))
    for condition in ["[__key__] = 'alien'", "[__key__] IS NULL"] {
      let condition = try QueryText(condition).condition
      await #expect(throws: StoreError.self) {
        try await films.update("alien", .pull("a", where: condition))
      }
    }
    #expect(try await films.get("alien")?["a"] == [1, 2])
  }

  @Test("New fields and types that an update adds are known to later queries and to verify")
  func catalog() async throws {
    try await films.insert(
      (0..<300).map { try Document(["n": .int(Int64($0)), "o": ["a": 1], "s": ["$x": 1]]) })
    try await films.find("[n] % 7 = 3").delete()
    try await films.createIndex("n")
    try await films.find("[n] < 200").update(
      .set("n", "text"), .increment("o.b"), .set("t.u", [1.5]))
    try await films.find("[n] >= 200").update(.set("o.a", Date(timeIntervalSince1970: 0)))
    try await films.find("[n] >= 250").update(.set("n", Decimal(string: "260.5")!))
    #expect(try await films.find("[n] = 'text'").count() == 171)
    #expect(try await films.find("[n] > 260 AND [n] < 261").count() == 43)
    #expect(try await films.find("[o.b] = 1 AND [t.u] = 1.5").count() == 171)
    #expect(try await films.find("[o.a] < 1").count() == 0)
    #expect(try await store.verify().isEmpty)
  }

  @Test("Live queries and change feeds receive the change")
  func observed() async throws {
    var updates = try films.find("[views] > 5").updates().makeAsyncIterator()
    #expect(try await updates.next()?.isEmpty == true)
    try await films.update("alien", .increment("views", by: 5))
    #expect(try await updates.next()?.first?["views"] == 6)
  }
}
