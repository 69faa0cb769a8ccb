// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

@MainActor
@Suite("Undo across saves")
struct UndoAcrossSavesTests {
  private let store: Store
  private let context: ObjectContext
  private let list: Playlist
  private let song: Song
  /// Makes saves fail while its code is "1", which another badge has.
  private let badge = Badge("2")

  /// Stores a list with one song, and two badges.
  init() throws {
    store = try anyStore()
    context = ObjectContext(store)
    song = Song("a", 1)
    list = try context.insert(Playlist("List", [song]))
    try context.insert(Badge("1"))
    try context.insert(badge)
    try context.save()
  }

  private func stored() throws -> [String] {
    try ObjectContext(store).all(Song.self).map(\.title)
  }

  private var songs: [String] { list.songs.map(\.title) }

  // MARK: Deletions that are undone and saved

  @Test("After an undone deletion was saved, undo and redo cause no conflict")
  func undoneDeletion() throws {
    song.title = "b"
    try context.save()
    try context.delete(song)
    try context.save()
    #expect(try context.undo())
    try context.save()
    #expect(try stored() == ["b"])

    #expect(try context.undo())
    try context.save()
    #expect(try stored() == ["a"])
    #expect(try context.redo() && context.redo())
    try context.save()
    #expect(try stored() == [])
    #expect(try context.undo())
    try context.save()
    #expect(try stored() == ["b"] && songs == ["b"])
  }

  @Test("After the undone insertion of an object was redone and saved, undo causes no conflict")
  func redoneInsertion() throws {
    #expect(try context.undo())
    try context.save()
    #expect(try stored() == [])
    #expect(try context.redo())
    try context.save()
    #expect(try stored() == ["a"])

    #expect(try context.undo())
    try context.save()
    #expect(try stored() == [])
  }

  @Test("After a deleted object was inserted again and saved, undo causes no conflict")
  func insertedAgain() throws {
    try context.delete(song)
    try context.save()
    try context.insert(song)
    try context.save()
    song.title = "b"
    try context.save()

    #expect(try context.undo() && context.undo())
    try context.save()

    #expect(try stored() == [])
  }

  @Test("A change by another context after an undone deletion was saved is a conflict")
  func realConflict() throws {
    song.title = "b"
    try context.save()
    try context.delete(song)
    try context.save()
    #expect(try context.undo())
    try context.save()
    let other = ObjectContext(store, isLive: false)
    try other.all(Song.self)[0].title = "theirs"
    try other.save()

    #expect(try context.undo())

    #expect(throws: ObjectConflictError.self) { try context.save() }
    #expect(try stored() == ["theirs"])
  }

  // MARK: Deletions that are not saved

  private func revertDeletion(byUndo: Bool) throws {
    if byUndo { try context.undo() } else { try context.insert(song) }
  }

  @Test(
    "An object whose unsaved deletion is reverted has what others have stored in the meantime",
    arguments: [true, false])
  func changedByOthers(byUndo: Bool) throws {
    try context.delete(song)
    let other = ObjectContext(store, isLive: false)
    try other.all(Song.self)[0].title = "theirs"
    try other.save()

    try revertDeletion(byUndo: byUndo)

    #expect(song.title == "theirs" && !song.hasChanges)
    try context.save()
    #expect(try stored() == ["theirs"])
  }

  @Test(
    "An object whose unsaved deletion is reverted is inserted again if others have deleted it",
    arguments: [true, false])
  func deletedByOthers(byUndo: Bool) throws {
    try context.delete(song)
    try store["Song"].deleteAll()

    try revertDeletion(byUndo: byUndo)

    #expect(!song.isDeleted && song.hasChanges && songs == ["a"])
    try context.save()
    #expect(try stored() == ["a"])
  }

  // MARK: Failed saves

  private func expectFailure() {
    let error = #expect(throws: StoreError.self) { try context.save() }
    #expect(error?.code == .uniqueViolation)
  }

  @Test("Changes after a failed save with deletions can be undone")
  func failedSave() throws {
    list.title = "before"
    try context.closeUndoGroup()
    try context.delete(song)
    badge.code = "1"
    try context.closeUndoGroup()
    expectFailure()

    list.title = "after"

    #expect(try context.undo())
    #expect(list.title == "before" && songs == [])
    #expect(try context.undo())
    #expect(list.title == "before" && songs == ["a"] && badge.code == "2")
    #expect(try context.undo())
    #expect(list.title == "List" && songs == ["a"])
    try context.save()
    #expect(try stored() == ["a"])
  }

  @Test("A failed save with deletions adds no changes to the current undo group")
  func failedSaveAddsNothing() throws {
    try context.delete(song)
    badge.code = "1"
    expectFailure()
    #expect(context.changedObjects.count == 1)

    #expect(try context.undo())

    #expect(context.changedObjects.count == 1 && !list.hasChanges && songs == ["a"])
    #expect(try context.redo())
    list.title = "after"
    badge.code = "3"
    try context.save()
    #expect(try context.undo())
    #expect(list.title == "List" && badge.code == "1" && songs == [])
  }

  @Test(
    "Changes after a failed asynchronous save can be undone separately",
    arguments: [StoreError.Code.uniqueViolation, .valueNotStorable])
  func failedAsyncSave(code: StoreError.Code) async throws {
    list.title = "before"
    badge.code = "1"
    if code == .valueNotStorable {
      let measure = Measure()
      measure.value = .max
      try context.insert(measure)
    }
    let error = await #expect(throws: StoreError.self) { try await context.save() }
    #expect(error?.code == code)

    badge.code = "3"
    list.title = "after"

    #expect(try context.undo())
    #expect(list.title == "before" && badge.code == "1")
    #expect(try context.undo())
    #expect(list.title == "List" && badge.code == "2")
  }
}
