// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Testing

@Model private struct Account: Equatable {
  @Key var id: String?
  @Unique var email: String
  @Indexed var tags: Set<String> = []
  var owner: String
  var country = "UK"
  static let indexes = [
    ModelIndex<Account>(.forward(\.owner), .reverse(\.country)), .unique(\.owner, \.email),
  ]
}

@Model private struct Numbered: Equatable {
  @Key var number: Int
  var text: String
}

@Model private final class Counter {
  var name: String
  var count = 0
  init(name: String) { self.name = name }
}

@Suite("Writing models")
struct ModelWritingTests {
  private let store: Store
  private var accounts: ModelCollection<Account> { store[Account.self] }
  init() throws { store = try anyStore() }

  @Test("A value without a key gets a generated key")
  func generatedKey() throws {
    let stored = try accounts.insert(Account(email: "a@x", owner: "Ada"))
    let id = try #require(stored.id)
    #expect(id == stored.key)
    #expect(try accounts.get(id) == stored.value)
    #expect(try accounts.fetch().map(\.id) == [id])
    #expect(try accounts.find(\.id == id).count() == 1)
  }

  @Test("An existing key is rejected by insert and replaced by save")
  func keys() throws {
    let numbered = store[Numbered.self]
    try numbered.insert(Numbered(number: 7, text: "seven"))
    let error = #expect(throws: StoreError.self) {
      _ = try numbered.insert(Numbered(number: 7, text: "again"))
    }
    #expect(error?.code == .duplicateKey)
    #expect(try numbered.get(7)?.text == "seven")
    try numbered.save(Numbered(number: 7, text: "again"))
    #expect(try numbered.get(7)?.text == "again")
    #expect(try numbered.get("7")?.number == 7)
    #expect(try numbered.count() == 1)
    #expect(try numbered.delete(7))
    #expect(try !numbered.delete(7))
  }

  @Test("A value is not stored under a different key than its own")
  func otherKey() throws {
    let error = #expect(throws: StoreError.self) {
      _ = try accounts.save(Account(id: "a", email: "a@x", owner: "Ada"), key: "b")
    }
    #expect(error?.code == .invalidArgument)
    var stored = try accounts.insert(Account(id: "a", email: "a@x", owner: "Ada"))
    stored.id = "b"
    #expect(throws: StoreError.self) { _ = try accounts.save(stored) }
    #expect(try accounts.fetch().map(\.id) == ["a"])
  }

  @Test("Saving a stored value replaces its document")
  func savedInPlace() throws {
    var stored = try accounts.insert(Account(email: "a@x", owner: "Ada"))
    stored.country = "FR"
    try accounts.save(stored)
    #expect(try accounts.count() == 1)
    let again = try #require(try accounts.find(\.country == "FR").firstStored())
    #expect(again.value == stored.value)
    #expect(again.rowID == stored.rowID)
    #expect(again.revision == 2)

    // Also in a collection with row IDs only.
    let counters = store["counters"].models(Counter.self)
    try store.createCollection("counters", identity: .rowID)
    let counter = try counters.insert(Counter(name: "one"))
    #expect(counter.key == nil)
    counter.value.count = 5
    try counters.save(counter)
    #expect(try counters.fetch().map(\.count) == [5])
    #expect(try counters.delete(counter))
    let error = #expect(throws: StoreError.self) { _ = try counters.save(counter) }
    #expect(error?.code == .notFound)
  }

  @Test("Declared indexes are created by the first write and enforced", .sqlite)
  func indexes() throws {
    try accounts.insert(Account(email: "a@x", tags: ["x", "y"], owner: "Ada"))
    #expect(
      try accounts.documents.indexes().map(\.name)
        == ["email_unique", "owner_country_desc", "owner_email_unique", "tags_elements"])
    let error = #expect(throws: StoreError.self) {
      _ = try accounts.insert(Account(email: "a@x", owner: "Bob"))
    }
    #expect(error?.code == .uniqueViolation)
    #expect(error?[.index] == "email_unique")
    #expect(try accounts.count() == 1)
    #expect(try !accounts.find { $0.tags.contains("x") }.explain().indexes.isEmpty)
    try accounts.documents.createIndex("country")
    #expect(try accounts.dropUndeclaredIndexes() == 1)
    #expect(try accounts.documents.indexes().count == 4)
  }

  @Test("Duplicate documents prevent the creation of a unique index, and are unchanged")
  func duplicateDocuments() throws {
    try store["Account"].insert(["email": "a@x", "owner": "Ada"])
    try store["Account"].insert(["email": "a@x", "owner": "Bob"])
    let error = #expect(throws: StoreError.self) { try accounts.prepare() }
    #expect(error?.code == .uniqueViolation)
    #expect(try accounts.documents.indexes().isEmpty)
    #expect(try accounts.count() == 2)
    #expect(try accounts.fetch().map(\.owner) == ["Ada", "Bob"])
  }

  @Test("Several values are stored atomically")
  func atomicity() throws {
    let accounts = accounts
    let many = (0..<200).map { Account(email: "\($0)@x", owner: "Ada") }
    #expect(try accounts.insert(many).count == 200)
    let error = #expect(throws: StoreError.self) {
      _ = try accounts.insert(
        [
          Account(email: "new@x", owner: "Bob"), Account(email: "7@x", owner: "Bob"),
        ])
    }
    #expect(error?[.position] == "document 2 of the batch")
    #expect(try accounts.count() == 200)
    let keyed = try accounts.fetch()
    #expect(try accounts.save(keyed.prefix(5)).count == 5)
    #expect(try accounts.count() == 200)
  }

  @Test("An index created in a rolled-back transaction is created again")
  func rolledBackIndexes() throws {
    struct Undo: Error {}
    #expect(throws: Undo.self) {
      try store.write {
        try accounts.insert(Account(email: "a@x", owner: "Ada"))
        throw Undo()
      }
    }
    try accounts.insert(Account(email: "a@x", owner: "Ada"))
    #expect(try accounts.documents.indexes().count == 4)
  }

  @Test("Every call has an async form")
  func asynchronous() async throws {
    let accounts = accounts
    let stored = try await accounts.insert(Account(id: "a", email: "a@x", owner: "Ada"))
    try await accounts.save(stored)
    try await accounts.insert([Account(id: "b", email: "b@x", owner: "Bob")])
    try await accounts.update("b", .set(\.country, "FR"))
    let french = try await accounts.find(\.country == "FR").fetch()
    #expect(french.map(\.id) == ["b"])
    let first = try await accounts.find().sorted(using: .reverse(\.owner)).first()
    #expect(first?.owner == "Bob")
    var streamed: [String] = []
    for try await account in accounts.find().sorted(by: \.owner).stream() {
      streamed.append(account.owner)
    }
    #expect(streamed == ["Ada", "Bob"])
    let (count, last) = try await accounts.find().aggregate(.count, .max(\.owner))
    #expect(count == 2 && last == "Bob")
    let pairs = try await accounts.find().select(\.owner, \.country)
    #expect(pairs.map(\.1) == ["UK", "FR"])
    let removed = try await accounts.find(\.owner == "Ada").delete()
    #expect(removed == 1)
    let rest = try await accounts.count()
    #expect(rest == 1)
  }

  @Test("A live query delivers values after each change")
  func updates() async throws {
    let accounts = accounts
    try await accounts.insert(Account(id: "a", email: "a@x", owner: "Ada"))
    var seen: [[String]] = []
    for try await found in accounts.find(\.country == "UK").updates() {
      seen.append(found.map(\.owner))
      switch seen.count {
      case 1: try await accounts.insert(Account(id: "b", email: "b@x", owner: "Bob"))
      case 2: try await accounts.update("a", .set(\.country, "FR"))
      default: break
      }
      if seen.count == 3 { break }
    }
    #expect(seen == [["Ada"], ["Ada", "Bob"], ["Bob"]])
  }

  @Test("Pages, groups, distinct values and projections return models")
  func shapes() throws {
    let accounts = accounts
    for number in 0..<9 {
      try accounts.insert(
        Account(
          email: "\(number)@x", tags: number % 2 == 0 ? ["even", "all"] : ["all"],
          owner: "o\(number % 3)"))
    }
    var page = try accounts.find().sorted(by: \.owner).page(4)
    var emails = page.models.map(\.email)
    while let next = page.next {
      page = try accounts.find().sorted(by: \.owner).after(next).page(4)
      emails += page.models.map(\.email)
    }
    #expect(emails == [0, 3, 6, 1, 4, 7, 2, 5, 8].map { "\($0)@x" })
    let groups = try accounts.find().grouped(by: \.owner, .count, .min(\.email))
    #expect(groups.map(\.group) == ["o0", "o1", "o2"])
    #expect(groups.map(\.values.0) == [3, 3, 3])
    #expect(groups.map(\.values.1) == ["0@x", "1@x", "2@x"])
    #expect(try accounts.find().distinct(\.owner) == ["o0", "o1", "o2"])
    let contacts = try accounts.find(\.owner == "o1").fetch(as: Mail.self)
    #expect(contacts == ["1@x", "4@x", "7@x"].map { Mail(email: $0) })
    #expect(try accounts.find { $0.tags.contains("even") }.count() == 5)
    #expect(try accounts.find().min(\.email) == "0@x")
    #expect(try accounts.find(\.owner == "none").max(\.email) == nil)
    let emails0 = try accounts.fetch().prefix(2).compactMap(\.id)
    #expect(try accounts.get(keys: emails0).map(\.email) == ["0@x", "1@x"])
    var shown = 0
    try accounts.find().each { shown += $0.owner.count }
    #expect(shown == 18)
  }

  @Test("A document that does not decode is an error with collection, key and field")
  func invalidDocument() throws {
    try store["Account"].insert(["email": "a@x", "owner": 5], key: "k")
    for read in [
      { _ = try accounts.fetch() }, { _ = try accounts.get("k") },
      { _ = try accounts.find().select(\.owner) }, { _ = try accounts.find().stored() },
      { try accounts.find().each { _ in } },
    ] as [() throws -> Void] {
      let error = #expect(throws: StoreError.self) { try read() }
      #expect(error?.code == .typeMismatch)
      #expect(error?[.collection] == "Account")
      #expect(error?[.key] == "k")
      #expect(error?[.field] == "owner")
    }
    try store["Account"].save(["email": "a@x"], key: "k")
    let error = #expect(throws: StoreError.self) { _ = try accounts.fetch() }
    #expect(error?[.field] == "owner")
    #expect(error?.message == "A required field is missing")
    #expect(error?.description.contains("a@x") == false)
  }
}

