// SPDX-License-Identifier: MIT

import NanoStore
import NanoTestSupport
import Testing

@Suite("Finding bags by name and key")
struct FindBagsTests {
  let store: Store
  init() throws { store = try anyStore() }

  /// Saves bags with these names, in order.
  @discardableResult
  private func save(_ names: String?...) throws -> [Bag] {
    let bags = names.map { Bag(name: $0, in: store) }
    for bag in bags {
      try bag.add(Document(["n": 1]), in: "people")
      try bag.save()
    }
    return bags
  }

  private func names(_ query: DocumentQuery) throws -> [String?] {
    try query.fetch().map { $0["name"]?.string }
  }

  @Test("Without bags, a query finds nothing and creates nothing")
  func empty() throws {
    #expect(try store.findBags().fetch().isEmpty)
    #expect(try store.findBags(Field("name") == "a").count() == 0)
    #expect(try store.findBags().sorted(by: "name").page(1).documents.isEmpty)
    #expect(try !store.findBags().exists())
    #expect(try store.engine().read(.call, nil) { try $0.collections() }.isEmpty)
  }

  @Test("Conditions on names and keys, orders, limits and offsets apply to saved bags")
  func conditions() throws {
    let bags = try save("trip 10", "trip 9", nil, "home", "Trip 1")
    let unsaved = Bag(name: "trip 11", in: store)
    try unsaved.add(bags[0])
    #expect(try names(store.findBags()) == ["trip 10", "trip 9", nil, "home", "Trip 1"])
    #expect(
      try names(store.findBags().sorted(by: "name")) == [
        nil, "Trip 1", "home", "trip 10", "trip 9",
      ])
    let trips = store.findBags(Field("name").hasPrefix("trip"))
    #expect(try trips.count() == 2)
    #expect(try names(trips.sorted(by: "-name")) == ["trip 9", "trip 10"])
    #expect(
      try names(store.findBags(Field("name").matches(.insensitiveBeginsWith, "TRIP"))).count == 3)
    #expect(
      try names(store.findBags(Field("name") >= "h").sorted(by: "name").limit(2, offset: 1))
        == ["trip 10", "trip 9"])
    #expect(try names(store.findBags(.isNull(.field("name")))) == [nil])
    #expect(try store.findBags(.key(in: [bags[1].key, bags[3].key, "x"])).keys().count == 2)
    let byKey = store.findBags().sorted(by: [Ordering(.attribute(.key), descending: true)])
    #expect(try byKey.keys() == bags.map(\.key).sorted().reversed())
    #expect(try store.findBags(.key(.equalTo, bags[3].key)).first()?.key == bags[3].key)
  }

  @Test("The keys of a query give the bags, in its order")
  func bags() async throws {
    try save("b", "c", "a")
    let query = store.findBags(Field("name") != "c").sorted(by: "name")
    let found = try await store.bags(keys: query.keys())
    #expect(found.map(\.name) == ["a", "b"])
    #expect(try await found[0].count() == 1)
    found[0].name = "z"
    #expect(try await query.fetch().map { $0["name"] } == ["a", "b"])
    try await found[0].save()
    #expect(try await query.fetch().map { $0["name"] } == ["b", "z"])
    try await store.deleteBag(found[0])
    #expect(try await query.keys() == [found[1].key])
  }

  @Test("Streams and pages return every bag once")
  func pages() async throws {
    for number in 0..<300 { try await Bag(name: "bag \(number % 100)", in: store).save() }
    let query = store.findBags().sorted(by: "name")
    let keys = try await query.keys()
    #expect(Set(keys).count == 300)
    var streamed: [String] = []
    for try await bag in query.stream() { streamed.append(try #require(bag.key)) }
    #expect(streamed == keys)
    var paged: [String] = []
    var page = try await query.page(70)
    while true {
      paged += page.documents.compactMap(\.key)
      guard let next = page.next else { break }
      page = try await query.after(next).page(70)
    }
    #expect(paged == keys)
  }

  @Test("A live query follows saved bags")
  func updates() async throws {
    try save("a")
    var updates = store.findBags(Field("name") < "n").sorted(by: "name").updates()
      .makeAsyncIterator()
    #expect(try await updates.next()?.map { $0["name"] } == ["a"])
    try await Bag(name: "b", in: store).save()
    #expect(try await updates.next()?.map { $0["name"] } == ["a", "b"])
    let first = try #require(try await store.bags(named: "a").first)
    first.name = "z"
    try await first.save()
    #expect(try await updates.next()?.map { $0["name"] } == ["b"])
  }

  @Test("A document cache and a buffer of saves do not change the results")
  func cache() throws {
    store.defaultCacheSize = 10
    store.saveInterval = 100
    let bag = try #require(try save("a").first)
    let query = store.findBags(Field("name") < "c")
    let cached = try #require(try query.first())
    // The PostgreSQL engine does not report the committed state that the cache depends on.
    #expect(store.isCurrent(cached) == !TestEngine.isServer)
    bag.name = "b"
    try bag.save()
    #expect(!store.isCurrent(cached))
    #expect(try names(query) == ["b"])
    try bag.delete()
    #expect(try names(query) == [])
  }

  @Test("A condition and an order on names use the index, and name is a known field")
  func index() throws {
    try save("a", "b")
    for query in [
      store.findBags(Field("name") == "a"), store.findBags(Field("name").hasPrefix("a")),
      store.findBags(Field("name") > "a").sorted(by: "name").limit(3),
      store.findBags().sorted(by: "name").limit(3),
    ] {
      let explanation = try query.explain()
      #expect(explanation.indexes == ["name"])
      #expect(explanation.unknownFields.isEmpty)
    }
  }

  @Test("A query of bags cannot change them")
  func readOnly() throws {
    let bag = try #require(try save("a").first)
    let query = store.findBags()
    let document = try #require(try query.first())
    #expect(code { try query.delete() } == .invalidName)
    #expect(code { try query.update(set: ["name": "b"]) } == .invalidName)
    #expect(code { try query.collection.delete(bag.key) } == .invalidName)
    #expect(code { try query.collection.save(document) } == .invalidName)
    #expect(code { try query.collection.insert(["name": "b"]) } == .invalidName)
    #expect(code { try query.collection.drop() } == .invalidName)
    #expect(try store.bags().map(\.name) == ["a"])
  }
}
