// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@Suite("Code in docs/COMING-FROM-NANOSTORE.md")
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

    let bag = try await store.bag(named: "favorites")
    try bag.add(ada)
    try await bag.save()
    let inBag = try await Search(value: "Paris").count(in: bag)
    bag.name = "best"
    bag.undo()
    #expect(inBag == 1)
    #expect(bag.name == "favorites")

    try await store.execute("CREATE TABLE tariff (name TEXT, price REAL)")
    try await store.execute("INSERT INTO tariff VALUES ('a', 5), ('b', 12.5)")
    let rows = try await store.sql("SELECT name, price FROM tariff WHERE price > ?", 10)
    let price = rows.first?["price"]
    let cheap = try await objects.documents(sql: "SELECT id FROM objects WHERE body ->> 'n' < ?", 3)
    #expect(price == 12.5)
    #expect(cheap.map(\.key) == ["b"])
  }

  @Test("The guide contains the code that runs above") func guideMatches() throws {
    try expectCode(ofGuide: "COMING-FROM-NANOSTORE.md")
  }
}