enum Suit: String, QueryValue { case clubs, hearts, spades }

@Model private struct Hand: Equatable {
  var trump: Suit
  var second: Suit?
  var suits: [Suit] = []
  var rank = 1
}

extension ModelWritingTests {
  @Test("Enum cases are queried, listed and distinguished by their stored values")
  func enums() throws {
    let hands = store[Hand.self]
    try hands.insert([
      Hand(trump: .clubs, second: .hearts, suits: [.clubs, .spades]),
      Hand(trump: .hearts, suits: [.hearts]), Hand(trump: .spades, second: .clubs),
    ])
    #expect(try hands.find(\.trump == .clubs).count() == 1)
    #expect(try hands.find(\.trump != .clubs).count() == 2)
    #expect(try hands.find(\.second == nil).count() == 1)
    #expect(try hands.find(\.second == .hearts).count() == 1)
    #expect(try hands.find(\.second != .hearts).count() == 2)
    #expect(try hands.find { $0.trump.isIn([.clubs, .spades]) }.count() == 2)
    #expect(try hands.find { $0.suits.contains(.hearts) }.count() == 1)
    #expect(try hands.find().distinct(\.trump) == [.clubs, .hearts, .spades])
    #expect(
      try hands.find().grouped(by: \.trump, .count).map(\.group) == [.clubs, .hearts, .spades])
    #expect(try hands.find().update(.set(\.trump, .hearts)) == 3)
    #expect(try hands.find().select(\.trump).allSatisfy { $0 == .hearts })
    #expect(try hands.find().sum(\.rank) == 3)
    #expect(try hands.find().average(\.rank) == 1)
  }
}

