// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Observing objects")
struct LiveObjectTests {
  private let store: Store
  private let context: ObjectContext
  private let song: Song
  private let list: Playlist

  init() throws {
    store = try anyStore()
    context = ObjectContext(store)
    song = try context.insert(Song("Gin", 60))
    list = try context.insert(Playlist("Road", [song]))
    try context.save()
    try context.removeAllUndoActions()
  }

  private func other(_ change: (ObjectContext) throws -> Void) throws {
    let other = ObjectContext(store)
    try change(other)
    try other.save()
  }

  /// `#expect` does not take apart what cannot be copied.
  private func isObserved(_ object: some GraphObject) -> Bool { object._$object.isObserved }

  // MARK: Properties

  @Test("A change notifies the observers of the property, once, after the value is in place")
  func change() {
    let title = Watch { song.title }
    let seconds = Watch { song.seconds }
    song.title = "Tonic"
    #expect(title.values == ["Gin", "Tonic"])
    #expect(seconds.count == 0)
    song.seconds += 1
    #expect(seconds.values == [60, 61])
    #expect(title.count == 1)
  }

  @Test("An equal assignment notifies nobody") func equal() {
    let title = Watch { song.title }
    for _ in 0..<10_000 { song.title = "Gin" }
    song.title += ""
    #expect(title.count == 0)
  }

  @Test("A computed property is observed through the properties that it reads") func computed() {
    let text = Watch { song.line }
    song.seconds = 61
    song.title = "Tonic"
    #expect(text.values == ["Gin 60", "Gin 61", "Tonic 61"])
  }

  @Test("A transient property is observed") func transient() {
    let isOpen = Watch { list.isOpen }
    list.isOpen = true
    list.isOpen = true
    #expect(isOpen.values == [false, true])
    #expect(!list.hasChanges)
  }

  @Test("A new object is observed before and after it is inserted") func new() throws {
    let new = Song("New")
    let title = Watch { new.title }
    new.title = "Newer"
    try context.insert(new)
    new.title = "Newest"
    try context.save()
    new.title = "Saved"
    #expect(title.values == ["New", "Newer", "Newest", "Saved"])
  }

  @Test("An object without observers has none, however often it is read") func unobserved() {
    for _ in 0..<100 { _ = song.title }
    #expect(!isObserved(song))
    let title = Watch { song.title }
    #expect(isObserved(song))
    _ = title
    #expect(!isObserved(list))
  }

  @Test("A property that is read through a fault is observed") func fault() throws {
    let fresh = ObjectContext(store)
    let id = try #require(song.objectID)
    let fault = fresh.fault(id)
    #expect(fault.isFault)
    let title = Watch { fault.title }
    #expect(title.values == ["Gin"])
    fault.title = "Tonic"
    #expect(title.values == ["Gin", "Tonic"])
  }

  @Test("A context that is not live notifies nobody") func notLive() throws {
    let quiet = ObjectContext(store, isLive: false)
    let song = try #require(try quiet.all(Song.self).first)
    let title = Watch { song.title }
    song.title = "Tonic"
    #expect(title.count == 0)
    #expect(!isObserved(song))
  }

  @Test("1,000 observers of one list: a change of one object wakes its observer only")
  func oneOfMany() throws {
    let songs = (0..<1_000).map { Song("song \($0)", $0) }
    list.songs = songs
    try context.save()
    let titles = songs.map { song in Watch { song.title } }
    let seconds = songs.map { song in Watch { song.seconds } }
    songs[500].title = "changed"
    #expect(titles.map(\.count).reduce(0, +) == 1)
    #expect(titles[500].count == 1)
    #expect(seconds.allSatisfy { $0.count == 0 })
  }

  // MARK: Relationships

