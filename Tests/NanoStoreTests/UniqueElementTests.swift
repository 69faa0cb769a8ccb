// SPDX-License-Identifier: MIT

import NanoStore
import NanoTestSupport
import Testing

@Suite("Unique indexes on elements")
struct UniqueElementTests {
  @Test("OR IGNORE and OR REPLACE by other programs cannot bypass a unique index", .sqlite)
  func conflictClauses() throws {
    let store = try anyStore()
    let people = store["people"]
    try people.save(["emails": ["a", "b"]], key: "ada")
    try people.createIndex("emails", unique: true, elements: true)

    for clause in ["OR IGNORE", "OR REPLACE"] {
      #expect(throws: StoreError.self) {
        try store.execute(
          "INSERT \(clause) INTO people(key, body) VALUES ('eve', '{\"emails\":[\"b\"]}')")
      }
    }
    #expect(try people.find(Field("emails") == "b").keys() == ["ada"])

    // Replacing the row also releases its indexed values.
    try store.execute(
      "INSERT OR REPLACE INTO people(key, body) VALUES ('ada', '{\"emails\":[\"c\"]}')")
    try people.save(["emails": ["b"]], key: "eve")
    #expect(try people.find(Field("emails") == "b").keys() == ["eve"])
    #expect(try store.verify().isEmpty)
  }

  @Test("A leaf inside an element can be the element itself")
  func leavesOfElements() throws {
    let store = try anyStore()
    try store["c"].save(["a": [1, ["b": 2]]], key: "k")
    for text in ["ELEMENT([a], LEAF([@] = 1))", "ELEMENT([a], LEAF([@] = 2))", "LEAF([@] = 2)"] {
      #expect(try store["c"].find(text).count() == 1, "\(text)")
    }
    #expect(try store["c"].find("LEAF([@] = 2 AND [__leafpath__] = 'a')").count() == 0)
  }
}
