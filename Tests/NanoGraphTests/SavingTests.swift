// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Saving objects")
struct SavingTests {
  @Test(
    "A saved graph round-trips in a different context, with relationships in order and duplicates")
  func roundTrip() throws {
    let store = try anyStore()
    let context = ObjectContext(store)
    let a = Song("a", 1)
    let b = Song("b", 2)
    let list = try context.insert(Playlist("Road", [b, a, b]))
    list.cover = Picture("cover", Data([1, 2]))
    list.things = [a, Picture("thing"), list]
    list.anything = b
    #expect(context.hasUnsavedChanges)
    try context.save()
    #expect(!context.hasUnsavedChanges)

    let other = ObjectContext(store)
    other.register(Picture.self)
    let found = try #require(try other.all(Playlist.self).first)
    #expect(found !== list)
    #expect(found.title == "Road")
    #expect(found.songs.map(\.title) == ["b", "a", "b"])
    #expect(found.songs[0] === found.songs[2])
    #expect(found.cover?.name == "cover")
    #expect(found.cover?.pixels == Data([1, 2]))
    #expect(found.things.count == 3)
    #expect((found.things[0] as? Song)?.title == "a")
    #expect((found.things[1] as? Picture)?.name == "thing")
    #expect(found.things[2] === found)
    #expect((found.anything as? Song) === found.songs[0])
    #expect(found.songs[1].playlists.map(\.title) == ["Road"])
  }

  @Test("A change is tracked automatically and saved")
  func update() throws {
    let store = try anyStore()
    let context = ObjectContext(store)
    let song = try context.insert(Song("a"))
    try context.save()
    #expect(!song.hasChanges)
    song.title += "!"
    #expect(song.hasChanges)
    #expect(context.hasUnsavedChanges)
    try context.save()
    #expect(try ObjectContext(store).all(Song.self).map(\.title) == ["a!"])
    #expect(try context.all(Song.self).first === song)
  }

  @Test("Deleting a song removes it from its playlists, in memory and in the store")
  func deletion() throws {
    let store = try anyStore()
    let context = ObjectContext(store)
    let songs = ["a", "b", "c"].map { Song($0) }
    let list = try context.insert(Playlist("Road", songs + [songs[1]]))
    let second = try context.insert(Playlist("Street", [songs[1]]))
    try context.save()
    let other = ObjectContext(store)
    let b = try #require(try other.find(\Song.title == "b").first())
    try other.delete(b)
    try other.save()
    #expect(
      try ObjectContext(store).all(Playlist.self).map { $0.songs.map(\.title) } == [
        ["a", "c"], [],
      ])
    try context.delete(songs[0])
    #expect(list.songs.map(\.title) == ["b", "c", "b"])
    context.refreshAll()
    #expect(second.songs.isEmpty)
    #expect(list.songs.map(\.title) == ["c"])
  }

  @Test("Changes are undone and redone, across saves")
  func undo() throws {
    let store = try anyStore()
    let context = ObjectContext(store)
    let song = try context.insert(Song("a"))
    let list = try context.insert(Playlist("Road", [song]))
    try context.save()
    list.songs.append(Song("b"))
    list.title = "Street"
    try context.save()
    #expect(try context.undo())
    #expect(list.title == "Road")
    #expect(list.songs.map(\.title) == ["a"])
    try context.save()
    #expect(try ObjectContext(store).all(Song.self).map(\.title) == ["a"])
    #expect(try context.redo())
    #expect(list.songs.map(\.title) == ["a", "b"])
    try context.save()
    #expect(
      try ObjectContext(store).all(Playlist.self).map { $0.songs.map(\.title) } == [["a", "b"]])
  }

  @MainActor private func saveBlocking(_ context: ObjectContext) throws { try context.save() }

  @Test("An undo group names only its own changes, also those before a save in the group")
  func groupNames() throws {
    let context = ObjectContext(try anyStore())
    let song = try context.insert(Song("a"))
    try context.save()
    try context.undoGroup(named: "Nothing") {}
    song.title = "b"
    #expect(context.undoName == nil)

    try context.undoGroup(named: "Rename") {
      song.title = "c"
      try context.save()
      song.title = "d"
    }

    #expect(context.undoName == "Rename")
    try context.undo()
    #expect(song.title == "c" && context.undoName == "Rename")
    try context.undo()
    #expect(song.title == "b" && context.undoName == nil)
  }

  @MainActor
  @Test("A new object without a key has the generated one after a save", arguments: [false, true])
  func generatedKey(isAsync: Bool) async throws {
    let store = try anyStore()
    let context = ObjectContext(store)
    let memo = try context.insert(Memo("a"))
    if isAsync { try await context.save() } else { try saveBlocking(context) }

    let key = try #require(memo.id)
    #expect(try await store["Memo"].get(key)?["text"] == "a")
    memo.text = "b"
    try saveBlocking(context)
    try context.delete(memo)
    try saveBlocking(context)
    #expect(try context.undo())
    try saveBlocking(context)
    #expect(memo.id == key)
    #expect(try await store["Memo"].get(key)?["text"] == "b")
  }
}

@Model final class Memo {
  @Key var id: String?
  var text: String

  init(_ text: String) { self.text = text }
}
