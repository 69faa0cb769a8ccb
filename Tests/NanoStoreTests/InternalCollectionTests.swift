// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Internal collections")
struct InternalCollectionTests {
  let store: Store
  init() throws { store = try anyStore() }

  @Test("The internal collections are neither listed nor accessible")
  func internalCollections() throws {
    for name in ["nano_bags", "NANO_bag_members"] {
      #expect(code { try store[name].save(["n": 1], key: "k") } == .invalidName)
    }
    let bag = Bag(name: "team", in: store)
    try bag.add(Document(["n": 1], key: "a"), in: "people")
    try bag.save()
    for name in ["nano_bags", "NANO_bag_members"] {
      let bad = store[name]
      #expect(code { try bad.save(["n": 1], key: "k") } == .invalidName)
      #expect(code { try bad.insert(["n": 1]) } == .invalidName)
      #expect(code { try bad.insert([["n": 1]]) } == .invalidName)
      #expect(code { try bad.update(rowID: 1, set: ["n": 1]) } == .invalidName)
      #expect(code { try bad.find().update(set: ["n": 1]) } == .invalidName)
      #expect(code { try bad.save(try bad.fetch()[0]) } == .invalidName)
      #expect(code { try bad.delete(rowID: 1) } == .invalidName)
      #expect(code { try bad.deleteAll() } == .invalidName)
      #expect(code { try bad.drop() } == .invalidName)
      #expect(code { try bad.createIndex("n") } == .invalidName)
      #expect(code { try bad.dropIndex("name") } == .invalidName)
      #expect(code { try bad.dropIndexes() } == .invalidName)
      #expect(code { try bad.setIndexing(.everything) } == .invalidName)
      #expect(code { try store.createCollection(name) } == .invalidName)
      #expect(code { try Bag(in: store).add(Document(["n": 1]), in: name) } == .invalidName)

      #expect(code { _ = try bad.get("k") } == .invalidName)
      #expect(code { _ = try bad.get(rowID: 1) } == .invalidName)
      #expect(code { _ = try bad.get(keys: ["k"]) } == .invalidName)
      #expect(code { _ = try bad.count() } == .invalidName)
      #expect(code { _ = try bad.find("[name] = 'team'").fetch() } == .invalidName)
      #expect(code { _ = try bad.find().keys() } == .invalidName)
      #expect(code { _ = try bad.find().page(1) } == .invalidName)
      #expect(code { _ = try bad.find().explain() } == .invalidName)
      #expect(code { _ = try bad.find().aggregate([.count]) } == .invalidName)
      #expect(code { try bad.find().each { _ in } } == .invalidName)
      #expect(code { _ = try bad.documents(sql: "SELECT id FROM nano_bags") } == .invalidName)
      #expect(code { _ = try bad.indexes() } == .invalidName)
      #expect(code { _ = try bad.observedPaths() } == .invalidName)
      #expect(code { _ = try bad.types() } == .invalidName)
      #expect(code { _ = try Search(value: "team").keys(in: bad) } == .invalidName)
      #expect(code { try bad.apply(CollectionSetup(indexes: ["n"])) } == .invalidName)
      #expect(code { try store.read { _ = try bad.get("k") } } == .invalidName)
      #expect(code { try store.write { _ = try bad.get("k") } } == .invalidName)
      #expect(code { _ = try store.bag(named: "team").find(in: name).fetch() } == .invalidName)
    }
    let hint = error { _ = try store["nano_bags"].count() }?[.hint] ?? ""
    #expect(hint.contains("findBags"))
    #expect(error { _ = try store["nano_operations"].count() }?.code == .invalidName)
    #expect(try store.collections().map(\.name) == ["people"])
    #expect(try store.statistics().collections.map(\.name) == ["people"])
    #expect(try store.verify().isEmpty)
  }

  @Test("Streams, live queries, change feeds, imports and exports refuse the internal collections")
  func internalSequences() async throws {
    try await Bag(name: "team", in: store).save()
    let bad = store["nano_bags"]
    #expect(await asyncCode { for try await _ in bad.find().stream() {} } == .invalidName)
    #expect(await asyncCode { for try await _ in bad.find().updates() {} } == .invalidName)
    #expect(await asyncCode { for try await _ in bad.changes() {} } == .invalidName)
    #expect(await asyncCode { _ = try await bad.get("k") } == .invalidName)
    #expect(await asyncCode { _ = try await bad.enqueue { try $0.count() }.value } == .invalidName)
    var exported = 0
    #expect(
      code { _ = try bad.find().export { exported += $0.count } } == .invalidName)
    #expect(exported == 0)
    #expect(code { _ = try bad.importDocuments(from: URL(filePath: #filePath)) } == .invalidName)
  }
}
