// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Code in docs/COMING-FROM-NANOSTORE.md", .sqlite)
struct ComingFromNanoStoreTests {
  @Test("The guide's code runs as one program") func code() async throws {
    let store = try Store(.memory)
    let objects = store["objects"]
    try await store.write {
      try objects.save(["n": 1], key: "a")
      try objects.save(["n": 2], key: "b")
    }
    try await objects.delete(keys: ["a"])
    store.saveInterval = 100
    try await objects.save(["n": 3], key: "c")
    try await store.flush()
    #expect(try await objects.find().keys() == ["b", "c"])

    struct Car: StorableObject, Codable {
      var key: String
      var name: String
      var storedKey: String? { key }
    }
    store.register(Car.self)
    try await objects.save(Car(key: "c1", name: "Mercedes"))
    let car = try await objects.object("c1") as? Car
    var ada = try await objects.save(["name": "Ada", "address": ["city": "London"]], key: "ada")
    ada["address.city"] = "Paris"
    try await objects.save(ada)
    #expect(car?.name == "Mercedes")

    var search = Search(attribute: "city", match: .equalTo, value: "Paris")
    let found = try await search.documents(in: objects)
    search.reset()
    search.expressions = [
      SearchExpression(.attribute(.equalTo, "name")).and(.value(.beginsWith, "A"))
    ]
    search.orderings = [try SearchOrdering("name")]
    let keys = try await search.keys(in: objects)
    let average = try await Search().aggregate([.average("n")], in: objects)
    #expect(found.map(\.key) == ["ada"])
    #expect(keys == ["ada"])
    #expect(average == [2.5])

    try await objects.save(["flag": true], key: "f")
    search = Search(attribute: "flag", match: .equalTo, value: true)
    let flagged = try await search.keys(in: objects)  // ["f"]
    search.value = "1"
    let asText = try await search.keys(in: objects)  // []
    #expect(flagged == ["f"])
    #expect(asText.isEmpty)
    for value: DocumentValue in [1, "true", "YES"] {
      search.value = value
      #expect(try await search.keys(in: objects).isEmpty)
    }

    let bag = try await store.bag(named: "favorites")
    try bag.add(ada)
    try await bag.save()
    let inBag = try await Search(value: "Paris").count(in: bag)
    bag.name = "best"
    bag.undo()
    let byName = store.findBags(Field("name").hasPrefix("fav")).sorted(by: "name").limit(10)
    let bags = try await store.bags(keys: byName.keys())
    #expect(inBag == 1)
    #expect(bag.name == "favorites")
    #expect(bags.map(\.key) == [bag.key])

    var classes = try await objects.types()
    if try await objects.find(.isNull(.attribute(.type))).exists() {
      classes.append("NSFNanoObject")
    }
    if try await store.findBags().exists() { classes.append("NSFNanoBag") }
    #expect(classes == ["Car", "NSFNanoObject", "NSFNanoBag"])

    try await store.execute("CREATE TABLE tariff (name TEXT, price REAL)")
    try await store.execute("INSERT INTO tariff VALUES ('a', 5), ('b', 12.5)")
    let rows = try await store.sql("SELECT name, price FROM tariff WHERE price > ?", 10)
    let price = rows.first?["price"]
    let cheap = try await objects.documents(sql: "SELECT id FROM objects WHERE body ->> 'n' < ?", 3)
    #expect(price == 12.5)
    #expect(cheap.map(\.key) == ["b"])
  }

  @Test("Classes of plain objects and bags are listed only if there are any")
  func classes() async throws {
    let store = try Store(.memory)
    let objects = store["objects"]
    func classes() async throws -> [String] {
      var classes = try await objects.types()
      if try await objects.find(.isNull(.attribute(.type))).exists() {
        classes.append("NSFNanoObject")
      }
      if try await store.findBags().exists() { classes.append("NSFNanoBag") }
      return classes
    }
    #expect(try await classes() == [])
    try await store.save(Bag(name: "empty"))
    #expect(try await classes() == ["NSFNanoBag"])
    try await objects.save(Document([:], key: "c", type: "Car"))
    #expect(try await classes() == ["Car", "NSFNanoBag"])
    try await objects.save(["n": 1], key: "a")
    #expect(try await classes() == ["Car", "NSFNanoObject", "NSFNanoBag"])
  }

  @Test("The guide contains the code that runs above") func guideMatches() throws {
    try expectCode(ofGuide: "COMING-FROM-NANOSTORE.md")
  }
}
