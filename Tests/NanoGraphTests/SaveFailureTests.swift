// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoStoreCore
import NanoStoreModels
import NanoTestSupport
import NanoTesting
import Testing

@Suite("Failed saves")
struct SaveFailureTests {
  /// A store with two saved lists, and a context with every kind of change.
  private struct Fixture {
    let store: Store
    let context: ObjectContext
    let list: Playlist
    let new: Song

    init(_ store: Store) throws {
      self.store = store
      context = ObjectContext(store)
      list = try context.insert(Playlist("Road", [Song("a"), Song("b"), Song("c")]))
      try context.insert(Playlist("Street", [list.songs[1]]))
      try context.save()
      list.title = "Changed"
      new = Song("new")
      list.songs.append(new)
      try context.delete(list.songs[0])
      context.setValue(7, named: "number")
    }

    func expectUnchanged() {
      #expect(context.hasUnsavedChanges)
      #expect(list.title == "Changed" && list.songs.map(\.title) == ["b", "c", "new"])
      #expect(new.objectID == nil && new.hasChanges)
      #expect(context.insertedObjects.count == 1 && context.deletedObjects.count == 1)
      #expect(new.playlists.map(\.title) == ["Changed"])
    }

    func titles() throws -> [String] {
      let fresh = ObjectContext(store)
      let lists = try fresh.all(Playlist.self).map { "\($0.title) \($0.songs.map(\.title))" }
      return lists + [try store.metadata("number").map { "\($0)" } ?? "none"]
    }

    static let before = ["Road [\"a\", \"b\", \"c\"]", "Street [\"b\"]", "none"]
  }

  @Test("An object whose owners cannot be read is not deleted")
  func unreadableOwners() throws {
    let engine = FailingEngine(ReferenceEngine())
    let store = try Store(opening: { engine })
    let context = ObjectContext(store)
    context.register(Award.self)
    let album = try context.insert(Album("a"))
    try context.insert(Award("first", album))
    try context.save()
    let fresh = ObjectContext(store)
    fresh.register(Award.self)
    let found = try #require(try fresh.all(Album.self).first)
    var failures = 0
    for call in 1...20 {
      engine.fail(at: call, StoreError(.inputOutput, "The disk failed"))
      let error = #expect(throws: StoreError.self) { try fresh.delete(found) }
      #expect(!found.isDeleted)
      if error?.code == .deleteDenied { break }
      failures += 1
    }
    #expect((1..<20).contains(failures))
  }

  @Test(
    "If any engine call fails, store and context are unchanged, and the save can be repeated"
  )
  func everyCall() throws {
    var failures = 0
    for call in 1...200 {
      let engine = FailingEngine(ReferenceEngine())
      let fixture = try Fixture(try Store(opening: { engine }))
      let before = try fixture.titles()
      engine.fail(at: call, StoreError(.full, "No space is left"))
      do {
        try fixture.context.save()
        engine.succeed()
        #expect(call > 5 && failures == call - 1)
        #expect(try fixture.titles() != before)
        return
      } catch {
        failures += 1
        engine.succeed()
        fixture.expectUnchanged()
        #expect(try fixture.titles() == before)
        #expect(try fixture.context.undo())
        #expect(try fixture.context.redo())
        try fixture.context.save()
        #expect(try fixture.titles().first == "Changed [\"b\", \"c\", \"new\"]")
        #expect(fixture.new.objectID != nil && !fixture.context.hasUnsavedChanges)
      }
    }
    Issue.record("the save never succeeded")
  }

  @Test("A unique violation names the object, and nothing is saved")
  func unique() throws {
    let store = try anyStore()
    let context = ObjectContext(store)
    try context.insert(Picture("cover"))
    try context.save()
    try context.insert(Song("a"))
    try context.insert(Picture("other"))
    try context.insert(Picture("cover"))
    let error = #expect(throws: StoreError.self) { try context.save() }
    #expect(error?.code == .duplicateKey && error?[.collection] == "Picture")
    #expect(error?[.position] == "document 2 of the batch")
    #expect(try store["Song"].count() == 0 && store["Picture"].count() == 1)
    #expect(context.insertedObjects.count == 3)
  }

  @Test("A value that cannot be stored is an error with class and row")
  func notStorable() throws {
    let store = try anyStore()
    let context = ObjectContext(store)
    let measure = try context.insert(Measure())
    try context.save()
    measure.value = UInt64.max
    let error = #expect(throws: StoreError.self) { try context.save() }
    #expect(error?.code == .valueNotStorable)
    #expect(error?[.collection] == "Measure" && error?[.rowID] == "1")
    measure.value = 5
    try context.save()
    #expect(try ObjectContext(store).all(Measure.self).map(\.value) == [5])
  }

  @Test("The key of a stored object cannot be changed")
  func key() throws {
    let context = ObjectContext(try anyStore())
    let picture = try context.insert(Picture("a"))
    try context.save()
    picture.name = "b"
    let error = #expect(throws: StoreError.self) { try context.save() }
    #expect(error?.code == .invalidArgument)
    picture.name = "a"
    picture.tags = ["x"]
    try context.save()
  }

  @Test("A context does not save inside a transaction that can be rolled back")
  func insideBlock() throws {
    let store = try anyStore()
    let context = ObjectContext(store)
    try context.insert(Song("a"))
    let error = #expect(throws: StoreError.self) { try store.write { try context.save() } }
    #expect(error?.code == .invalidArgument && context.hasUnsavedChanges)
  }

  @Test("Writes in the closure of a save are part of it, and an error rolls back both")
  func alongside() throws {
    struct Stop: Error {}
    let store = try anyStore()
    let context = ObjectContext(store)
    let song = try context.insert(Song("a"))
    #expect(throws: Stop.self) {
      try context.save { store in
        try store["log"].insert(["n": 1])
        throw Stop()
      }
    }
    #expect(try store["log"].count() == 0 && store["Song"].count() == 0)
    #expect(song.objectID == nil)
    try context.save { store in try store["log"].insert(["n": 1]) }
    #expect(try store["log"].count() == 1 && store["Song"].count() == 1)
  }
}

@Model final class Measure {
  var value: UInt64 = 0
  init() {}
}
