// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Model values in a store")
struct ModelCollectionTests {
  private let store: Store
  private var people: ModelCollection<Person> { store[Person.self] }
  init() throws { store = try anyStore() }

  private let ada = Person(
    firstName: "Ada", lastName: "Lovelace", age: 36, tags: ["maths", "engines"],
    home: Place(street: "St James's Square"), past: [Place(street: "Piccadilly", country: "GB")],
    mood: .bad, shape: .circle(radius: 2), parts: ["free": ["form": [1, nil]]], salary: 12.5)

  @Test("A value round-trips")
  func roundTrip() throws {
    let stored = try people.insert(ada)
    #expect(stored.key == ada.id.uuidString.lowercased())
    #expect(try people.get(ada.id) == ada)
    #expect(try people.get(ada.id.uuidString.lowercased()) == ada)
    #expect(try people.get(rowID: #require(stored.rowID)) == ada)
    #expect(try people.fetch() == [ada])
  }

  @Test("Values are found by properties, including nested ones")
  func find() throws {
    try people.insert(ada)
    try people.insert(Person(firstName: "Grace", lastName: "Hopper", salary: 20))
    #expect(try people.find(\.lastName == "Hopper" && \.salary > 10).count() == 1)
    #expect(try people.find(\.age == nil).fetch().map(\.firstName) == ["Grace"])
    #expect(try people.find(\.age > 30 || \.mood == .good).count() == 2)
    #expect(try people.find(\.mood != .good).count() == 1)
    #expect(try people.find(\.home?.country == "UK").count() == 1)
    #expect(try people.find { $0.home.country == "UK" && $0.past.country == "GB" }.count() == 1)
    #expect(try people.find { $0.tags.contains("maths") }.count() == 1)
    #expect(try people.find { $0.tags.isEmpty }.count() == 1)
    #expect(try people.find { $0.firstName.hasPrefix("A") }.exists())
    #expect(try people.find(\.id == ada.id).first() == ada)
    #expect(
      try people.find().sorted(using: .reverse(\.salary)).fetch().map(\.firstName) == [
        "Grace", "Ada",
      ])
    #expect(try people.find().sorted(by: \.lastName).limit(1).first()?.firstName == "Grace")
    let (count, sum, oldest) = try people.find().aggregate(
      .count, .sum(\.salary), .max(\.age))
    #expect(count == 2 && sum == 32.5 && oldest == 36)
    let rows = try people.find().sorted(by: \.firstName).select(\.firstName, \.age, \.tags)
    #expect(rows.map(\.0) == ["Ada", "Grace"] && rows[1].1 == nil && rows[1].2 == [])
    let groups = try people.find().grouped(by: \.age, .count, .average(\.salary))
    #expect(groups.count == 2)
  }
}
