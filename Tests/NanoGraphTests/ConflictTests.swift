// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Objects that others changed too")
struct ConflictTests {
  private let store: Store
  private let mine: ObjectContext
  private let song: Song
  private let other: Song

  /// Two contexts that both changed song 1; the other one was quicker.
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

  @Test("A stale write is an error with both versions, and nothing is saved")
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

  @Test("After refreshing by rollback, the change can be made again and saved")
  func again() throws {
    mine.rollback()
    #expect(song.title == "theirs")
    song.title += " and mine"
    try mine.save()
    #expect(try titles() == ["theirs and mine", "b"])
  }

  @Test("Overwriting stores the context's version")
  func overwrite() throws {
    mine.conflictPolicy = .overwrite
    try mine.save()
    #expect(try titles() == ["mine", "mine too"])
    song.title = "again"
    try mine.save()
    #expect(try titles() == ["again", "mine too"])
  }

  @Test("Keeping what is stored gives it to the object, and saves the rest")
  func keep() throws {
    mine.conflictPolicy = .keepStored
    try mine.save()
    #expect(song.title == "theirs" && !mine.hasUnsavedChanges)
    #expect(try titles() == ["theirs", "mine too"])
  }

  @Test("Merging stores what a closure makes of both")
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

  @Test("A change of an object that was removed is a conflict, and overwriting brings it back")
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

  @Test("Deleting what others changed is a conflict, deleting what is gone is none", .sqlite)
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

  @Test("Another program's change is seen too", .sqlite)
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
