// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

private enum AtHome {
  @Model struct Item: Equatable { var name: String }
}
private enum AtWork {
  @Model struct Item: Equatable { var name: String }
  @Model(collection: "item") struct Named { var name: String }
}
private enum Shared {
  @Model(collection: "people") struct Person: Equatable {
    var name: String
    var age: Int
  }
  @Model(collection: "people") struct Name: Equatable { var name: String }
}
private enum Objects {
  @Model final class Item { var name = "" }
}
@Model private struct Box<Content: Codable & Sendable> { var content: Content }

@Suite("Several models for one collection")
struct SharedCollectionTests {
  private let store: Store
  init() throws { store = try anyStore() }

  /// Expects the call to fail for the type that was used second.
  private func expectConflict(
    _ second: String, _ call: () throws -> Void, location: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: StoreError.self, sourceLocation: location) { try call() }
    #expect(error?.code == .invalidArgument, sourceLocation: location)
    #expect(error?[.collection]?.lowercased() == "item", sourceLocation: location)
    #expect(error?[.expected]?.hasSuffix("AtHome.Item") == true, sourceLocation: location)
    #expect(error?[.actual]?.hasSuffix(second) == true, sourceLocation: location)
    #expect(error?[.hint]?.contains("@Model(collection:") == true, sourceLocation: location)
  }

  @Test("The second type neither changes nor deletes documents of the first")
  func changes() throws {
    try store[AtHome.Item.self].save(AtHome.Item(name: "a"), key: "k")
    let work = store[AtWork.Item.self]

    expectConflict("AtWork.Item") { try work.delete("k") }
    expectConflict("AtWork.Item") { try work.update("k", .set(\.name, "b")) }

    #expect(try store[AtHome.Item.self].get("k")?.name == "a")
  }

  @Test("The second type with the same collection name is rejected, and the first one works")
  func defaultNames() throws {
    let home = store[AtHome.Item.self]
    let work = store[AtWork.Item.self]

    try home.insert(AtHome.Item(name: "a"))

    expectConflict("AtWork.Item") { try work.insert(AtWork.Item(name: "b")) }
    expectConflict("AtWork.Item") { try work.save(AtWork.Item(name: "b"), key: "b") }
    expectConflict("AtWork.Item") { try work.insert([AtWork.Item(name: "b")]) }
    expectConflict("AtWork.Item") { _ = try work.get("b") }
    expectConflict("AtWork.Item") { _ = try work.get(keys: ["b"]) }
    expectConflict("AtWork.Item") { _ = try work.count() }
    expectConflict("AtWork.Item") { _ = try work.find(\.name == "a").fetch() }
    expectConflict("AtWork.Item") { _ = try work.find().first() }
    expectConflict("AtWork.Item") { _ = try work.find().select(\.name) }
    expectConflict("AtWork.Item") { try work.find().delete() }
    expectConflict("AtWork.Item") { try work.delete("b") }
    expectConflict("AtWork.Item") { _ = try work.deleteAll() }
    expectConflict("AtWork.Item") { try work.upgrade() }
    expectConflict("AtWork.Item") { _ = try store[AtWork.Item.self].documents.find().fetch() }
    #expect(try home.find().fetch() == [AtHome.Item(name: "a")])
    #expect(try store["Item"].count() == 1)
  }

  @Test("The second type is also rejected with await and in a transaction")
  func asynchronously() async throws {
    _ = store[AtHome.Item.self]
    let work = store[AtWork.Item.self]
    let inserting = await #expect(throws: StoreError.self) {
      try await work.insert(AtWork.Item(name: "b"))
    }
    let updating = await #expect(throws: StoreError.self) {
      for try await _ in work.find().updates() { break }
    }
    let finding = await #expect(throws: StoreError.self) { try await work.find().fetch() }
    let writing = await #expect(throws: StoreError.self) {
      try await store.write { try work.insert(AtWork.Item(name: "b")) }
    }
    #expect(
      [inserting, updating, finding, writing].map { $0?[.actual] }.allSatisfy {
        $0?.hasSuffix("AtWork.Item") == true
      })
    #expect(try await store["Item"].count() == 0)
  }

  @Test("A collection named by only one of the types, in any letter case, is not shared")
  func oneName() throws {
    _ = store[AtHome.Item.self]
    expectConflict("AtWork.Named") { _ = try store[AtWork.Named.self].count() }
  }

  @Test("A struct and a class cannot share a collection")
  func objects() throws {
    _ = store[AtHome.Item.self]
    let context = ObjectContext(store)

    expectConflict("Objects.Item") { try context.insert(Objects.Item()) }
    expectConflict("Objects.Item") { _ = try context.find(Objects.Item.self).count() }
    expectConflict("Objects.Item") { _ = try context.find(Objects.Item.self).fetch() }
  }

  @Test("Two types that both name the collection share it")
  func sharedName() throws {
    try store[Shared.Person.self].insert(Shared.Person(name: "Ada", age: 36), key: "ada")

    #expect(try store[Shared.Name.self].get("ada") == Shared.Name(name: "Ada"))
  }

  @Test("All specializations of a generic model have the same collection, so only one can use it")
  func generics() throws {
    try store[Box<Int>.self].insert(Box(content: 1))

    #expect(throws: StoreError.self) { try store[Box<String>.self].insert(Box(content: "a")) }
    try store["texts"].models(Box<String>.self).insert(Box(content: "a"))
  }

  @Test("Stores are independent, and a collection accessed by name can use any type")
  func otherStores() throws {
    _ = store[AtHome.Item.self]

    #expect(try anyStore()[AtWork.Item.self].count() == 0)
    #expect(try store["Item"].models(AtWork.Item.self).count() == 0)
  }
}
