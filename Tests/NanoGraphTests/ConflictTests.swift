// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Object conflicts")
struct ConflictTests {
  private let store: Store
  private let mine: ObjectContext
  private let song: Song
  private let other: Song

  /// Two contexts change song 1, and the other context saves first.
  init() throws {
    store = try anyStore()
    let first = ObjectContext(store)
    for title in ["a", "b"] { try first.insert(Song(title)) }
    try first.save()
    mine = ObjectContext(store)
    let songs = try mine.all(Song.self)
    (song, other) = (songs[0], songs[1])
    song.title = "mine"
    other.title = "mine too"
    let theirs = ObjectContext(store)
    try theirs.find(\Song.title == "a").first()?.title = "theirs"
    try theirs.save()
  }

  private func titles() throws -> [String] {
    try ObjectContext(store).all(Song.self).map(\.title)
  }

  @Test("A stale write throws both versions, and nothing is saved")
  func fails() throws {
    let error = try #require(throws: ObjectConflictError.self) { try mine.save() }
    #expect(error.conflicts.count == 1)
    let conflict = error.conflicts[0]
    #expect(conflict.id == AnyObjectID(song.objectID!))
    #expect(conflict.mine?["title"] == "mine" && conflict.stored?["title"] == "theirs")
    #expect(!"\(error)".contains("mine"))
    #expect(try titles() == ["theirs", "b"])
    #expect(song.title == "mine" && song.hasChanges && other.hasChanges)
  }

  @Test("A stale write among many is found")
  func many() throws {
    mine.rollback()
    for number in 0..<60 { try mine.insert(Song("\(number)")) }
    try mine.save()
    let songs = try mine.all(Song.self)
    for song in songs { song.title += "!" }
    let theirs = ObjectContext(store)
    try theirs.find(\Song.title == "40").first()?.title = "theirs"
    try theirs.save()

    let error = try #require(throws: ObjectConflictError.self) { try mine.save() }

    #expect(error.conflicts.map { $0.stored?["title"] } == ["theirs"])
    mine.conflictPolicy = .keepStored
    try mine.save()
    #expect(try titles().count { $0.hasSuffix("!") } == songs.count - 1)
  }

  @Test("After a rollback refreshes the object, it can be changed and saved again")
  func retryAfterRollback() throws {
    mine.rollback()
    #expect(song.title == "theirs")
    song.title += " and mine"
    try mine.save()
    #expect(try titles() == ["theirs and mine", "b"])
  }

  @Test("With .overwrite, the version of the context is stored")
  func overwrite() throws {
    mine.conflictPolicy = .overwrite
    try mine.save()
    #expect(try titles() == ["mine", "mine too"])
    song.title = "again"
    try mine.save()
    #expect(try titles() == ["again", "mine too"])
  }

  @Test("With .keepStored, the object takes the stored version, and the rest is saved")
  func keep() throws {
    mine.conflictPolicy = .keepStored
    try mine.save()
    #expect(song.title == "theirs" && !mine.hasUnsavedChanges)
    #expect(try titles() == ["theirs", "mine too"])
  }

  @Test("With .merge, the result of the closure is stored")
  func merge() throws {
    mine.conflictPolicy = .merge { conflict in
      var fields = conflict.stored ?? [:]
      let both = [conflict.stored, conflict.mine].map { $0?["title"]?.string ?? "" }
      fields["title"] = .string(both.joined(separator: "+"))
      return fields
    }
    try mine.save()
    #expect(song.title == "theirs+mine")
    #expect(try titles() == ["theirs+mine", "mine too"])
    song.title = "later"
    try mine.save()
    #expect(try titles() == ["later", "mine too"])
  }

  @Test("Changing a deleted object is a conflict, and overwriting inserts it again")
  func removed() throws {
    try store["Song"].deleteAll()
    let error = try #require(throws: ObjectConflictError.self) { try mine.save() }
    #expect(error.conflicts.map { $0.stored == nil } == [true, true])
    mine.conflictPolicy = .overwrite
    try mine.save()
    #expect(try titles() == ["mine", "mine too"])
    song.title = "still"
    mine.conflictPolicy = .fail
    try mine.save()
    #expect(try titles() == ["still", "mine too"])
  }