  @Test("Both ends of a relationship notify their observers") func relationship() {
    let songs = Watch { list.songs.map(\.title) }
    let playlists = Watch { song.playlists.count }
    let other = Playlist("Street")
    other.songs = [song]
    #expect(playlists.values == [1])
    list.songs = []
    #expect(songs.values == [["Gin"], []])
    #expect(playlists.values == [1, 0])
    song.playlists = [list]
    #expect(songs.values == [["Gin"], [], ["Gin"]])
    #expect(playlists.values == [1, 0, 1])
    list.songs.append(Song("Tonic"))
    #expect(songs.values.last == ["Gin", "Tonic"])
    #expect(playlists.count == 2)
  }

  @Test("An equal relationship notifies nobody") func equalRelationship() {
    let songs = Watch { list.songs.count }
    let playlists = Watch { song.playlists.count }
    list.songs = list.songs
    #expect(songs.count == 0)
    #expect(playlists.count == 0)
  }

  @Test("Relationships to one object and to objects of any class are observed") func others() {
    let cover = Watch { list.cover?.name }
    let things = Watch { list.things.count }
    let anything = Watch { list.anything.map { ObjectIdentifier($0) } }
    list.cover = Picture("a.png")
    list.things = [song]
    list.anything = song
    list.things = [song]
    list.anything = song
    #expect(cover.values == [nil, "a.png"])
    #expect(things.values == [0, 1])
    #expect(anything.count == 1)
  }

  // MARK: Deletion, undo, rollback, saving

  @Test("Deleting an object notifies the observers of isDeleted and of relationships with it")
  func deletion() throws {
    let isDeleted = Watch { song.isDeleted }
    let songs = Watch { list.songs.count }
    let title = Watch { song.title }
    let other = Watch { list.title }
    try context.delete(song)
    #expect(isDeleted.values == [false, true])
    #expect(songs.values == [1, 0])
    try context.save()
    #expect(isDeleted.count == 1)
    #expect(songs.count == 1)
    #expect(title.count == 0)
    #expect(other.count == 0)
    try context.undo()
    #expect(isDeleted.values == [false, true, false])
    #expect(songs.values == [1, 0, 1])
  }

  @Test("Deleting an owner notifies the observers of inverse relationships") func deletedOwner()
    throws
  {
    let playlists = Watch { song.playlists.count }
    try context.delete(list)
    #expect(playlists.values == [1, 0])
    context.rollback()
    #expect(playlists.values == [1, 0, 1])
  }

  @Test("Undo and redo notify what they change, once") func undo() throws {
    try context.undoGroup(named: "Edit") {
      song.title = "Tonic"
      song.seconds = 61
      song.title = "Rum"
      list.songs = []
    }
    let title = Watch { song.title }
    let songs = Watch { list.songs.count }
    let playlists = Watch { song.playlists.count }
    let other = Watch { list.title }
    try context.undo()
    #expect(title.values == ["Rum", "Gin"])
    #expect(songs.values == [0, 1])
    #expect(playlists.values == [0, 1])
    try context.redo()
    #expect(title.values == ["Rum", "Gin", "Rum"])
    #expect(songs.values == [0, 1, 0])
    #expect(playlists.values == [0, 1, 0])
    #expect(other.count == 0)
  }

  @Test("A rollback notifies the observers of what it takes back") func rollback() {
    let title = Watch { song.title }
    let seconds = Watch { song.seconds }
    let hasChanges = Watch { song.hasChanges }
    song.title = "Tonic"
    context.rollback()
    #expect(title.values == ["Gin", "Tonic", "Gin"])
    #expect(hasChanges.values == [false, true, false])
    #expect(seconds.count == 0)
  }

  @Test("Saving notifies only the observers of hasChanges and objectID") func saving() throws {
    let new = try context.insert(Song("New"))
    let title = Watch { new.title }
    let hasChanges = Watch { new.hasChanges }
    let id = Watch { new.objectID }
    try context.save()
    #expect(title.count == 0)
    #expect(hasChanges.values == [true, false])
    #expect(id.values == [nil, new.objectID])
  }

