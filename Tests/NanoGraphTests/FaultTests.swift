// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Faults and identity")
struct FaultTests {
  private let store: Store

  init() throws {
    store = try anyStore()
    let context = ObjectContext(store)
    let songs = (1...300).map { Song("song \($0)", $0) }
    try context.insert(Playlist("All", songs))
    try context.insert(Playlist("Some", Array(songs[0..<3])))
    try context.save()
  }

  @Test("The songs of a fetched playlist are faults until they are accessed")
  func lazy() throws {
    let context = ObjectContext(store)
    let list = try #require(try context.find(\Playlist.title == "Some").first())
    #expect(!list.isFault)
    let songs = list.songs
    let faults = songs.map(\.isFault)
    #expect(faults == [true, true, true])
    #expect(songs[0].title == "song 1")
    #expect(!songs[0].isFault)
  }

  @Test("The second fault accessed in a list loads its neighbors, and the first one does not")
  func neighbors() throws {
    let context = ObjectContext(store)
    let songs = try #require(try context.find(\Playlist.title == "All").first()).songs
    _ = songs[0].title
    #expect(songs.filter(\.isFault).count == 299)
    _ = songs[1].title
    #expect(songs.filter(\.isFault).count == 199)
    #expect(songs.map(\.seconds) == Array(1...300))
  }

  @Test("A document that does not match the class does not affect the neighbors of its object")
  func badNeighbor() throws {
    try store["Song"].update(rowID: 50, set: ["title": 7])
    let context = ObjectContext(store)
    let songs = try #require(try context.find(\Playlist.title == "All").first()).songs
    _ = songs[0].title

    #expect(songs[1].title == "song 2")

    #expect(songs.filter(\.isFault).count == 200 && songs[49].isFault)
    let error = #expect(throws: StoreError.self) { try songs[49].load() }
    #expect(error?.code == .typeMismatch && error?[.rowID] == "50")
  }

  @Test(
    "Loading an object of a list again repeats the error of its document, until that is changed")
  func loadedAgain() throws {
    try store["Song"].update(rowID: 2, set: ["title": 7])
    let context = ObjectContext(store)
    let songs = try #require(try context.find(\Playlist.title == "All").first()).songs
    _ = songs[0].title
    #expect(songs[1].title == "")

    let error = #expect(throws: StoreError.self) { try songs[1].load() }
    #expect(error?.code == .typeMismatch)

    try store["Song"].update(rowID: 2, set: ["title": "b"])
    try songs[1].load()
    #expect(songs[1].title == "b")
  }

  @Test("prefetch loads a relationship of many objects at once")
  func prefetch() throws {
    let context = ObjectContext(store)
    let lists = try context.all(Playlist.self)
    try context.prefetch(\.songs, of: lists)
    #expect(lists.flatMap(\.songs).allSatisfy { !$0.isFault })
  }

  @Test("A context has one instance per document, and different contexts have different instances")
  func identity() throws {
    let context = ObjectContext(store)
    let song = try #require(try context.find(\Song.seconds == 2).first())
    let lists = try context.all(Playlist.self)
    #expect(lists.allSatisfy { $0.songs[1] === song })
    let id = try #require(song.objectID)
    #expect(try context.get(id) === song)
    #expect(context.fault(id) === song)
    #expect(try context.get(AnyObjectID(id)) === song)
    #expect(try ObjectContext(store).get(id) !== song)
    #expect(try ObjectContext(store).get(id)?.title == "song 2")
  }

  @Test(
    "Unchanged objects are released with their last reference, changed ones after they are saved")
  func lifetime() throws {
    let context = ObjectContext(store)
    func find() throws -> Song? { try context.find(\Song.seconds == 1).first() }
    weak let clean = try find()
    #expect(clean == nil)
    weak var changed: Song?
    do {
      let song = try #require(try context.find(\Song.seconds == 2).first())
      song.title = "changed"
      changed = song
    }
    #expect(changed != nil)
    try context.save()
    #expect(changed == nil)
    #expect(try context.find(\Song.seconds == 2).first()?.title == "changed")
  }

  @Test("Objects in reference cycles are released with the context")
  func referenceCycles() throws {
    weak var list: Playlist?
    weak var song: Song?
    do {
      let context = ObjectContext(store)
      list = try context.find(\Playlist.title == "Some").first()
      let found = try #require(try context.find(\Playlist.title == "Some").first())
      list = found
      song = found.songs[0]
      #expect(song?.playlists.contains { $0 === found } == true)
    }
    #expect(list == nil)
    #expect(song == nil)
  }

  @Test("Objects that outlive their context can be read, and are not saved")
  func outlived() throws {
    func find() throws -> Playlist {
      try #require(try ObjectContext(store).find(\Playlist.title == "Some").first())
    }
    weak var song: Song?
    do {
      let list = try find()
      #expect(list.context == nil)
      #expect(list.songs.map(\.title) == ["song 1", "song 2", "song 3"])
      #expect(list.songs[0].playlists.map(\.title) == ["All", "Some"])
      let first = list.songs[0]
      #expect(list.songs[0] === first)
      song = first
      first.title = "changed"
    }
    #expect(song == nil)
    #expect(try ObjectContext(store).find(\Song.title == "changed").count() == 0)
  }

