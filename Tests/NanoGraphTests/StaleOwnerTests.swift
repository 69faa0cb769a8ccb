// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Owners whose documents others have changed")
struct StaleOwnerTests {
  private let store: Store
  /// Contexts that do not follow the store.
  private let here: ObjectContext
  private let there: ObjectContext

  init() throws {
    store = try anyStore()
    here = ObjectContext(store, isLive: false)
    there = ObjectContext(store, isLive: false)
  }

  private func tracks() throws -> [String: [String]] {
    var tracks: [String: [String]] = [:]
    for album in try ObjectContext(store, isLive: false).all(Album.self) {
      tracks[album.title] = album.tracks.map(\.title)
    }
    return tracks
  }

  /// Stores two albums and a track, which is not on one of them, and reads both albums here before another context adds
  /// the track to the first.
  private func albums() throws -> (first: Album, second: Album, track: Song) {
    let track = try there.insert(Song("Gin"))
    let albums = try ["first", "second"].map { try there.insert(Album($0)) }
    try there.save()
    let mine = try here.all(Album.self)
    #expect(mine.map(\.tracks.count) == [0, 0])
    albums[0].tracks = [track]
    try there.save()
    return (mine[0], mine[1], try #require(try here.all(Song.self).first))
  }

  @Test(
    "A target that is removed through its inverse leaves an owner that has gained it since it was read"
  )
  func removedThroughInverse() throws {
    let (first, _, track) = try albums()
    #expect(track.album === first)

    track.album = nil
    try here.save()

    #expect(first.tracks.isEmpty && track.album == nil)
    #expect(try tracks() == ["first": [], "second": []])
  }

  @Test(
    "A target with one owner moves from an owner that has gained it since it was read",
    arguments: [true, false])
  func moved(isThroughInverse: Bool) throws {
    let (first, second, track) = try albums()

    if isThroughInverse { track.album = second } else { second.tracks.append(track) }
    try here.save()

    #expect(first.tracks.isEmpty && track.album === second)
    #expect(try tracks() == ["first": [], "second": ["Gin"]])
  }

  @Test(
    "A deleted object that a conflict keeps loses its references to the objects that are deleted with it"
  )
  func keptAfterCascade() throws {
    let album = try here.insert(Album("first", [Song("Gin"), Song("Tonic")]))
    try here.save()
    let theirs = try #require(try there.all(Album.self).first)
    theirs.title = "renamed"
    try there.save()

    here.conflictPolicy = .keepStored
    try here.delete(album)
    try here.save()

    #expect(try tracks() == ["renamed": []])
    #expect(!album.isDeleted && album.title == "renamed" && album.tracks.isEmpty)
    #expect(try here.all(Song.self).isEmpty)
  }

  @Test(
    "A changed object that a conflict keeps or merges loses its references to deleted objects",
    arguments: [true, false])
  func conflictWithDeletion(merges: Bool) throws {
    let (gin, tonic) = (Song("Gin"), Song("Tonic"))
    let list = try here.insert(Playlist("mine", [gin, tonic]))
    try here.save()
    let theirs = try #require(try there.all(Playlist.self).first)
    theirs.title = "theirs"
    try there.save()

    here.conflictPolicy = merges ? .merge { $0.stored } : .keepStored
    list.title = "changed"
    try here.delete(gin)
    try here.save()

    #expect(list.title == "theirs" && list.songs.map(\.title) == ["Tonic"])
    let fresh = try #require(try ObjectContext(store).all(Playlist.self).first)
    #expect(fresh.songs.map(\.title) == ["Tonic"])
    list.title = "again"
    try here.save()
    let document = try #require(try store[Playlist.collectionName].find().fetch().first)
    #expect(document["songs"]?.array?.count == 1)
  }

  @Test(
    "A deleted object is not in a list or property that is first read afterward",
    arguments: [true, false])
  func readAfterDeletion(changes: Bool) throws {
    let list = try there.insert(Playlist("List", [Song("Gin"), Song("Tonic")]))
    list.cover = Picture("cover")
    try there.save()
    let mine = try #require(try here.all(Playlist.self).first)
    let (gin, cover) = try (
      #require(here.all(Song.self).first), #require(here.all(Picture.self).first)
    )
    list.songs.removeFirst()
    list.cover = nil
    try there.save()

    here.conflictPolicy = .overwrite
    if changes { mine.title = "Mine" }
    try here.delete(gin)
    try here.delete(cover)
    try here.save()

    #expect(mine.songs.map(\.title) == ["Tonic"] && mine.cover == nil)
    mine.title = "Later"
    try here.save()
    let document = try #require(try store[Playlist.collectionName].find().fetch().first)
    #expect(document["songs"]?.array?.count == 1 && document["cover"] == nil)
  }

  @Test(
    "A new object that was deleted before its first save does not return to a list when it is inserted"
  )
  func insertedAgain() throws {
    let list = try here.insert(Playlist("List"))
    try here.save()
    let song = Song("Gin")
    list.songs.append(song)
    try here.delete(song)
    try here.save()

    try here.insert(song)

    #expect(list.songs.isEmpty && song.playlists.isEmpty)
    try here.save()
    #expect(try ObjectContext(store).all(Playlist.self).map(\.songs.count) == [0])
    #expect(try ObjectContext(store).all(Song.self).map(\.title) == ["Gin"])
  }

  @Test("Undo skips the insertion of an object that others have deleted", arguments: [true, false])
  func undoOfDeletedElsewhere(isHeld: Bool) throws {
    try here.insert(Picture("first"))
    try here.save()
    var song: Song? = try here.insert(Song("Gin"))
    try here.save()
    try there.delete(#require(there.all(Song.self).first))
    try there.save()
    if isHeld {
      here.conflictPolicy = .keepStored
      song?.title = "Tonic"
      try here.save()
      #expect(song?.isDeleted == true)
      #expect(try here.undo())
    } else {
      song = nil
    }

    #expect(try here.undo())
    #expect(try here.undo())
    #expect(try here.redo())
    #expect(try here.redo())
    try here.save()

    #expect(try there.all(Song.self).isEmpty)
    #expect(try ObjectContext(store).all(Picture.self).count == 1)
  }

  @Test("Deleting an object leaves the content of owners of other objects of any class")
  func otherOwners() throws {
    let playlist = try there.insert(Playlist("kept"))
    playlist.things = [try there.insert(Song("thing"))]
    playlist.anything = playlist.things[0]
    try there.insert(Song("other"))
    try there.save()
    let mine = try #require(try here.all(Playlist.self).first)
    #expect(mine.title == "kept")
    try there.delete(playlist)
    try there.save()

    try here.delete(#require(try here.all(Song.self).first { $0.title == "other" }))
    try here.save()

    #expect(mine.title == "kept")
  }

  @Test(
    "Objects whose deletion an undo takes back, because the store is closed, are not deleted",
    .sqlite)
  func undoTakenBack() throws {
    let scratch = try Scratch()
    let store = try Store(.file(scratch.file("a.db")))
    let context = ObjectContext(store, isLive: false)
    let held = try context.undoGroup {
      try context.insert(Song("released"))
      return try context.insert(Song("held"))
    }
    try context.save()
    try store.close()

    #expect(throws: StoreError.self) { try context.undo() }

    #expect(!held.isDeleted)
    try store.reopen()
    try context.save()
    #expect(try context.all(Song.self).count == 2)
    #expect(try context.undo())
    try context.save()
    #expect(try context.all(Song.self).isEmpty)
  }
}