  @Test("A conflict reports that the document was deleted, and nothing is saved")
  func reportsDeletion() throws {
    try store["Song"].delete(rowID: 1)

    let error = try #require(throws: ObjectConflictError.self) { try mine.save() }

    #expect(error.conflicts.map(\.isDeletedInStore) == [true])
    #expect(
      "\(error)"
        == "Objects were changed or deleted in the store since they were read (1, 1 of them deleted, first Song 1)"
    )
    #expect(try titles() == ["b"])
    #expect(song.hasChanges && other.hasChanges)
  }

  @Test("With .keepStored, an object deleted elsewhere is removed, and the rest is saved")
  func keepDeletion() throws {
    let list = try mine.insert(Playlist("List", [song, other]))
    try store["Song"].delete(rowID: 1)
    mine.conflictPolicy = .keepStored

    try mine.save()

    #expect(song.isDeleted && song.context == nil && !mine.hasUnsavedChanges)
    #expect(list.songs.map(\.title) == ["mine too"])
    #expect(try titles() == ["mine too"])
    list.title = "Still"
    try mine.save()
    #expect(try ObjectContext(store).all(Playlist.self).first?.songs.map(\.title) == ["mine too"])
  }

  @Test("Undo skips an object deleted elsewhere, and undoes the rest")
  func undoAfterDeletion() throws {
    try store["Song"].delete(rowID: 1)
    mine.conflictPolicy = .keepStored
    try mine.save()

    #expect(try mine.undo())

    #expect(song.isDeleted && other.title == "b")
    try mine.save()
    #expect(try titles() == ["b"])
  }

  @Test("Merging inserts a deleted document again, or leaves it deleted")
  func mergeDeletion() throws {
    try store["Song"].deleteAll()
    mine.conflictPolicy = .merge { $0.id.rowID == 1 ? $0.mine : nil }

    try mine.save()

    #expect(song.title == "mine" && !song.isDeleted)
    #expect(other.isDeleted)
    #expect(try titles() == ["mine"])
    song.title = "still"
    try mine.save()
    #expect(try titles() == ["still"])
  }

  @Test("A changed fault whose document was deleted is a conflict that overwriting cannot resolve")
  func unloaded() throws {
    mine.rollback()
    try store["Song"].delete(rowID: 1)
    song.title = "lost"
    other.seconds = 7
    #expect(song.hasChanges && mine.changedObjects.count == 2)

    for policy in [ConflictPolicy.fail, .overwrite, .merge { $0.mine }] {
      mine.conflictPolicy = policy
      let error = try #require(throws: ObjectConflictError.self) { try mine.save() }
      #expect(error.conflicts.map(\.id.rowID) == [1])
      #expect(error.conflicts.map(\.isDeletedInStore) == [true])
      #expect(error.conflicts.first?.mine?["title"] == "lost")
    }
    #expect(try store["Song"].find("[seconds] = 7").count() == 0)

    mine.conflictPolicy = .keepStored
    try mine.save()
    #expect(song.isDeleted && !mine.hasUnsavedChanges)
    #expect(try store["Song"].find("[seconds] = 7").count() == 1)
    #expect(throws: StoreError.self) { try mine.insert(song) }
  }

  @Test("A changed fault whose document was deleted can be rolled back or deleted")
  func unloadedRollback() throws {
    mine.rollback()
    try store["Song"].delete(rowID: 1)
    song.title = "lost"
    mine.rollback()
    #expect(!mine.hasUnsavedChanges && song.title == "")
    try mine.save()

    song.title = "lost"
    try mine.delete(song)
    try mine.save()
    #expect(song.isDeleted && !mine.hasUnsavedChanges)
    #expect(try titles() == ["b"])
  }

  @Test(
    "A changed object whose document does not decode is a conflict, and the document is unchanged")
  func undecodable() throws {
    mine.rollback()
    try store["Song"].update(rowID: 1, set: ["title": 7])
    song.seconds = 9
    mine.conflictPolicy = .overwrite

    let error = try #require(throws: ObjectConflictError.self) { try mine.save() }

    #expect(error.conflicts.map { $0.stored?["title"] } == [7])
    #expect(throws: StoreError.self) { try song.load() }
    #expect(try store["Song"].get(rowID: 1)?["title"] == 7)
  }

  @Test(
    "Deleting a document changed elsewhere is a conflict; deleting a deleted one is not", .sqlite)
  func deletion() throws {
    mine.rollback()
    _ = song.title
    try mine.delete(song)
    try store.execute(#"UPDATE "Song" SET body = '{"title":"x","seconds":1}' WHERE id = 1"#)
    let error = try #require(throws: ObjectConflictError.self) { try mine.save() }
    #expect(error.conflicts.map { $0.mine == nil } == [true])
    #expect(song.isDeleted)
    try store["Song"].delete(rowID: 1)
    try mine.save()
    #expect(try titles() == ["b"])
  }

  @Test("Observers of a relationship learn that a save keeps an object which was deleted")
  func keptInRelationship() throws {
    mine.rollback()
    let list = try mine.insert(Playlist("Road", [song]))
    try mine.save()
    let titles = Watch { list.songs.map(\.title) }
    try mine.delete(song)
    try store["Song"].update(rowID: 1, set: ["title": "kept"])
    mine.conflictPolicy = .keepStored

    try mine.save()

    #expect(titles.values == [["theirs"], [], ["kept"]])
  }

  @Test("A document that another program made unreadable is only deleted by .overwrite", .sqlite)
  func deletionOfUnreadable() throws {
    mine.rollback()
    _ = song.title
    try mine.delete(song)
    try store.execute(#"UPDATE "Song" SET body = '[1]' WHERE id = 1"#)

    let error = try #require(throws: StoreError.self) { try mine.save() }

    #expect(error.code == .typeMismatch)
    #expect(try store["Song"].count() == 2)
    mine.conflictPolicy = .overwrite
    try mine.save()
    #expect(try titles() == ["b"])
  }

  /// Stores a song as another program does: no store has adopted its document.
  private func storeForeign(_ title: String) throws {
    try store.execute(
      #"UPDATE "Song" SET body = '{ "title":"\#(title)","seconds":1 }' WHERE id = 1"#)
  }

  @Test(
    "A document that another program changes twice is a conflict, also in its stored form", .sqlite)
  func foreignTwice() throws {
    try storeForeign("first")
    let context = ObjectContext(store)
    let song = try #require(try context.find(\Song.title == "first").first())
    song.seconds = 2
    try storeForeign("second")

    let error = try #require(throws: ObjectConflictError.self) { try context.save() }

    #expect(error.conflicts.map { $0.stored?["title"] } == ["second"])
    context.rollback()
    try context.delete(song)
    try storeForeign("third")
    #expect(throws: ObjectConflictError.self) { try context.save() }
    #expect(try titles() == ["third", "b"])
  }

  @Test("A document of another program that a store has adopted meanwhile is no conflict", .sqlite)
  func adopted() throws {
    try storeForeign("first")
    let context = ObjectContext(store)
    let song = try #require(try context.find(\Song.title == "first").first())
    song.seconds = 2
    try store["Song"].insert(["title": "adopts", "seconds": 3])

    try context.save()
    song.seconds = 4
    try context.save()

    #expect(try store["Song"].get(rowID: 1)?["seconds"] == 4)
  }

  @MainActor
  @Test(
    "await save() finds that another program has changed a document of another program", .sqlite)
  func foreignTwiceAsync() async throws {
    try storeForeign("first")
    let context = ObjectContext(store)
    let song = try #require(try await context.find(\Song.title == "first").first())
    song.seconds = 2
    try storeForeign("second")
    await #expect(throws: ObjectConflictError.self) { try await context.save() }
    context.conflictPolicy = .overwrite
    try await context.save()
    song.seconds = 3
    try await context.save()
    #expect(try await store["Song"].get(rowID: 1)?["seconds"] == 3)
    #expect(try titles() == ["first", "b"])
  }

  @MainActor
  @Test("A row with an invalid date that await has found is no conflict", .sqlite)
  func alteredRow() async throws {
    try await store.execute(
      #"UPDATE "Song" SET added = 'x', body = '{ "title":"first","seconds":1 }' WHERE id = 1"#)
    let context = ObjectContext(store)
    let song = try #require(try await context.find(\Song.title == "first").first())
    song.seconds = 2

    try await context.save()

    #expect(try await store["Song"].get(rowID: 1)?["seconds"] == 2)
  }

  @Test("A change by another program is detected", .sqlite)
  func foreign() throws {
    mine.rollback()
    other.title += "!"
    try store.execute(#"UPDATE "Song" SET body = '{"title":"sql","seconds":1}' WHERE id = 2"#)
    #expect(throws: ObjectConflictError.self) { try mine.save() }
    mine.rollback()
    #expect(other.title == "sql")
    other.title += "!"
    try mine.save()
    #expect(try titles() == ["theirs", "sql!"])
  }
}