@Model private struct Mail: Equatable {
  var email: String
}

@Model private struct Film: Equatable {
  @Key var id: String
  @Field(renamedFrom: "oldViews") var views = 0
  var small: Int8 = 100
  var rating = 1.5
  var rank: Int?
  var tags: [String] = []
  var genres: Set<String> = []
  var details = Details()
  var parts: [Details] = []
  var notes: [String]?
  var score: Double?

  @Model struct Details: Equatable { var count = 5 }
}

@Model private struct Ware: Equatable {
  @Key var id: Int
  var price: Decimal
  var discount: Decimal?
  var stock = 10
  var changes: Int
  var details: Film.Details = .init()
}

@Suite("Update operators of models")
struct ModelOperatorTests {
  private let films: ModelCollection<Film>
  init() throws {
    films = try anyStore()[Film.self]
    try films.insert(Film(id: "a"))
  }

  @Test("Operators take key paths and the types of their properties")
  func operators() async throws {
    try await films.update(
      "a", .increment(\.views), .increment(\.views, by: 2), .multiply(\.rating, by: 2),
      .increment(\.rank, by: 7), .append(\.tags, "x", "y"), .prepend(\.tags, "w"),
      .addToSet(\.genres, "horror", "horror"), .addToSet(\.tags, "y", "z"), .pull(\.tags, "x"),
      .max(\.views, 10), .min(\.rating, 2.5), .increment(\.details.count))
    let film = try #require(try await films.get("a"))
    #expect(film.views == 10 && film.rating == 2.5 && film.rank == 7)
    #expect(film.tags == ["w", "y", "z"] && film.genres == ["horror"])
    #expect(film.details.count == 6)
    #expect(try await films.find(\.views == 10).update(.pop(\.tags), .pop(\.tags, .first)) == 1)
    #expect(try await films.get("a")?.tags == ["y"])
  }

