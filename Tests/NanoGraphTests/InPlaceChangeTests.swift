// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Changes of lists in place")
struct InPlaceChangeTests {
  private let store: Store
  private let context: ObjectContext
  private let list: Playlist

  /// Stores two lists, whose objects the context has not read yet.
  init() throws {
    store = try anyStore()
    let first = ObjectContext(store)
    let (gin, tonic) = (Song("Gin", 1), Song("Tonic", 2))
    let road = try first.insert(Playlist("Road", [tonic, gin]))
    try first.insert(Playlist("Bar", [tonic]))
    try first.save()
    context = ObjectContext(store)
    let id = try #require(road.objectID)
    list = try #require(try context.get(id))
  }

  private func stored() throws -> [String] {
    let lists = try ObjectContext(store).all(Playlist.self)
    return lists.map { list in list.songs.map(\.title).joined(separator: ",") }
  }

  @Test(
    "The code may read the inverse of the relationship, which has the objects before the change")
  func inverse() throws {
    list.songs.sort { $0.playlists.count < $1.playlists.count }
    #expect(list.songs.map(\.title) == ["Gin", "Tonic"])
    list.songs.removeAll { song in
      #expect(song.playlists.contains { $0 === list })
      return song.playlists.count > 1
    }
    #expect(list.songs.map(\.title) == ["Gin"])
    try context.save()
    #expect(try stored() == ["Gin", "Tonic"])
    let tonic = try #require(try context.all(Song.self).first { $0.title == "Tonic" })
    #expect(tonic.playlists.map(\.title) == ["Bar"])
  }

  @Test("The code may run queries, which find the objects before the change")
  func query() throws {
    list.title = "Street"
    try list.songs.removeAll { song in
      let lists = try context.all(Playlist.self)
      return lists.contains { $0 !== list && $0.songs.contains { $0 === song } }
    }
    #expect(list.songs.map(\.title) == ["Gin"])
    try context.save()
    #expect(try stored() == ["Gin", "Tonic"])
  }

  @Test("A list without a context can be changed in place")
  func withoutContext() throws {
    let new = Playlist("New")
    for title in ["a", "b"] { new.songs.append(Song(title)) }
    new.songs.swapAt(0, 1)
    #expect(new.songs.map(\.title) == ["b", "a"])
    try context.insert(new)
    new.songs.reverse()
    try context.save()
    #expect(try stored().last == "a,b")
  }

  @Test("A deleted object does not come back into a list from which others have removed it")
  func deletedFromChangedList() throws {
    let (here, there) = (
      ObjectContext(store, isLive: false), ObjectContext(store, isLive: false)
    )
    let id = try #require(list.objectID)
    let mine = try #require(try here.get(id))
    let theirs = try #require(try there.get(id))
    let tonic = mine.songs[0]
    theirs.songs.removeFirst()
    try there.save()

    try here.delete(tonic)
    #expect(mine.songs.map(\.title) == ["Gin"])
    try here.save()

    #expect(mine.songs.map(\.title) == ["Gin"])
    here.conflictPolicy = .overwrite
    mine.title = "Street"
    try here.save()
    let document = try #require(try store[Playlist.collectionName].get(rowID: id.rowID))
    #expect(document["title"] == "Street")
    #expect(document["songs"]?.array?.count == 1)
  }
}
