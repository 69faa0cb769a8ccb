// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Objects that were read in a write block that is rolled back")
struct RolledBackReadTests {
  private struct RolledBack: Error {}

  private let store: Store
  private let context: ObjectContext
  private let id: ObjectID<Song>

  init() throws {
    store = try anyStore()
    let other = ObjectContext(store)
    let song = try other.insert(Song("Gin"))
    try other.insert(Playlist("Road", [song]))
    try other.save()
    id = try #require(song.objectID)
    context = ObjectContext(store)
  }

  @Test("A context ends the buffering of saves, which a read rolls back")
  func bufferedSaves() throws {
    store.saveInterval = 100
    try store["notes"].save(["n": 1], key: "a")
    #expect(store.saveInterval == 1 && !store.hasUnsavedChanges)

    let other = try anyStore()
    other.saveInterval = 100
    try other["notes"].save(["n": 1], key: "a")
    #expect(other.hasUnsavedChanges)
    let context = ObjectContext(other)
    #expect(!other.hasUnsavedChanges)
    try other["notes"].save(["n": 2], key: "b")
    #expect(!other.hasUnsavedChanges)
    _ = context
  }

  private func rename(_ title: DocumentValue) throws {
    try store["Song"].update(rowID: id.rowID, set: ["title": title])
  }

  private func read() throws -> Song { try #require(try context.all(Song.self).first) }

  /// Renames the song, reads it and runs a block, in a write block that is rolled back.
  private func rollBack(_ work: (Song) throws -> Void = { _ in }) throws {
    try rollingBack {
      try rename("rolled back")
      let song = try read()
      #expect(song.title == "rolled back")
      try work(song)
    }
  }

  private func rollingBack(_ work: () throws -> Void) throws {
    do {
      try store.write {
        try work()
        throw RolledBack()
      }
    } catch is RolledBack {}
  }

  @Test(
    "A save does not overwrite a later change with the same revision", arguments: [true, false])
  func notOverwritten(isLoaded: Bool) throws {
    let song = context.fault(id)
    if isLoaded { try song.load() }
    try rollBack()
    try rename("Tonic")

    song.seconds = 5
    try context.save()

    let stored = try store["Song"].get(rowID: id.rowID)
    #expect(stored?["title"] == "Tonic" && stored?["seconds"] == 5)
  }

  @Test("A property has the stored value", arguments: [true, false])
  func content(isLoaded: Bool) throws {
    let song = context.fault(id)
    if isLoaded { try song.load() }

    try rollBack()

    #expect(song.title == "Gin" && !song.hasChanges)
  }

  @Test("After a nested block is rolled back, the outer block reads what it has written")
  func nested() throws {
    let song = context.fault(id)
    try store.write {
      try rename("outer")
      try rollBack()
      #expect(song.title == "outer")
    }
    #expect(song.title == "outer")
  }

  @Test("What a nested block reads is discarded with the outer block")
  func outer() throws {
    let song = context.fault(id)
    try rollBack { _ in
      try store.write {
        try rename("nested")
        #expect(try read().title == "nested")
      }
    }
    #expect(song.title == "Gin")
  }

  @Test("Saving a change that is based on content that was rolled back is a conflict")
  func changed() throws {
    try rollBack { $0.seconds = 5 }
    try rename("Tonic")

    let error = try #require(throws: ObjectConflictError.self) { try context.save() }

    #expect(error.conflicts.map { $0.stored?["title"] } == ["Tonic"])
  }

  @Test("Deleting an object by content that was rolled back is a conflict")
  func deleted() throws {
    let song = context.fault(id)
    try rollBack { try context.delete($0) }
    try rename("Tonic")

    #expect(throws: ObjectConflictError.self) { try context.save() }

    context.rollback()
    #expect(song.title == "Tonic")
  }

  @Test("A save that fails can be repeated if its block has read what is still stored")
  func repeated() throws {
    #expect(throws: RolledBack.self) {
      try context.save { _ in
        let song = try #require(try context.get(id))
        song.seconds = 5
        throw RolledBack()
      }
    }

    try context.save()

    #expect(try store["Song"].get(rowID: id.rowID)?["seconds"] == 5)
  }

  @Test("An object whose document was missing in the block has its content")
  func missing() throws {
    let song = context.fault(id)
    try rollingBack {
      try store["Song"].delete(rowID: id.rowID)
      #expect(song.title == "")
    }
    #expect(song.title == "Gin")
  }

  @Test("An inverse relationship has the stored owners")
  func owners() throws {
    let song = try read()
    try rollingBack {
      try store["Playlist"].deleteAll()
      #expect(song.playlists.isEmpty)
    }
    #expect(song.playlists.map(\.title) == ["Road"])
  }

  @Test("Observers are notified when the transaction has ended", arguments: [false, true])
  func observed(isNested: Bool) throws {
    let song = context.fault(id)
    let title = Watch { song.title }

    if isNested { try store.write { try rollBack() } } else { try rollBack() }

    #expect(title.values == ["Gin", "rolled back", "Gin"])
  }

  @Test("An observed object whose document was deleted in the block is not deleted")
  func observedDeletion() throws {
    let song = try read()
    let isDeleted = Watch { song.isDeleted }

    try rollingBack {
      try store["Song"].delete(rowID: id.rowID)
      context.refresh(song)
      #expect(song.isDeleted)
    }

    #expect(isDeleted.values == [false, true, false])
    #expect(song.title == "Gin")
  }

  @Test("An object that a nested block has lost keeps the changes of the outer block")
  func changesAfterNestedDeletion() throws {
    let song = try read()
    let isDeleted = Watch { song.isDeleted }

    try store.write {
      try rollingBack {
        try store["Song"].delete(rowID: id.rowID)
        context.refresh(song)
        #expect(song.isDeleted)
      }
      #expect(!song.isDeleted && song.title == "Gin")
      song.seconds = 5
    }
    try context.save()

    #expect(try store["Song"].get(rowID: id.rowID)?["seconds"] == 5)
    #expect(isDeleted.values == [false, true, false])
  }

  @Test(
    "An object that the outer block has deleted stays deleted after a nested block is rolled back")
  func deletedByOuterBlock() throws {
    let song = try read()
    let isDeleted = Watch { song.isDeleted }

    try store.write {
      try store["Song"].delete(rowID: id.rowID)
      try rollingBack {
        context.refresh(song)
        #expect(song.isDeleted)
      }
      #expect(song.isDeleted)
    }

    #expect(song.isDeleted)
    #expect(isDeleted.values.last == true)
  }
}