  @Test("A result that the property cannot hold is rejected")
  func overflow() throws {
    let error = #expect(throws: StoreError.self) {
      try films.update("a", .increment(\.views), .increment(\.small, by: 100))
    }
    #expect(error?.code == .valueNotStorable)
    #expect(try films.get("a") == Film(id: "a"))
  }

  @Test("An operator starts from the default of a property that the document lacks")
  func defaults() throws {
    try films.documents.save([:], key: "b")
    try films.update("b", .increment(\.small), .increment(\.details.count, by: 2))
    #expect(try films.get("b")?.small == 101)
    #expect(try films.get("b")?.details.count == 7)
  }

  @Test("An update returns the value after or before the change")
  func results() async throws {
    let after = try await films.update("a", .increment(\.views))
    #expect(after.views == 1 && after.key == "a")
    #expect("\(after)".hasPrefix("Stored(Film(id: \"a\"") && "\(after)".hasSuffix(", key: a)"))
    let before = try await films.getAndUpdate("a", [.increment(\.views)])
    #expect(before?.views == 1)
    #expect(try await films.get("a")?.views == 2)
    // The returned metadata is that of the stored document.
    var stored = try await films.update("a", .set(\.rating, 3))
    stored.views = 9
    try await films.save(stored)
    #expect(try await films.get("a")?.views == 9)
  }

  @Test("An update of a missing value throws, and inserts nothing")
  func missing() async throws {
    for call in 0..<2 {
      let error = await #expect(throws: StoreError.self) {
        if call == 0 {
          try await films.update("none", .increment(\.views))
        } else {
          _ = try await films.getAndUpdate("none", [.increment(\.views)])
        }
      }
      #expect(error?.code == .notFound)
    }
    #expect(try await films.count() == 1)
  }

  @Test("An update whose result does not decode changes nothing")
  func undecodable() throws {
    try films.documents.save(["rank": "first"], key: "b")
    let error = #expect(throws: StoreError.self) { try films.update("b", .set(\.views, 3)) }
    #expect(error?.code == .typeMismatch)
    #expect(try films.documents.get("b")?["views"] == nil)
    // A query's update does not decode what it sets.
    #expect(try films.find(\.id == "b").update(.set(\.views, 3)) == 1)
    #expect(try films.update("b", .set(\.rank, 1)).views == 3)
  }

  @Test("Operators on optional properties start from nothing")
  func optionals() throws {
    let film = try films.update(
      "a", .append(\.notes, "b"), .prepend(\.notes, "a"), .insert(\.notes, "x", "y", at: 1),
      .addToSet(\.notes, "b", "z"), .pull(\.notes, "y"), .pop(\.notes, .first),
      .increment(\.score, by: 1.5), .multiply(\.score, by: 2), .max(\.rank, 3), .min(\.rank, 2))
    #expect(film.notes == ["x", "b", "z"] && film.score == 3 && film.rank == 2)
    #expect(try films.update("a", .multiply(\.rank, by: 4)).rank == 8)
    // A stored null is no value either.
    try films.documents.update("a", set: ["score": nil, "notes": nil])
    let again = try films.update("a", .increment(\.score, by: 2), .append(\.notes, "n"))
    #expect(again.score == 2 && again.notes == ["n"])
  }

  @Test("Elements of an array are inserted at an index, and removed by a condition")
  func elements() throws {
    let film = try films.update(
      "a", .append(\.parts, .init(count: 1), .init(count: 9)),
      .insert(\.parts, .init(count: 4), at: 1), .pull(\.parts) { $0.count > 3 && $0.count < 9 })
    #expect(film.parts.map(\.count) == [1, 9])
    let error = #expect(throws: StoreError.self) {
      try films.update("a", .insert(\.tags, "x", at: -1))
    }
    #expect(error?.code == .invalidArgument)
  }

  @Test("Decimals are added and multiplied exactly")
  func decimals() async throws {
    let wares = films.store[Ware.self]
    try await wares.insert(Ware(id: 1, price: Decimal(string: "0.1")!, changes: 0))
    let ware = try await wares.update(
      1, .increment(\.price, by: Decimal(string: "0.2")!), .multiply(\.price, by: 3),
      .increment(\.discount, by: Decimal(string: "0.05")!), .multiply(\.discount, by: 2))
    #expect(ware.price == Decimal(string: "0.9")! && ware.discount == Decimal(string: "0.1")!)
    #expect(try await wares.documents.get("1")?["price"] == .decimal(Decimal(string: "0.9")!))
    #expect(try await wares.find(\.price == Decimal(string: "0.9")!).update(.max(\.price, 2)) == 1)
    #expect(try await wares.get(1)?.price == 2)
  }

  @Test("An upsert inserts a value with defaults, from which operators start")
  func upsert() async throws {
    let wares = films.store[Ware.self]
    let changes: [ModelChange<Ware>] = [
      .setOnInsert(\.price, 5), .increment(\.stock), .increment(\.changes),
      .increment(\.details.count, by: 2),
    ]
    #expect(try await wares.getAndUpdate(7, changes, upsert: true) == nil)
    let expected = Ware(
      id: 7, price: 5, stock: 11, changes: 1, details: Film.Details(count: 7))
    #expect(try await wares.get(7) == expected)
    #expect(try await wares.documents.get("7")?["stock"] == 11)
    let before = try await wares.getAndUpdate(7, changes, upsert: true)
    #expect(before?.value == expected)
    let after = try await wares.update(
      7, .setOnInsert(\.price, 6), .increment(\.changes), upsert: true)
    #expect(after.price == 5 && after.changes == 3 && after.stock == 12)
    #expect(try await wares.count() == 1)
  }

  @Test("A value that an upsert only inserts does not touch a document under a former name")
  func formerName() async throws {
    try await films.documents.save(["oldViews": 8], key: "old")
    let film = try await films.update("old", .setOnInsert(\.views, 1), upsert: true)
    #expect(film.views == 8)
    #expect(try await films.update("old", .increment(\.views), upsert: true).views == 9)
    #expect(try await films.documents.get("old")?["oldViews"] == nil)
  }

  @Test("An upsert that lacks a required property throws and names it")
  func incompleteUpsert() async throws {
    let wares = films.store[Ware.self]
    let error = await #expect(throws: StoreError.self) {
      try await wares.update(8, .increment(\.changes), upsert: true)
    }
    #expect(error?.code == .typeMismatch)
    #expect("\(try #require(error))".contains("price"))
    #expect("\(try #require(error))".contains(".setOnInsert"))
    #expect(try await wares.count() == 0)
  }

  @Test("Concurrent upserts and increments are all counted")
  func concurrent() async throws {
    let wares = films.store[Ware.self]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<16 {
        group.addTask {
          for _ in 0..<5 {
            try await wares.update(
              9, .setOnInsert(\.price, 1), .increment(\.changes), upsert: true)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await wares.get(9)?.changes == 80)
  }
}
