// SPDX-License-Identifier: MIT

import NanoStore
import NanoTestSupport
import Testing

@Suite("Undoing changes of bags")
struct BagUndoTests {
  let store: Store
  let people: DocumentCollection
  init() throws {
    store = try anyStore()
    people = store["people"]
  }

  /// Returns a saved bag with the saved people a, b, and c.
  private func team() throws -> Bag {
    let bag = Bag(name: "team", in: store)
    for key in ["a", "b", "c"] { try bag.add(Document([:], key: key), in: "people") }
    try bag.save()
    return bag
  }

  @Test("undo() restores the stored members and the name (Q12)")
  func undo() throws {
    let bag = try team()
    bag.name = "crew"
    try bag.add(Document([:], key: "d"), in: "people")
    try bag.remove(key: "a")
    bag.undo()
    #expect(bag.name == "team")
    #expect(!bag.hasUnsavedChanges)
    #expect(try bag.keys == ["a", "b", "c"])

    bag.name = "crew"
    try bag.save()
    bag.undo()
    #expect(bag.name == "crew")
    bag.name = nil
    #expect(bag.hasUnsavedChanges)
    bag.undo()
    #expect(bag.name == "crew")
    bag.name = nil
    try bag.save()
    #expect(try store.bag(key: bag.key)?.name == nil)
    #expect(try store.bags(named: "crew").isEmpty)

    let new = Bag(name: "new", in: store)
    new.name = "other"
    try new.add(Document([:]), in: "people")
    try new.removeAll()
    new.undo()
    #expect(new.name == "new")
    #expect(try new.saved.count() + new.unsaved.count() + new.removed.count() == 0)
    #expect(!new.hasUnsavedChanges)
  }

  @Test("A new bag whose changes are undone is written only after it is changed again")
  func undoneNewBag() throws {
    let new = Bag(in: store)
    try new.add(Document([:], key: "x"), in: "people")
    new.undo()
    #expect(try new.count() == 0)
    #expect(!new.hasUnsavedChanges)
    #expect(try new.jsonDescription().contains(#""hasUnsavedChanges":false"#))
    try new.save()
    #expect(try store.bags().isEmpty && people.count() == 0)

    new.name = "named"
    #expect(new.hasUnsavedChanges)
    new.undo()
    #expect(!new.hasUnsavedChanges)
    try new.add(Document([:], key: "x"), in: "people")
    #expect(new.hasUnsavedChanges)
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try store.write {
        try new.save()
        throw Stop()
      }
    }
    #expect(new.hasUnsavedChanges)
    try new.save()
    #expect(!new.hasUnsavedChanges)
    #expect(try store.bag(key: new.key)?.keys == ["x"])

    try new.delete()
    #expect(new.hasUnsavedChanges)
    new.undo()
    #expect(!new.hasUnsavedChanges)
    #expect(try new.count() == 0)
  }

  @Test("A new bag whose changes are undone is written with a bag that contains it")
  func undoneInnerBag() throws {
    let (outer, inner) = (Bag(name: "outer", in: store), Bag(name: "inner", in: store))
    inner.undo()
    try outer.add(inner)
    try outer.save()
    #expect(!inner.hasUnsavedChanges)
    #expect(try store.bag(named: "outer").bags().map(\.name) == ["inner"])
    #expect(try store.bag(key: inner.key) != nil)
  }

  @Test(
    "Undoing the changes of an unsaved copy leaves it unsaved, with the members of the original")
  func undoneCopy() throws {
    let copy = try team().copy()
    try copy.remove(key: "a")
    copy.undo()
    #expect(copy.hasUnsavedChanges)
    try copy.save()
    #expect(try store.bag(key: copy.key)?.keys == ["a", "b", "c"])
  }
}
