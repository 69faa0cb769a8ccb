// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import Testing

@Model struct Friend: Codable, Equatable {
  var name: String
  var age: Int
}

@Model struct Station: Identifiable, Equatable {
  var id: String
  var kind: Kind
  var height: Int
  var tags: [String] = []
  var fee: Decimal = 0
  var readings: [String: Double] = [:]
}

enum Kind: String { case land, sea }

@Suite("Code in the article Queries with key paths and predicates")
struct ModelQueriesSnippets {
  @Model struct Person: Equatable {
    @Key var id: String
    var firstName: String
    @Indexed var lastName: String
    var age: Int?
    var salary = 0.0
    var tags: [String] = []
    var address: Address?
    var friends: [Friend] = []
  }

  private let store: Store
  private var people: ModelCollection<Person> { store[Person.self] }

  init() throws {
    store = try Store(.memory)
    try people.insert([
      Person(
        id: "ada", firstName: "Ada", lastName: "Lovelace", age: 36, salary: 10, tags: ["maths"],
        address: Address(city: "London"),
        friends: [Friend(name: "Mary", age: 70), Friend(name: "Charles", age: 44)]),
      Person(
        id: "grace", firstName: "Grace", lastName: "Hopper", age: 85, salary: 20,
        tags: ["maths", "navy"], address: Address(city: "New York", country: "US")),
      Person(id: "jane", firstName: "Jane", lastName: "Doe", salary: 30),
    ])
  }

  @Test("Key paths") func keyPaths() async throws {
    let people = store[Person.self]
    let hoppers = try await people.find(\.lastName == "Hopper").fetch()
    let old = try await people.find(\.age > 40 && \.salary >= 10 || \.id == "jane").count()  // 2
    let ageless = try await people.find(\.age == nil).fetch()  // Jane
    let british = try await people.find(\.address?.country == "UK").fetch()  // Ada
    let others = try await people.find(!(\.lastName == "Doe")).count()  // 2
    #expect(hoppers.map(\.id) == ["grace"])
    #expect(old == 2)
    #expect(ageless.map(\.id) == ["jane"])
    #expect(british.map(\.id) == ["ada"])
    #expect(others == 2)
  }

  @Test("Properties in a closure") func closures() throws {
    let ladies = people.find { $0.lastName.hasPrefix("Ho") || $0.firstName.isIn(["Ada", "Jane"]) }
    let either = people.find { $0.lastName.matches(.insensitiveContains, "LOVE") }
    let mathematicians = people.find { $0.tags.contains("maths") && !$0.friends.isEmpty }
    let middle = people.find { $0.age.isBetween(30, and: 40) && $0.address.country == "UK" }
    let some = people.find { $0.friends.age > 50 && $0.friends.name == "Charles" }
    let same = people.find { $0.friends.element { $0.age > 50 && $0.name == "Charles" } }
    #expect(try ladies.count() == 3)
    #expect(try either.keys() == ["ada"])
    #expect(try mathematicians.keys() == ["ada"])
    #expect(try middle.keys() == ["ada"])
    #expect(try some.keys() == ["ada"])
    #expect(try same.count() == 0)
  }

  @Test("Conditions on documents") func documents() async throws {
    let byField = people.find(Field("address.city").glob("New*"))
    let byText = try people.find("[address.city] = ? OR [age] IS NULL", "London")
    let asDocuments = try await people.find(\.age > 40).documentQuery().keys()
    #expect(try await byField.keys() == ["grace"])
    #expect(try await byText.keys() == ["ada", "jane"])
    #expect(asDocuments == ["grace"])
  }

  @Test("Ordering and pages") func pages() async throws {
    let sorted = try await people.find().sorted(by: \.lastName, \.firstName).fetch()
    let highest = try await people.find().sorted(using: .reverse(\.salary), .forward(\.lastName))
      .limit(2).fetch()

    var page = try await people.find().sorted(by: \.lastName).page(2)  // Doe, Hopper
    while let next = page.next {
      page = try await people.find().sorted(by: \.lastName).after(next).page(2)  // Lovelace
    }
    #expect(sorted.map(\.id) == ["jane", "grace", "ada"])
    #expect(highest.map(\.id) == ["jane", "grace"])
    #expect(page.models.map(\.id) == ["ada"])
  }

