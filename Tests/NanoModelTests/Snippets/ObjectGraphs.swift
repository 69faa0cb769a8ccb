// SPDX-License-Identifier: MIT

import NanoStoreModels
import Testing

/// In a type of its own, since other articles have songs too.
enum ObjectsArticle {
  @Model final class Song {
    var title: String
    var seconds = 0
    @Inverse var playlists: [Playlist]

    init(_ title: String) { self.title = title }
  }

  @Model final class Playlist {
    var title: String
    @Relationship(inverse: \Song.playlists) var songs: [Song] = []

    init(_ title: String) { self.title = title }
  }
}

@Suite("Code in the article Graphs of objects")
struct ObjectsSnippets {
  private typealias Song = ObjectsArticle.Song
  private typealias Playlist = ObjectsArticle.Playlist

  @Test("The code runs")
  func code() async throws {
    let store = try Store(.memory)
    let context = ObjectContext(store)
    let road = try context.insert(Playlist("Road"))
    road.songs = [Song("Gin"), Song("Tonic")]
    try await context.save()

    road.songs[0].title = "Gin and Tonic"
    road.songs.swapAt(0, 1)
    print(context.hasUnsavedChanges)  // true
    try await context.save()
    #expect(!context.hasUnsavedChanges)

    let found = try await context.find(\Playlist.title == "Road").first()
    print(found === road)  // true
    let other = ObjectContext(store)
    let again = try await other.get(road.objectID!)!
    print(again.related(\.songs).last!.title)  // Gin and Tonic
    print(again.songs[0].isFault)  // true
    print(again.songs[0].title)  // Tonic
    #expect(again.related(\.songs).last?.title == "Gin and Tonic")
    #expect(found === road && again.songs.map(\.title) == ["Tonic", "Gin and Tonic"])

    try context.undoGroup(named: "Rename") {
      road.title = "Street"
      try context.delete(road.songs[0])
    }
    try context.undo()
    print(road.title, road.songs.count)  // Road 2
    try context.redo()
    print(road.title, road.songs.count)  // Street 1
    #expect(road.title == "Street" && road.songs.count == 1)

    context.conflictPolicy = .merge { conflict in
      var fields = conflict.stored ?? [:]
      fields["title"] = conflict.mine?["title"]
      return fields
    }
    try await context.save()

    let long = try await context.find(\Song.seconds > 600).sorted(by: \.title).limit(20).fetch()
    let lists = try await context.find(Playlist.self) { $0.songs.contains(road.songs[0]) }.fetch()
    try context.find(Song.self).each { song in
      print(song.title)
      return song.seconds < 600  // return false to stop
    }
    #expect(long.isEmpty && lists.map(\.title) == ["Street"])
  }

  @Test("The code with await runs")
  func awaiting() async throws {
    let store = try Store(.memory)
    let library = ObjectActor(store)
    let id = try await library.perform { context in
      let song = try context.insert(Song("Soda"))
      try context.save()
      return song.objectID!
    }
    #expect(id.rowID == 1)
  }
}
