// SPDX-License-Identifier: MIT

import NanoStore
import NanoTestSupport
import Testing

@Suite("Searching in bags")
struct BagSearchTests {
  let store: Store
  init() throws { store = try anyStore() }

  @Test("A search finds only saved members, in all collections, with or without criteria (Q18)")
  func restriction() throws {
    for (key, value) in [("o1", "x"), ("o2", "x"), ("o3", "y")] {
      try store["objects"].save(["n": .string(value)], key: key)
    }
    let bag = try store.bag(named: "b")
    try bag.add(try #require(try store["objects"].get("o1")))
    try bag.add(Document(["n": "x"], key: "c1"), in: "cars")
    #expect(try bag.find().count() == 0)
    try bag.save()
    try bag.add(try #require(try store["objects"].get("o2")))
    try bag.remove(key: "c1")

    #expect(try bag.find().keys() == ["o1", "c1"])
    #expect(try bag.find(Field("n") == "x").keys() == ["o1", "c1"])
    #expect(try bag.find(Field("n") == "x", in: "CARS").keys() == ["c1"])
    #expect(try bag.find("[n] = ?", "y").count() == 0)
    #expect(try bag.find(Condition.key(.equalTo, "o1")).exists())
    #expect(try !bag.find(Condition.key(.equalTo, "o2")).exists())
    #expect(try Search(match: .equalTo, value: "x").keys(in: bag) == ["o1", "c1"])
    #expect(try Search().count(in: bag) == 2)
    #expect(try Search(groupsValues: true).documents(in: bag).compactMap(\.key) == ["o1"])
    #expect(code { _ = try bag.find().limit(-1).fetch() } == .invalidArgument)
    #expect(try Bag().find().fetch().isEmpty)
  }

  @Test(
    "Results are sorted across collections before the limit applies, and ties keep the bag's order")
  func sorting() throws {
    let bag = try store.bag(named: "b")
    let years: [(String, String, DocumentValue)] = [
      ("a", "films", 2001), ("b", "books", 1999), ("c", "films", 2001), ("d", "books", "soon"),
      ("e", "films", .null),
    ]
    for (key, collection, year) in years {
      try bag.add(Document(["year": year, "key": .string(key)], key: key), in: collection)
    }
    try bag.save()
    #expect(try bag.find().sorted(by: "year").keys() == ["e", "b", "a", "c", "d"])
    #expect(try bag.find().sorted(by: "-year", "-key").keys() == ["d", "c", "a", "b", "e"])
    #expect(try bag.find().sorted(by: "year").limit(2, offset: 1).keys() == ["b", "a"])
    #expect(try bag.find().limit(2, offset: 3).keys() == ["d", "e"])
    #expect(try bag.find(Field("year") > 2000).limit(1).keys() == ["a"])
    #expect(try bag.find().sorted(by: "year").first()?.key == "e")
    let selected = try #require(try bag.find().select("year").first())
    #expect(selected.isPartial)
    #expect(try selected.object() == ["year": 2001])
    #expect(
      try bag.find().aggregate([.count, .average("year"), .max("key")])
        == [5, .double(6001.0 / 3), "e"])
  }

  @Test("Aggregates use the defaults of each collection, and fields that are not selected")
  func aggregatedDefaults() throws {
    let bag = try store.bag(named: "b")
    try bag.add(Document(["n": 1], key: "a"), in: "films")
    try bag.add(Document(["year": "1999"], key: "b"), in: "books")
    try bag.save()
    try store["films"].setDefaults(["year": 2001])

    let query = bag.find().select("n")
    #expect(try query.aggregate([.countOf("year"), .min("year"), .max("n")]) == [2, 2001, 1])
    let search = Search(fields: ["n"])
    #expect(try search.aggregate([.sum("year"), .countOf("n")], in: bag) == [4000, 1])
  }

  @Test("The largest limit can have an offset")
  func largestLimit() throws {
    let bag = try store.bag(named: "b")
    for key in ["a", "b"] { try bag.add(Document(["n": 1], key: key), in: "people") }
    try bag.save()

    #expect(try bag.find().limit(.max, offset: 1).keys() == ["b"])
    #expect(try bag.find(Field("n") == 1).sorted(by: "n").limit(.max, offset: 1).keys() == ["b"])
  }

  @Test(
    "Every search strategy returns the results of the reference evaluator",
    arguments: [10, 900, 3000])
  func strategies(size: Int) async throws {
    // 900 members are a small part of the collection; 3,000 are a large one.
    let all = store["all"]
    for start in stride(from: 0, to: 6000, by: 2000) {
      try await all.save(
        (start..<start + 2000).map { n in
          try Document(
            ["n": .int(Int64(n)), "group": .int(Int64(n % 7)), "text": .string("t\(n % 13)")],
            key: "k\(n)")
        })
    }
    try await all.createIndex("n")
    let bag = Bag(in: store)
    let chosen = (0..<size).map { $0 * (6000 / size) }.reversed()
    for n in chosen { try bag.add(try #require(try await all.get("k\(n)"))) }
    try bag.add(Document(["n": 5, "group": 3], key: "k5"), in: "others")
    try await bag.save()

    let members = try await bag.documents()
    let conditions: [Condition] = [
      Field("n") < 50, Field("n") >= 100, Field("n") == 3000, Field("group") == 3,
      Field("text") == "t4", !(Field("group") == 3), Field("n") == 5 || Field("n") == 12,
      .constant(false),
    ]
    for condition in conditions {
      let expected = try members.filter {
        try Evaluator(DocumentSubject($0.object())).holds(condition)
      }
      #expect(try await bag.find(condition).keys() == expected.compactMap(\.key))
      #expect(try await bag.find(condition).count() == expected.count)
      let sorted = expected.sorted { ($0["n"]?.int ?? 0) < ($1["n"]?.int ?? 0) }
      let page = try await bag.find(condition).sorted(by: "n").limit(7, offset: 2).fetch()
      #expect(page.map { $0["n"] } == sorted.dropFirst(2).prefix(7).map { $0["n"] })
    }
  }
}