  @Test("A closed context has no objects, and its objects keep their values")
  func closed() throws {
    let context = ObjectContext(store)
    let list = try #require(try context.find(\Playlist.title == "Some").first())
    let song = list.songs[1]
    _ = song.title
    context.close()
    #expect(song.title == "song 2" && song.context == nil)
    #expect(list.songs.isEmpty)
    #expect(!context.hasUnsavedChanges)
    #expect(try context.all(Playlist.self).count == 2)
  }

  @Test(
    "An object whose document was deleted has its first values, is reported, and conflicts if changed"
  )
  func missing() throws {
    let context = ObjectContext(store)
    var failures: [(AnyObjectID, StoreError.Code?)] = []
    context.loadFailureHandler = { failures.append(($0, ($1 as? StoreError)?.code)) }
    let song = try #require(try context.find(Playlist.self).first()).songs[5]
    let id = try #require(song.objectID)
    try store["Song"].delete(rowID: id.rowID)
    let error = #expect(throws: StoreError.self) { try song.load() }
    #expect(error?.code == .notFound && error?[.rowID] == "6")
    #expect(song.title == "")
    #expect(failures.map(\.0) == [AnyObjectID(id)])
    #expect(failures.first?.1 == .notFound)
    #expect(!context.hasUnsavedChanges)
    song.title = "lost"
    #expect(context.hasUnsavedChanges)
    #expect(throws: ObjectConflictError.self) { try context.save() }
    #expect(try context.get(id) == nil)
    #expect(try store["Song"].count() == 299)
  }

  @Test("A property without a default value has a placeholder if the document cannot be loaded")
  func placeholder() throws {
    let context = ObjectContext(store)
    let list = try #require(try context.find(Playlist.self).faults().first)
    let id = try #require(list.objectID)
    try store["Playlist"].delete(rowID: id.rowID)

    let title = list.title

    #expect(title == "")
  }

  @Test("A document that does not match the class is an error with its location")
  func wrongType() throws {
    try store["Song"].insert(json: #"{"title":7,"seconds":1}"#)
    let error = #expect(throws: StoreError.self) {
      try ObjectContext(store).find(\Song.seconds == 1).fetch()
    }
    #expect(error?.code == .typeMismatch && error?[.field] == "title")
    #expect(error?[.rowID] == "301" && error?[.collection] == "Song")
  }

  @Test("Refreshing reads changes made elsewhere and preserves unsaved changes")
  func refresh() throws {
    let context = ObjectContext(store)
    let songs = try context.find(\Song.seconds <= 2).fetch()
    songs[1].title = "mine"
    let other = ObjectContext(store)
    for song in try other.find(\Song.seconds <= 2).fetch() { song.title = "theirs" }
    try other.save()
    #expect(songs.map(\.title) == ["song 1", "mine"])
    context.refreshAll()
    #expect(songs.map(\.title) == ["theirs", "mine"])
    context.refresh(songs[1])
    #expect(songs[1].title == "mine")
  }

  @Test("Fetching refreshes unchanged objects and preserves unsaved changes", .sqlite)
  func fetching() throws {
    let context = ObjectContext(store)
    let songs = try context.find(\Song.seconds <= 2).fetch()
    songs[1].title = "mine"
    try store.execute(#"UPDATE "Song" SET body = '{"title":"theirs","seconds":1}' WHERE id = 1"#)
    let again = try context.find(\Song.seconds <= 2).fetch()
    #expect(again.map(\.title) == ["theirs", "mine"])
    #expect(again[0] === songs[0])
  }

  @Test("Enumerating stops when the closure returns false, and retains no objects")
  func enumerate() throws {
    let context = ObjectContext(store)
    var titles: [String] = []
    weak var former: Song?
    try context.find(Song.self).sorted(by: \.seconds).each { song in
      if !titles.isEmpty { #expect(former == nil) }
      titles.append(song.title)
      former = song
      return titles.count < 3
    }
    #expect(titles == ["song 1", "song 2", "song 3"])
  }

  @Test(
    "Queries return objects by condition, order, page, closure, predicate, key, id and as faults")
  func queries() throws {
    let context = ObjectContext(store)
    let query = context.find(\Song.seconds > 290).sorted(using: .reverse(\.seconds)).limit(
      2, offset: 1)
    #expect(try query.fetch().map(\.seconds) == [299, 298])
    #expect(try query.count() == 2)
    #expect(try context.find(Song.self) { $0.title.hasPrefix("song 30") }.count() == 2)
    #expect(try context.find(#Predicate<Song> { $0.seconds == 4 }).first()?.title == "song 4")
    let first = try #require(try context.find(\Song.seconds == 1).first())
    #expect(try context.find(Playlist.self) { $0.songs.contains(first) }.count() == 2)
    let ids = try context.find(\Song.seconds < 3).objectIDs()
    #expect(ids.map(\.rowID) == [1, 2])
    #expect(try context.find(\Song.seconds == 9).faults().map(\.isFault) == [true])
    #expect(try context.search(Song.self, "300").fetch().map(\.seconds) == [300])
    try context.insert(Picture("cover"))
    try context.save()
    #expect(try context.get(Picture.self, key: "cover")?.name == "cover")
    #expect(try context.get(Picture.self, key: "none") == nil)
  }
}