  @Test("Projections") func parts() async throws {
    for (name, age) in try await people.find().sorted(by: \.lastName).select(\.lastName, \.age) {
      print(name, age ?? 0)  // Doe 0, Hopper 85, Lovelace 36
    }
    let cities = try await people.find().sorted(by: \.lastName).select(\.address?.city)
    let tags = try await people.find().distinct(\.tags)  // ["maths", "navy"]
    #expect(cities == [nil, "New York", "London"])
    #expect(tags == ["maths", "navy"])
    let countries = try await people.find().sorted(by: \.lastName).select(\.address?.country)
    #expect(countries == [nil, "US", "UK"])
    #expect(try await people.find().distinct(\.address?.country) == ["UK", "US"])
  }

  @Test("Raw values, ranges and dictionaries") func stations() async throws {
    try await store[Station.self].insert([
      Station(id: "a", kind: .land, height: 3, tags: ["coast"], readings: ["air": 18]),
      Station(id: "b", kind: .land, height: 40, readings: ["air": 21.5]),
      Station(id: "c", kind: .sea, height: 8, tags: ["harbor", "coast"]),
    ])

    let stations = store[Station.self]
    let atSea = try await stations.find(\.kind == .sea).count()  // 1
    let low = try await stations.find { (3...10).contains($0.height) }.count()  // 2
    let warm = try await stations.find(\.readings["air"] > 20).count()  // 1
    #expect(atSea == 1 && low == 2 && warm == 1)

    for (tag, count) in try await stations.find().grouped(by: \.tags, .count) {
      print(tag ?? "-", count)  // - 1, coast 2, harbor 1
    }
    for ((kind, height), count) in try await stations.find()
      .grouped(by: \.kind, \.height, .count)
    {
      print(kind, height, count)  // land 3 1, land 40 1, sea 8 1
    }
    let tags = try await stations.find().grouped(by: \.tags, .count)
    #expect(tags.map(\.group) == [nil, "coast", "harbor"] && tags.map(\.values) == [1, 2, 1])
    let pairs = try await stations.find().grouped(by: \.kind, \.height, .count)
    #expect(pairs.map(\.group.0) == [.land, .land, .sea])
    #expect(pairs.map(\.group.1) == [3, 40, 8])
  }

  @Test("Aggregates and groups") func aggregates() async throws {
    let (count, total, oldest) = try await people.find(\.salary > 5)
      .aggregate(.count, .sum(\.salary), .max(\.age))  // 3, 60.0, 85
    for (country, (count, average)) in try await people.find()
      .grouped(by: \.address?.country, .count, .average(\.salary))
    {
      print(country ?? "-", count, average ?? 0)  // - 1 30.0, UK 1 10.0, US 1 20.0
    }
    #expect(count == 3 && total == 60 && oldest == 85)
    let groups = try await people.find().grouped(by: \.address?.country, .count, .average(\.salary))
    #expect(groups.map(\.group) == [nil, "UK", "US"])
    #expect(groups.map(\.values.1) == [30, 10, 20])
  }

  @Test("Live queries", .timeLimit(.minutes(10))) func live() async throws {
    let list = List()
    let people = store[Person.self]
    let task = Task {
      for try await people in people.find(\.age > 40).sorted(by: \.lastName).updates() {
        await list.show(people)  // Grace; then Alan and Grace
      }
    }
    try await list.shown("Hopper")
    try await people.insert(Person(id: "alan", firstName: "Alan", lastName: "Fry", age: 41))
    try await list.shown("Fry Hopper")
    task.cancel()

    let updates = people.find().sorted(by: \.lastName).updates().differences()
    for try await update in updates {
      await list.apply(update.difference, update.documents)
      break
    }
    #expect(await list.names == "Doe Fry Hopper Lovelace")
  }

  private actor List {
    private var people: [Person] = []
    var names: String { people.map(\.lastName).joined(separator: " ") }
    func show(_ people: [Person]) { self.people = people }
    func apply(_ difference: DocumentDifference, _ new: [Person]) {
      people = []
      difference.apply(to: &people, new)
    }
    func shown(_ names: String) async throws {
      while self.names != names { try await Task.sleep(for: .milliseconds(5)) }
    }
  }

  @Test("With await") func asynchronously() async throws {
    let count = try await people.find(\.age > 40).count()
    let first = try await people.find().sorted(by: \.lastName).first()
    for try await person in people.find().sorted(by: \.lastName).stream() {
      print(person.firstName)  // Jane, Grace, Ada
    }
    #expect(count == 1)
    #expect(first?.id == "jane")
  }

  @Test("Errors are thrown when the query runs") func failures() async throws {
    let query = people.find(\.firstName.count > 3)
    do {
      _ = try await query.fetch()
    } catch let error as StoreError where error.code == .invalidArgument {
      print(error)  // A query names a property that is not stored as a field of a model …
    }
    #expect(throws: StoreError.self) { try query.fetch() }
  }
}
