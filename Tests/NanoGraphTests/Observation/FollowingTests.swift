// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Observation
import Testing

@Suite("Contexts that follow the store") @MainActor
struct FollowingTests {
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
  }

  /// Waits until a condition holds; the tests check what else has happened in the meantime.
  private func wait(
    until condition: () throws -> Bool, _ location: SourceLocation = #_sourceLocation
  ) async throws {
    // Limited by attempts: on a busy machine, minutes may pass between two of them.
    for _ in 0..<40_000 {
      if try condition() { return }
      try await Task.sleep(for: .milliseconds(5))
    }
    Issue.record("The condition did not become true", sourceLocation: location)
  }

  private func other(_ change: (ObjectContext) throws -> Void) throws {
    let other = ObjectContext(store, isLive: false)
    try change(other)
    try other.save()
  }

  @Test(
    "A commit of another context refreshes the objects, and wakes the observers of what it changed")
  func otherContext() async throws {
    let title = Watch { song.title }
    let seconds = Watch { song.seconds }
    let listTitle = Watch { list.title }
    try other { try $0.find(Song.self).first()?.title = "Tonic" }
    try await wait { title.count == 1 }
    #expect(title.values == ["Gin", "Tonic"])
    #expect(seconds.count == 0)
    #expect(listTitle.count == 0)
    #expect(!song.hasChanges)
  }

  @Test("Objects without observers are refreshed too") func unobserved() async throws {
    try other { try $0.find(Song.self).first()?.title = "Tonic" }
    try await wait { song.title == "Tonic" }
  }

  @Test("Writes of collection methods and of SQL are followed") func collections() async throws {
    let seconds = Watch { song.seconds }
    try await store["Song"].find("[title] = 'Gin'").update(.set("seconds", 61))
    try await wait { seconds.values.last == 61 }
    try await store["Song"].find("[title] = 'Gin'").update(.set("seconds", 62))
    try await wait { seconds.values.last == 62 }
    #expect(seconds.count <= 2)
  }

  @Test("An object with unsaved changes keeps them, and the save reports the conflict")
  func conflict() async throws {
    let title = Watch { song.title }
    let listTitle = Watch { list.title }
    song.title = "Mine"
    try other {
      try $0.find(Song.self).first()?.title = "Theirs"
      try $0.find(Playlist.self).first()?.title = "Street"
    }
    try await wait { listTitle.values.last == "Street" }
    #expect(title.values == ["Gin", "Mine"])
    #expect(throws: ObjectConflictError.self) { try context.save() }
    context.conflictPolicy = .overwrite
    try await context.save()
    #expect(try await store["Song"].find("[title] = 'Mine'").count() == 1)
  }

  @Test("An object that others delete says so, and leaves relationships") func deletion()
    async throws
  {
    let isDeleted = Watch { song.isDeleted }
    let songs = Watch { list.songs.count }
    try other { other in
      for song in try other.all(Song.self) { try other.delete(song) }
    }
    try await wait { isDeleted.count > 0 && songs.count > 0 }
    #expect(isDeleted.values == [false, true])
    #expect(songs.values == [1, 0])
    #expect(song.context == nil)
  }

  /// Deletes a song in another context, which can undo it.
  private func deleteElsewhere(_ title: String) throws -> ObjectContext {
    let other = ObjectContext(store, isLive: false)
    try other.delete(try #require(try other.find(\Song.title == title).first()))
    try other.save()
    return other
  }

  private func undoAndSave(_ other: ObjectContext) throws {
    #expect(try other.undo())
    try other.save()
  }

  private func storedSongs() throws -> [String] {
    let other = ObjectContext(store, isLive: false)
    return try other.all(Playlist.self).flatMap { $0.songs.map(\.title) }
  }

  @Test("An object that others delete and restore returns to relationships, and saves keep it")
  func restoration() async throws {
    let isDeleted = Watch { song.isDeleted }
    let songs = Watch { list.songs.map(\.title) }
    let other = try deleteElsewhere("Gin")
    try await wait { songs.values.last == [] && isDeleted.values.last == true }

    try undoAndSave(other)

    try await wait { songs.values.last == ["Gin"] && isDeleted.values.last == false }
    #expect(isDeleted.values == [false, true, false])
    #expect(list.songs.first === song && song.playlists.first === list)
    let id = try #require(song.objectID)
    let found = try await context.get(id)
    #expect(found === song)
    list.title = "Street"
    try await context.save()
    #expect(try storedSongs() == ["Gin"])
  }

  @Test("An object that others delete and restore is found again if it is not in memory")
  func unheldRestoration() async throws {
    list.songs.append(Song("Tonic"))
    try await context.save()
    weak var tonic: Song?
    tonic = list.songs[1]
    let other = try deleteElsewhere("Tonic")
    try await wait { list.songs.count == 1 && tonic == nil }

    try undoAndSave(other)

    try await wait { list.songs.map(\.title) == ["Gin", "Tonic"] }
    list.title = "Street"
    try await context.save()
    #expect(try storedSongs() == ["Gin", "Tonic"])
  }

  @Test("Relationships that others change are followed at both ends") func relationships()
    async throws
  {
    let playlists = Watch { song.playlists.map(\.title) }
    try other { try $0.insert(Playlist("Street", try $0.all(Song.self))) }
    try await wait { playlists.values.last == ["Road", "Street"] }
    let songs = Watch { list.songs.count }
    try other { other in
      try other.find(\Playlist.title == "Road").first()?.songs = []
    }
    try await wait { playlists.values.last == ["Street"] }
    #expect(songs.values == [1, 0])
    #expect(playlists.count == 2)
  }

  @Test("The context's own saves wake nobody") func ownSaves() async throws {
    let title = Watch { song.title }
    let playlists = Watch { song.playlists.count }
    song.seconds = 61
    try await context.save()
    try other { try $0.find(Playlist.self).first()?.title = "Street" }
    try await wait { list.title == "Street" }
    #expect(title.count == 0)
    #expect(playlists.count == 0)
  }

  @Test("A context on another actor follows the store too") func otherActor() async throws {
    let library = Library(store)
    try await library.begin()
    try other { try $0.find(Song.self).first()?.title = "Tonic" }
    for _ in 0..<40_000 where await library.titles.last != "Tonic" {
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(await library.titles == ["Gin", "Tonic"])
  }

  @Test("Observations reports the changes of objects") func observations() async throws {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let song = song
    let observed = Task { @MainActor in
      var titles: [String] = []
      for await title in Observations({ song.title }) {
        titles.append(title)
        if title == "End" { break }
        song.title = titles.count == 1 ? "Middle" : "End"
      }
      return titles
    }
    #expect(await observed.value == ["Gin", "Middle", "End"])
  }

  @Test("An object whose document could not be read is refreshed by the commit that repairs it")
  func repaired() async throws {
    let title = Watch { song.title }
    let id = try #require(song.objectID).rowID
    var failures = 0
    context.loadFailureHandler = { _, _ in failures += 1 }
    try await store[Song.collectionName].update(rowID: id, set: ["title": 7])
    try await wait { failures > 0 }
    #expect(song.title.isEmpty)

    try await store[Song.collectionName].update(rowID: id, set: ["title": "Tonic"])

    try await wait { song.title == "Tonic" }
    #expect(title.values.last == "Tonic")
  }

  @Test("An actor that owns a context, and is released, releases both")
  func releasedActor() async throws {
    weak var released: Library?
    do {
      let library = Library(store)
      try await library.begin()
      released = library
    }
    for _ in 0..<40_000 where released != nil { try await Task.sleep(for: .milliseconds(5)) }
    #expect(released == nil)
  }

  @Test("A context that is released stops following, and does not keep the store open")
  func released() async throws {
    weak var released: ObjectContext?
    do {
      let short = ObjectContext(store)
      _ = try await short.all(Song.self)
      released = short
    }
    #expect(released == nil)
  }
}

private actor Library {
  private let store: Store
  private var context: ObjectContext?
  private var song: Song?
  private var title: Watch<String?>?
  var titles: [String?] { title?.values ?? [] }

  init(_ store: Store) { self.store = store }

  func begin() async throws {
    // In the initializer of an actor, nothing is isolated to it.
    let context = ObjectContext(store)
    self.context = context
    let song = try await context.all(Song.self).first
    self.song = song
    title = Watch { song?.title }
  }
}
