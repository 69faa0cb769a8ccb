// SPDX-License-Identifier: MIT

import NanoStore
import NanoTestSupport
import Testing

@Suite("Nested bags")
struct BagNestingTests {
  let store: Store
  init() throws { store = try anyStore() }

  private func bag(_ name: String, _ keys: String...) throws -> Bag {
    let bag = Bag(name: name, in: store)
    for key in keys { try bag.add(Document(["n": 1], key: key), in: "people") }
    return bag
  }

  @Test("Saving a bag saves the unsaved contents of nested bags at any depth (Q16)")
  func nested() throws {
    let (outer, middle, inner) = (
      try bag("outer", "a"), try bag("middle", "b"), try bag("inner", "c")
    )
    try outer.add(middle)
    try middle.add(inner)
    #expect(try outer.bags().map(\.name) == ["middle"])
    try outer.save()
    for bag in [outer, middle, inner] { #expect(!bag.hasUnsavedChanges) }
    #expect(try store["people"].count() == 3)
    #expect(try store.bags().count == 3)
    let read = try store.bag(named: "outer")
    #expect(try read.count() == 2)
    #expect(try read.documents().compactMap(\.key) == ["a"])
    #expect(try read.members().map(\.isBag) == [false, true])
    #expect(try read.contains(middle) && !read.contains(inner))
    #expect(try read.bags().first?.bags().first?.name == "inner")

    // The added instance is the one that is saved with the outer bag.
    #expect(try outer.bags().first === middle)
    try inner.add(Document(["n": 2], key: "d"), in: "people")
    try outer.save()
    #expect(!inner.hasUnsavedChanges)
    #expect(try store.bag(named: "inner").count() == 2)
  }

  @Test("A bag can contain itself, and bags can contain each other (Q15)")
  func cycles() throws {
    let one = try bag("one", "a")
    try one.add(one)
    #expect(try one.count() == 2)
    #expect(try one.contains(one))
    #expect(try one.bags().first === one)
    try one.save()
    #expect(try one.saved.count() == 2)
    #expect(try store.bag(named: "one").bags().map(\.key) == [one.key])

    let two = try bag("two", "b")
    let three = try bag("three", "c")
    try two.add(three)
    try three.add(two)
    try three.save()
    #expect(!two.hasUnsavedChanges && !three.hasUnsavedChanges)
    #expect(try store.bag(named: "two").bags().map(\.name) == ["three"])
    #expect(try store.bag(named: "three").bags().map(\.name) == ["two"])
    let copy = try one.copy()
    try copy.save()
    #expect(try copy.bags().map(\.key) == [one.key])
    try two.inflate()
    #expect(two.loadedCount == 1)
    #expect(try two.find().count() == 1)
    try two.delete()
    #expect(try three.keys == ["c"])
  }

  @Test("An error in a nested bag leaves all bags unsaved")
  func failure() throws {
    try store["people"].createIndex("n", unique: true)
    let inner = try bag("inner", "a", "b")
    let outer = try bag("outer")
    try outer.add(inner)
    #expect(code { try outer.save() } == .uniqueViolation)
    #expect(outer.hasUnsavedChanges && inner.hasUnsavedChanges)
    #expect(try inner.unsaved.count() == 2)
    #expect(try store.bags().isEmpty)
    try inner.remove(key: "b")
    try outer.save()
    #expect(try store.bags().count == 2)
  }

  @Test("A saved bag that was deleted from the store cannot be added")
  func deletedBag() throws {
    let inner = try bag("inner", "a")
    try inner.save()
    let outer = try bag("outer")
    try outer.add(inner)
    try store.deleteBag(key: inner.key)
    #expect(code { try outer.save() } == .notFound)
    try outer.remove(inner)
    try outer.save()
  }

  @Test("A save writes no bags that are no longer in the bag")
  func formerMembers() throws {
    let outer = try bag("outer")
    let (deleted, lost, removed) = (try bag("deleted"), try bag("lost"), try bag("removed"))
    for inner in [deleted, lost, removed] { try outer.add(inner) }
    try outer.save()

    try deleted.delete()
    try store.deleteBag(key: lost.key)
    try lost.add(Document([:], key: "b"), in: "people")
    try outer.remove(removed)
    try outer.save()
    try removed.add(Document([:], key: "c"), in: "people")
    try outer.add(Document([:], key: "a"), in: "people")
    try outer.save()

    #expect(try store.bags().compactMap(\.name) == ["outer", "removed"])
    #expect(lost.hasUnsavedChanges && removed.hasUnsavedChanges)
    #expect(try outer.count() == 1)
    #expect(try store["people"].count() == 1)
  }

  @Test("A bag whose addition was rolled back and undone is not saved")
  func undoneAddition() throws {
    struct Stop: Error {}
    let (outer, inner) = (try bag("outer"), try bag("inner"))
    try outer.save()
    try outer.add(inner)
    #expect(throws: Stop.self) {
      try store.write {
        try outer.save()
        throw Stop()
      }
    }

    outer.undo()
    try outer.save()

    #expect(try store.bags().compactMap(\.name) == ["outer"])
    #expect(inner.hasUnsavedChanges)
  }

  @Test("Bags are deallocated when unreferenced, including cycles once they are saved")
  func memory() throws {
    weak var kept: Bag?
    do {
      let one = try bag("one")
      let two = try bag("two")
      try one.add(two)
      try two.add(one)
      try one.add(one)
      try one.save()
      kept = one
      #expect(kept != nil)
    }
    #expect(kept == nil)
  }
}
