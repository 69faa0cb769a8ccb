// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@testable import NanoStoreCore

/// `String` treats the names of each pair as equal; the store distinguishes them.
@Suite("Names in different Unicode normalization forms")
struct UnicodeNormalizationTests {
  static let a = "caf\u{E9}"
  static let b = "cafe\u{301}"
  let store: Store
  init() throws { store = try anyStore() }

  @Test("Cached documents of collections and keys in different forms are distinct")
  func cache() throws {
    store.defaultCacheSize = 10
    store[Self.a].cacheSize = 3
    #expect(store[Self.b].cacheSize == 10)
    for (number, name) in [Self.a, Self.b].enumerated() {
      for (other, key) in [Self.a, Self.b].enumerated() {
        try store[name].save(["n": .int(Int64(number)), "k": .int(Int64(other))], key: key)
      }
    }
    for _ in 0..<2 {
      for (number, name) in [Self.a, Self.b].enumerated() {
        for (other, key) in [Self.a, Self.b].enumerated() {
          let document = try store[name].get(key)
          #expect(document?["n"]?.int == Int(number) && document?["k"]?.int == Int(other))
        }
      }
    }
    #expect(try store[Self.a].get(keys: [Self.a, Self.b]).count == 2)
  }

  // On a server, open transactions of other tests delay entries.
  @Test("A change feed of keys leaves out those in another form", .sqlite)
  func feedKeys() throws {
    try store["films"].setChangeTracking(.on)
    for key in [Self.a, Self.b] { try store["films"].save(["n": 1], key: key) }
    for key in [Self.a, Self.b] {
      guard case .entries(let found, _, _) = try store["films"].changes(since: nil, keys: [key])
      else {
        Issue.record("no entries")
        return
      }
      #expect(found.map { $0.key.map { Array($0.utf8) } } == [Array(key.utf8)])
    }
  }

  @Test("Pending saves of collections and keys in different forms are distinct")
  func pending() throws {
    store.saveInterval = 100
    for name in [Self.a, Self.b] {
      for key in [Self.a, Self.b] { try store[name].save(["of": .string(name + key)], key: key) }
    }
    for name in [Self.a, Self.b] {
      for key in [Self.a, Self.b] {
        #expect(try store[name].get(key)?["of"] == .string(name + key))
      }
    }
    try store.flush()
    for name in [Self.a, Self.b] { #expect(try store[name].count() == 2) }
  }

  @Test("Bags and their members in different forms are distinct")
  func bags() throws {
    for name in [Self.a, Self.b] {
      for key in [Self.a, Self.b] { try store[name].save(["n": 1], key: key) }
      let bag = Bag(name: name)
      for key in [Self.a, Self.b] { _ = try bag.add(try #require(try store[name].get(key))) }
      try store.save(bag)
    }
    for (name, other) in [(Self.a, Self.b), (Self.b, Self.a)] {
      let bag = try #require(try store.bags().first { $0.name.hasSameBytes(as: name) })
      #expect(try bag.count() == 2)
      #expect(try bag.contains(key: Self.a, in: name) && bag.contains(key: Self.b, in: name))
      #expect(try !bag.contains(key: Self.a, in: other))
    }
    #expect(try store.bags(containingKey: Self.a).count == 2)
    #expect(try store.bags(containingKey: Self.a, in: Self.b).count == 1)
    _ = try store[Self.b].drop()
    #expect(try store.bags(containingKey: Self.b).map { $0.name ?? "" }.hasSameBytes(as: [Self.a]))
  }

  @Test("A commit reports changes only for the collection in its exact form")
  func changes() throws {
    try store[Self.a].save(["n": 1], key: "k")
    let commit = Commit([Change(Self.a, [1: .inserted])])
    #expect(commit.change(in: Self.a) != nil && commit.change(in: Self.b) == nil)
    var both = commit
    both.merge(Commit([Change(Self.b, [1: .inserted])]))
    #expect(both.changes.count == 2 && Change(Self.a, nil) != Change(Self.b, nil))
  }

  @Test("Aliases and query parameters are matched byte for byte")
  func words() throws {
    let films = store["films"]
    try films.save(["n": 1], key: "k")
    try films.setAliases([Self.a: "[n]"])
    #expect(try films.find("\(Self.a) = 1").count() == 1)
    #expect(code { _ = try films.find("\(Self.b) = 1").count() } == .invalidQuery)
    try films.setAliases([Self.b: "[n]"])
    #expect(try films.find("\(Self.b) = 1").count() == 1)
    #expect(code { _ = try films.find("\(Self.a) = 1").count() } == .invalidQuery)
    #expect(try films.find("[n] = :\(Self.a)", named: [Self.a: 1]).count() == 1)
    #expect(
      code { _ = try films.find("[n] = :\(Self.a)", named: [Self.b: 1]).count() }
        == .invalidArgument)
  }

  @Test("A setup with a collection or alias in both forms is rejected")
  func setups() throws {
    for json in [
      "{\"collections\":{\"\(Self.a)\":{},\"\(Self.b)\":{}}}",
      "{\"collections\":{\"c\":{\"aliases\":{\"\(Self.a)\":\"[x]\",\"\(Self.b)\":\"[y]\"}}}}",
    ] {
      let thrown = try #require(error { _ = try StoreSetup(DocumentObject(json: json)) })
      #expect(thrown.code == .invalidArgument)
      #expect(thrown[.field]?.contains(exactly: Self.b) == true)
    }
  }

  @Test("A copy contains the collections, keys, and metadata of both forms")
  func copy() throws {
    for name in [Self.a, Self.b] {
      try store.setMetadata(.string(name), name)
      try store[name].createIndex("n", name: name)
      for key in [Self.a, Self.b] { try store[name].save(["of": .string(name + key)], key: key) }
    }
    let target = try Store(.memory)
    let report = try store.copy(to: target)
    #expect(report.collections.map(\.copied) == [2, 2])
    for name in [Self.a, Self.b] {
      #expect(try target.metadata(name) == .string(name))
      #expect(try target[name].indexes().map(\.name).hasSameBytes(as: [name]))
      #expect(try target[name].get(Self.b)?["of"] == .string(name + Self.b))
    }
    #expect(try store.compare(with: target).isEqual)
    try target.setMetadata(.string(Self.b), Self.a)
    #expect(try !store.compare(with: target).isEqual)
  }

  @Test("Types are registered by their exact names")
  func types() throws {
    struct Other: StorableObject {
      static let storedName = UnicodeNormalizationTests.a
      var storedKey: String? { nil }
      func storedFields() throws -> DocumentObject { [:] }
      init(document: Document) throws {}
    }
    let registry = TypeRegistry()
    registry.register(Other.self, Self.a, aliases: [])
    #expect(registry.type(Self.a) != nil && registry.type(Self.b) == nil)
  }

  @Test("A field whose name begins with a combining mark can be sorted and indexed")
  func combiningMarks() throws {
    let odd = store["odd"]
    try odd.insert([["\u{301}x": 1], ["\u{301}x": 2]])
    let index = try odd.createIndex("-\u{301}x")
    #expect(index.columns == [.init(FieldPath(components: ["\u{301}x"]), descending: true)])
    let found = try odd.find().sorted(by: "-\u{301}x").fetch()
    #expect(found.map { $0["\u{301}x"]?.int } == [2, 1])
  }
}
