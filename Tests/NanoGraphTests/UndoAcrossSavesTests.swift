// SPDX-License-Identifier: MIT

import Foundation
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

  @Test("The saved deletion of an object that refers to a new one can be undone and redone")
  func newTarget() throws {
    list.things.append(Song("new"))
    list.anything = Song("newer")
    try context.delete(list)
    try context.save()

    #expect(try context.undo())

    #expect(!list.isDeleted && songs == ["a"] && list.things.isEmpty && list.anything == nil)
    try context.save()
    #expect(try ObjectContext(store).all(Playlist.self).map(\.title) == ["List"])
    #expect(try context.redo())
    try context.save()
    #expect(try store["Playlist"].count() == 0)
    #expect(try stored() == ["a"])
  }

  @Test("If a deleted object has a value that cannot be stored, undo is an error without effect")
  func unstorableValue() throws {
    let measure = try context.insert(Measure())
    try context.save()
    measure.value = .max
    try context.closeUndoGroup()
    try context.delete(measure)
    #expect(try context.undo())
    #expect(!measure.isDeleted && measure.value == .max)
    try context.delete(measure)
    try context.save()

    for _ in 1...2 {
      let error = #expect(throws: StoreError.self) { try context.undo() }
      #expect(error?.code == .valueNotStorable)
    }

    #expect(measure.isDeleted && !context.hasUnsavedChanges)
    try context.save()
    #expect(try store["Measure"].count() == 0)
  }

  private static let tooLate = Date(timeIntervalSince1970: 1e12)
  private static func date(_ seconds: Int) -> Date {
    Date(timeIntervalSince1970: Double(seconds))
  }

  @Test("Changes are undone without an optional value that cannot be stored")
  func unstorableOptional() throws {
    let visit = try context.insert(Visit("null", Self.date(0), Self.date(1)))
    try context.save()
    visit.end = Self.tooLate
    try context.closeUndoGroup()
    visit.end = Self.date(2)
    try context.save()

    #expect(try context.undo())
    #expect(visit.end == nil && visit.start == Self.date(0) && visit.place == "null")
    #expect(try context.undo())
    #expect(visit.end == Self.date(1))
    #expect(try context.redo() && context.redo())
    #expect(visit.end == Self.date(2))
    try context.save()
  }

  @Test("Undo of a change is an error if a required value cannot be stored")
  func unstorableRequired() throws {
    let visit = try context.insert(Visit("here", Self.date(0), Self.date(1)))
    try context.save()
    visit.start = Self.tooLate
    try context.closeUndoGroup()
    visit.start = Self.date(2)
    song.title = "z"
    try context.save()

    let error = #expect(throws: StoreError.self) { try context.undo() }

    #expect(error?.code == .valueNotStorable)
    #expect(visit.start == Self.date(2) && visit.end == Self.date(1) && song.title == "z")
    #expect(!context.hasUnsavedChanges)
  }

  @Test("Undo of a change is an error if a value that cannot be stored would empty a list")
  func unstorableBeforeList() throws {
    let picture = try context.insert(Picture("p"))
    picture.tags = ["x"]
    try context.save()
    picture.taken = Self.tooLate
    try context.closeUndoGroup()
    picture.taken = nil
    try context.save()

    let error = #expect(throws: StoreError.self) { try context.undo() }

    #expect(error?.code == .valueNotStorable)
    #expect(picture.tags == ["x"] && !context.hasUnsavedChanges)
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

@Model final class Visit {
  var place: String
  var start: Date
  var end: Date?

  init(_ place: String, _ start: Date, _ end: Date?) {
    self.place = place
    self.start = start
    self.end = end
  }
}
