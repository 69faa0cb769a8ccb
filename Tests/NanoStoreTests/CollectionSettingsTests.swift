// SPDX-License-Identifier: MIT

import NanoStore
import NanoTestSupport
import NanoTesting
import Testing

@Suite("Collection settings")
struct CollectionSettingsTests {
  private let store: Store
  private var people: DocumentCollection { store["people"] }
  init() throws { store = try anyStore() }

  @Test("Defaults apply to conditions, orderings, aggregates, and pages, but not to documents")
  func defaults() throws {
    for document in [["n": 1], ["n": 2, "o": ["k": 5]], ["n": 3, "o": ["k": nil]]]
      as [DocumentObject]
    {
      try people.insert(document)
    }

    try people.setDefaults(["o": ["k": 9], "unused": true])
    try people.insert(["n": 4])

    func numbers(_ text: String) throws -> [Int64?] {
      try people.find(text).fetch().map { $0["n"]?.int64 }
    }
    #expect(try numbers("[o.k] = 9") == [1, 4])
    #expect(try numbers("NOT [o.k] = 9") == [2, 3])
    #expect(try numbers("[o.k] IS NULL") == [3])
    #expect(try numbers("[o.k] + [n] = 10") == [1])
    #expect(try numbers("EXISTS([unused])") == [1, 2, 3, 4])
    #expect(try numbers("ORDER BY [o.k], [n] DESC") == [3, 2, 4, 1])
    #expect(try people.find().max("o.k") == 9)
    #expect(try people.find().sum("o.k") == 23)
    #expect(try people.find().distinct("o.k") == [nil, 5, 9])
    #expect(
      try people.find().grouped(by: "o.k", aggregates: [.count]).map(\.values) == [[1], [1], [2]])
    let first = try people.find().sorted(by: "-o.k").page(1)
    let second = try people.find().sorted(by: "-o.k").after(first.next).page(9)
    #expect((first.documents + second.documents).map { $0["n"] } == [1, 4, 2, 3])
    #expect(try people.get(rowID: 1)?.object() == ["n": 1])
    #expect(try people.find("[o.k] = 9").delete() == 2)
  }

  @Test("An index is used for equality with a default and returns the same results", .sqlite)
  func indexed() throws {
    try people.insert((0..<200).map { ["n": .int($0), "active": .bool($0 % 40 == 0)] })
    try people.insert([["n": 1000], ["n": 1001, "active": nil]])
    try people.createIndex("active")
    try people.setDefaults(["active": false])
    let active = people.find(Field("active") == true)
    #expect(try active.count() == 5)
    #expect(try active.explain().indexes == ["active"])
    let missing = people.find(Field("active") == false)
    #expect(try missing.count() == 196)
    #expect(try missing.explain().indexes == ["active"])
    #expect(try people.find(!(Field("active") == false)).count() == 6)
    try people.setDefaults([:])
    #expect(try missing.count() == 195)
  }

  @Test("A bag search applies the defaults of its members' collections")
  func bags() throws {
    let document = try people.insert(["n": 1])
    let other = try store["other"].insert(["n": 1])
    try people.setDefaults(["active": true])
    let bag = try store.bag(named: "both")
    try bag.add(document)
    try bag.add(other)
    try bag.save()
    let found = try bag.find(Field("active") == true).fetch()
    #expect(found.map(\.key) == [document.key])
  }

  @Test("Aliases are replaced in conditions, orderings, and index keys")
  func aliases() throws {
    try people.setAliases([
      "last": "[user.last_name]", "order": "[user.number]", "isOld": "[age] > 60",
    ])
    try people.insert([
      ["user": ["last_name": "B", "number": 2], "age": 70],
      ["user": ["last_name": "A", "number": 1], "age": 70],
      ["user": ["last_name": "B", "number": 3], "age": 7],
    ])
    func numbers(_ query: DocumentQuery) throws -> [Int64?] {
      try query.fetch().map { $0["user.number"]?.int64 }
    }
    #expect(try numbers(people.find("last = ? AND isOld", "B")) == [2])
    #expect(try numbers(people.find("order > 1 ORDER BY order DESC")) == [3, 2])
    #expect(try numbers(people.find().sorted(byText: "last, order DESC")) == [1, 3, 2])
    #expect(try numbers(people.find("'last' = 'last' AND [age] < 10")) == [3])
    let index = try people.createIndex(keys: "last DESC, order")
    #expect(index.keys == "[user.last_name] DESC, [user.number]")
    #expect(try people.replacingAliases(in: "last and 'last'") == "[user.last_name] and 'last'")
  }

  @Test("Invalid text without an alias is reported as it was written")
  func invalidText() throws {
    try people.setAliases(["last": "[a] ="])
    #expect(error { _ = try people.find("name = 1") }?[.text] == "name")
    #expect(code { _ = try people.find("last") } == .invalidQuery)
    #expect(code { _ = try people.find().sorted(byText: "?") } == .invalidQuery)
    #expect(code { try people.createIndex(keys: "") } == .invalidQuery)
    #expect(code { try people.createIndex(keys: "[a], 1") } == .invalidQuery)
    try store.close()
    #expect(code { _ = try people.find("last = 1") } == .closed)
    #expect(code { _ = try people.find("[last] = 1") } == nil)
  }

  @Test("An index on the same fields is the same index, whatever its spelling and name")
  func sameIndex() throws {
    try people.createIndex("a", "-b", name: "mine")
    #expect(try people.createIndex(keys: "[a],[b]  desc").name == "mine")
    try people.createIndex(keys: "[a], [b] DESC", unique: true)
    try people.createIndex(keys: "[a] ASC , [b] DESC", unique: true)
    #expect(try people.indexes().map(\.isUnique) == [true, false])
    try people.insert([["a": 1], ["a": 1, "b": 2]])
    #expect(code { try people.createIndex(keys: "[a]", unique: true) } == .uniqueViolation)
    #expect(try people.count() == 2)
  }

  @Test("Queryable fields are stored in order and without duplicates")
  func queryableFields() async throws {
    try await people.addQueryableFields("[a], [b.c]")
    try await people.addQueryableFields("[b.c], [\"x.y\"]")
    #expect(try await people.queryableFields() == ["a", "b.c", FieldPath(components: ["x.y"])])
    #expect(try await people.indexes().isEmpty)
  }

  @Test("Settings are persistent and immediately visible to other processes")
  func persistence() async throws {
    let folder = try Scratch()
    let store = try Store.file(folder.file("a"))
    try await store["c"].insert(["n": 1])
    try await store["c"].setDefaults(["v": 1])
    try await store["c"].setAliases(["u": "[uid]"])
    let other = try HelperProcess()
    try other.send("open", folder.file("a"))
    #expect(try other.send("count", "c", "[v] = 1 AND u IS NULL") == "ok 1")
    try other.send("defaults", "C", #"{"v":2,"uid":7}"#)
    #expect(try await store["c"].find("[v] = 2 AND u = 7").count() == 1)
    #expect(try await store["c"].defaults() == ["v": 2, "uid": 7])
    try store.close()
    try store.reopen()
    #expect(try await store["c"].find("[v] = 2 AND u = 7").count() == 1)
    #expect(try await store["c"].aliases() == ["u": "[uid]"])
    try await store["c"].drop()
    #expect(try await store["c"].defaults() == [:])
  }

  @Test("The store's internal entries do not appear among the program's metadata")
  func metadata() throws {
    try people.setDefaults(["v": 1])
    try people.setAliases(["u": "[uid]"])
    try people.createIndex("n")
    let bag = try store.bag(named: "b")
    try bag.add(people.insert(["n": 1]))
    try bag.save()
    try store.setMetadata(1, "people/defaults")
    let names = try store.engine().read(.call, nil) { try $0.metadataNames() }
    #expect(names == ["people/defaults"])
    #expect(try people.defaults() == ["v": 1])
    try store.setMetadata(nil, "people/defaults")
    #expect(try store.metadata("people/defaults") == nil)
  }

  @Test("A setting that cannot be written leaves the previous one unchanged")
  func failure() throws {
    let failing = FailingEngine(ReferenceEngine())
    let store = try Store(opening: { failing })
    try store["c"].setDefaults(["v": 1])
    failing.fail(at: 3, StoreError(.full, "No space is left for the database"))
    #expect(code { try store["c"].setDefaults(["v": 2]) } == .full)
    failing.succeed()
    #expect(try store["c"].defaults() == ["v": 1])
    #expect(code { try store["nano_bags"].setDefaults(["v": 1]) } == .invalidName)
  }
}
