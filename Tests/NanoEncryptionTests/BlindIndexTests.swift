// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoStoreEncryption
import NanoTestSupport
import Testing

@Suite("Blind indexes")
struct BlindIndexTests {
  let file: SealedFile
  init() throws { file = try SealedFile() }

  @Test("Without permission for blind indexes, every index is rejected")
  func rejectedByDefault() throws {
    let store = try file.open()
    let people = store["people"]
    try people.insert(["name": "Ada"])
    let refused = error { try people.createIndex("name") }
    #expect(refused?.code == .unsupported)
    #expect(refused?[.hint]?.contains("blind") == true)
    #expect(code { try people.createFullTextIndex("name") } == .unsupported)
    #expect(code { try people.setIndexing(.everything) } == .unsupported)
    #expect(try people.indexes().isEmpty)
  }

  @Test("Only the permitted fields can have blind indexes")
  func permittedFields() throws {
    let store = try file.open(.test(indexes: .blind(["People": ["name", "tags"]])))
    let people = store["people"]
    try people.insert(["name": "Ada", "tags": ["x", "y"], "age": 36])
    try people.createIndex("name")
    try people.createIndex("tags")
    #expect(code { try people.createIndex("age") } == .unsupported)
    #expect(code { try people.createIndex("name", "age") } == .unsupported)
    #expect(code { try store["films"].createIndex("name") } == .unsupported)
    #expect(try people.indexes().map(\.name) == ["name", "tags_elements"])
  }

  @Test(
    "Blind indexes find equal values, including numbers and elements, and other conditions are checked afterward"
  )
  func equalValues() throws {
    let store = try file.open(.test(indexes: .blind))
    let people = store["people"]
    for number in 0..<100 as Range<Int64> {
      try people.insert([
        "name": .string("n\(number % 10)"), "n": .int(number), "tags": [.int(number % 7), "all"],
      ])
    }
    try people.createIndex("name")
    try people.createIndex("n")
    try people.createIndex("tags")
    try people.insert(["name": ["n1", "other"], "n": 7.0, "tags": 3])

    func indexes(_ condition: Condition) throws -> [String] {
      try people.find(condition).explain().indexes
    }
    #expect(try indexes(Field("n") == 7) == ["n"])
    #expect(try people.find(Field("n") == 7).count() == 2)
    #expect(try indexes(Field("tags") == 3) == ["tags_elements"])
    #expect(try people.find(Field("tags") == 3 && Field("n") > 50).count() == 7)
    #expect(try people.find(Field("name") == "n1").count() == 11)
    #expect(try people.find(Field("n").isIn([1, 2, 7])).count() == 4)
    #expect(try people.find(Field("n") == 1 || Field("tags") == 3).count() == 16)
    #expect(try indexes(Field("n") > 7).isEmpty)
    #expect(try indexes(.not(Field("n") == 7)).isEmpty)
    // Indexes do not contain defaults.
    try people.setDefaults(["nick": "nobody", "n": 7])
    #expect(try people.find(Field("n") == 7).count() == 2)
    try people.insert([:])
    #expect(try people.find(Field("n") == 7).count() == 3)
  }

  @Test("The same value hashes differently in each field, collection and store")
  func hashes() throws {
    var seen: Set<String> = []
    for path in ["a.db", "b.db"] {
      let store = try Store(
        .file(file.scratch.file(path)), encryption: .test(indexes: .blind))
      for name in ["c", "d"] {
        try store[name].createIndex("a")
        try store[name].createIndex("b")
        for _ in 0..<2 { try store[name].insert(["a": "same", "b": "same"]) }
      }
      try store.close()
    }
    for collection in ["c", "d"] {
      let bodies = try (1...2).map { try file.body($0, in: collection) }
      let hashes = bodies.map { body in
        body.components(separatedBy: "\"").filter { $0.count == 24 && $0.hasSuffix("==") }
      }
      #expect(hashes[0].count == 2 && hashes[0] == hashes[1])
      seen.formUnion(hashes[0])
    }
    #expect(seen.count == 4)
  }

  @Test("A dropped index leaves no hashes in documents written afterward")
  func dropped() throws {
    let store = try file.open(.test(indexes: .blind))
    let people = store["people"]
    try people.createIndex("name")
    try people.save(["name": "Ada"], key: "ada")
    #expect(try people.dropIndex("name"))
    try people.save(["name": "Ada"], key: "ada")
    #expect(try people.find(Field("name") == "Ada").count() == 1)
    try people.createIndex("name")
    #expect(try people.find(Field("name") == "Ada").explain().indexes == ["name"])
    #expect(try people.find(Field("name") == "Ada").count() == 1)
    #expect(try people.dropIndex("name"))
    try people.save(["name": "Ada"], key: "ada")
    try store.close()
    #expect(try !file.body(1).contains("nano_f"))
  }

  @Test("A unique blind index rejects equal values, in any write order and after a key rotation")
  func unique() throws {
    let store = try file.open(.test(indexes: .blind))
    let people = store["people"]
    try people.createIndex("mail", unique: true)
    try people.save(["mail": "ada@b"], key: "ada")
    let refused = error { try people.save(["mail": "ada@b"], key: "eve") }
    #expect(refused?.code == .uniqueViolation)
    #expect(refused?[.index] == "mail_unique" && refused?[.key] == "ada")
    try people.save(["mail": "ada@b", "n": 1], key: "ada")
    try store.rotateKeys()
    #expect(code { try people.save(["mail": "ada@b"], key: "eve") } == .uniqueViolation)
    try people.save(["mail": "eve@b"], key: "eve")
    #expect(try people.count() == 2)
  }

  @Test("Bags use blind indexes and contain each document once")
  func bags() throws {
    let store = try file.open()
    for number in 0..<30 { try store["people"].save(["n": .int(Int64(number))], key: "k\(number)") }
    let documents = try store["people"].fetch()
    let bag = try store.bag(named: "all")
    for document in documents { try bag.add(document) }
    try bag.save()
    #expect(try bag.contains(documents[3]))
    #expect(try store.bags(containing: documents[3]).map(\.name) == ["all"])
    try bag.remove(documents[3])
    try bag.save()
    #expect(try bag.count() == 29)
    #expect(try bag.documents().map(\.key) == documents.filter { $0.key != "k3" }.map(\.key))
    #expect(try store.verify() == [])
  }
}
