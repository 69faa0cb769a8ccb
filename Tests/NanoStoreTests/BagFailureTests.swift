// SPDX-License-Identifier: MIT

import NanoStore
import NanoTesting
import Testing

@Suite("Bags on a failing engine")
struct BagFailureTests {
  private static let full = StoreError(.full, "No space is left for the database")

  @Test("Whichever engine call of a save fails, the bag and the store are unchanged")
  func savingFails() throws {
    var failed = 0
    for call in 1... {
      // The reference engine has neither SQL nor indexes; bags need neither.
      let engine = FailingEngine(ReferenceEngine())
      let store = try Store(opening: { engine })
      let outer = Bag(name: "outer", in: store)
      try outer.add(Document(["n": 1], key: "a"), in: "people")
      try outer.save()
      try store["people"].save(["n": 3], key: "c")
      let inner = Bag(name: "inner")
      try inner.add(Document(["n": 2], key: "b"), in: "people")
      try outer.add(inner)
      try outer.add(try #require(try store["people"].get("c")))
      try outer.remove(key: "a")
      outer.name = "renamed"

      engine.fail(at: call, Self.full)
      let outcome = code { try outer.save() }
      let calls = engine.calls
      engine.succeed()
      if calls < call {
        #expect(outcome == nil)
        #expect(!outer.hasUnsavedChanges && !inner.hasUnsavedChanges)
        #expect(try store.bag(named: "renamed").keys == [inner.key, "c"])
        break
      }
      failed += 1
      #expect(outcome == .full)
      #expect(outer.hasUnsavedChanges && outer.name == "renamed")
      #expect(inner.hasUnsavedChanges && inner.store == nil)
      #expect(try outer.unsaved.keys() == [inner.key, "c"])
      #expect(try outer.removed.keys() == ["a"])
      #expect(try store.bags().map(\.name) == ["outer"])
      #expect(try store["people"].find().keys() == ["a", "c"])
      #expect(try store.bag(named: "outer").keys == ["a"])
    }
    #expect(failed > 20)
  }

  @Test(
    "Whichever engine call of a deletion fails, a document and its memberships are deleted together or kept"
  )
  func removingFails() throws {
    let removals: [(DocumentCollection) throws -> Void] = [
      { try $0.delete("a") }, { try $0.delete(rowID: 1) }, { try $0.deleteAll() },
      { try $0.find(Field("n") == 1).delete() }, { try $0.drop() },
      { try $0.store.bags().first?.delete() },
    ]
    for (number, remove) in removals.enumerated() {
      for call in 1... {
        let engine = FailingEngine(ReferenceEngine())
        let store = try Store(opening: { engine })
        let bag = try store.bag(named: "b")
        try bag.add(Document(["n": 1], key: "a"), in: "people")
        try bag.save()

        engine.fail(at: call, Self.full)
        // In a transaction that ignores the error, the deletion is still atomic.
        let outcome = code { try store.write { try? remove(store["people"]) } }
        let calls = engine.calls
        engine.succeed()
        let exists = try store["people"].count() == 1
        let isMember = try bag.saved.count() == 1
        let isRemoved = outcome == nil && (number == 5 ? !isMember : !exists)
        #expect(exists == isMember || number == 5, "\(number), call \(call)")
        if calls < call {
          #expect(isRemoved)
          break
        }
      }
    }
  }
}