  @Test("A refresh notifies the observers of what others have changed") func refresh() throws {
    let title = Watch { song.title }
    let seconds = Watch { song.seconds }
    try other { try $0.find(Song.self).first()?.title = "Tonic" }
    #expect(title.count == 0)
    context.refreshAll()
    #expect(title.values == ["Gin", "Tonic"])
    #expect(seconds.count == 0)
    context.refresh(song)
    #expect(title.count == 1)
  }

  @Test("A query notifies the observers of what others have changed") func query() throws {
    let title = Watch { song.title }
    try other { try $0.find(Song.self).first()?.title = "Tonic" }
    _ = try context.all(Song.self)
    #expect(title.values == ["Gin", "Tonic"])
  }

  @Test("After a refresh, an object that others deleted is deleted") func refreshDeleted() throws {
    let isDeleted = Watch { song.isDeleted }
    let songs = Watch { list.songs.count }
    try store[Song.self].documents.find().delete()
    context.refreshAll()
    #expect(isDeleted.values == [false, true])
    #expect(songs.values == [1, 0])
    #expect(song.title == "Gin")
  }

  @Test("A refresh notifies the observers of inverse relationships that others have changed")
  func refreshInverse() throws {
    let playlists = Watch { song.playlists.map(\.title) }
    try other { other in
      try other.insert(Playlist("Street", try other.all(Song.self)))
    }
    context.refreshAll()
    #expect(playlists.values == [["Road"], ["Road", "Street"]])
  }

  // MARK: The context

  @Test("canUndo, undoName and hasUnsavedChanges are observed") func contextStatus() throws {
    let canUndo = Watch { context.canUndo }
    let canRedo = Watch { context.canRedo }
    let name = Watch { context.undoName }
    let redoName = Watch { context.redoName }
    let unsaved = Watch { context.hasUnsavedChanges }
    try context.undoGroup(named: "Rename") { song.title = "Tonic" }
    #expect(canUndo.values == [false, true])
    #expect(name.values == [nil, "Rename"])
    #expect(unsaved.values == [false, true])
    song.seconds = 61
    #expect(name.values == [nil, "Rename", nil])
    try context.save()
    #expect(unsaved.values == [false, true, false])
    #expect(canUndo.count == 1)
    try context.undo()
    try context.undo()
    #expect(canUndo.values == [false, true, false])
    #expect(redoName.values == [nil, nil, "Rename"] || redoName.values == [nil, "Rename"])
    #expect(canRedo.values == [false, true])
    try context.removeAllUndoActions()
    #expect(canRedo.values == [false, true, false])
  }

  @Test("Observers that read during a notification find the context at rest") func reentrant()
    throws
  {
    let other = try context.insert(Song("Other", 1))
    try context.save()
    // Each observer reads both objects.
    let first = Watch { [song.title, other.title, "\(song.hasChanges)"] }
    let second = Watch { [other.title, song.title, "\(other.isDeleted)"] }
    try context.undoGroup {
      song.title = "a"
      other.title = "b"
    }
    try context.undo()
    #expect(first.values.last == ["Gin", "Other", "true"])
    #expect(second.values.last == ["Other", "Gin", "false"])
    try context.redo()
    #expect(first.values.last == ["a", "b", "true"])
    try context.save()
    #expect(first.values.last == ["a", "b", "false"])
  }

  @Test("Objects and their observers can outlive the context, and each other") func lifetimes()
    throws
  {
    var object: Song?
    do {
      let short = ObjectContext(store)
      object = try short.all(Song.self).first
      let title = Watch { object?.title }
      #expect(title.values == ["Gin"])
    }
    #expect(object?.title == "Gin")
    object = nil
    let again = try context.insert(Song("a"))
    _ = Watch { again.title }
    context.close()
    again.title = "b"
    #expect(again.title == "b")
  }
}

extension Song {
  fileprivate var line: String { "\(title) \(seconds)" }
}
