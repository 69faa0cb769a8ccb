// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Observation
import Synchronization
import Testing

@testable import NanoGraph

@Suite("Related objects that are created when they are accessed")
struct LazyRelationshipTests {
  private let store: Store

  init() throws {
    store = try anyStore()
    let context = ObjectContext(store)
    try context.insert(Playlist("All", (1...300).map { Song("song \($0)", $0) }))
    try context.insert(Playlist("None"))
    try context.save()
  }

  private func playlist(_ context: ObjectContext, _ title: String = "All") throws -> Playlist {
    try #require(try context.find(\Playlist.title == title).first())
  }

  /// Returns the number of songs that the context has in memory.
  private func live(_ context: ObjectContext) -> Int { context.table(Song.self).map.count }

  @Test("The number of elements creates no object, and an element creates one")
  func one() throws {
    let context = ObjectContext(store)
    let songs = try playlist(context).related(\.songs)
    #expect(songs.count == 300)
    #expect(live(context) == 0)
    #expect(songs[7].title == "song 8")
    #expect(songs.last?.seconds == 300)
    #expect(live(context) == 1)
  }

  @Test("Elements read in order are loaded in growing steps and released")
  func inOrder() throws {
    let context = ObjectContext(store)
    let songs = try playlist(context).related(\.songs)
    var loaded: [Int] = []
    var seconds: [Int] = []
    for (index, song) in songs.enumerated() {
      if !song.isFault, loaded.last != index { loaded.append(index) }
      seconds.append(song.seconds)
    }
    #expect(seconds == Array(1...300))
    // Only the first one is a fault when it is reached.
    #expect(loaded == Array(1...299))
    #expect(live(context) <= 100)
    #expect(songs.reversed().map(\.seconds) == Array((1...300).reversed()))
  }

  @Test(
    "Elements are the instances of the context, with unsaved changes and without deleted objects")
  func identity() throws {
    let context = ObjectContext(store, undoLevels: 10)
    let list = try playlist(context)
    let third = try #require(try context.find(\Song.seconds == 3).first())
    third.title = "changed"
    let songs = list.related(\.songs)
    #expect(songs[2] === third)
    #expect(songs[2].title == "changed")
    #expect(songs[4] === songs[4])
    let fourth = try #require(try context.find(\Song.seconds == 4).first())
    try context.delete(fourth)
    #expect(list.related(\.songs).count == 299)
    #expect(list.related(\.songs)[3].seconds == 5)
    try context.save()
    #expect(list.related(\.songs).map(\.seconds) == list.songs.map(\.seconds))
    // The property was read, so its objects are in memory and returned.
    #expect(list.related(\.songs)[10] === list.songs[10])
    list.songs.removeAll()
    #expect(list.related(\.songs).isEmpty)
  }

  @Test("A deletion that is saved or undone is respected while the property was not read")
  func deletion() throws {
    do {
      let context = ObjectContext(store)
      try context.insert(Stack([Song("x", 1001), Song("y", 1002)]))
      try context.save()
    }
    let context = ObjectContext(store, undoLevels: 10)
    let stack = try #require(try context.all(Stack.self).first)
    let before = stack.related(\.songs)
    let x = try #require(try context.find(\Song.seconds == 1001).first())
    try context.delete(x)
    #expect(stack.related(\.songs).map(\.seconds) == [1002])
    #expect(before.count == 2)
    #expect(before[0].isDeleted)
    try context.undo()
    #expect(stack.related(\.songs).map(\.seconds) == [1001, 1002])
    try context.delete(x)
    try context.save()
    #expect(stack.related(\.songs).map(\.seconds) == [1002])
    #expect(stack.songs.map(\.seconds) == [1002])
  }

  @Test("Empty, new, inverse and computed relationships have the elements of their arrays")
  func others() throws {
    let context = ObjectContext(store)
    #expect(try playlist(context, "None").related(\.songs).isEmpty)
    let new = Playlist("New", [Song("a", 1), Song("b", 2)])
    #expect(new.related(\.songs).map(\.title) == ["a", "b"])
    try context.insert(new)
    #expect(new.related(\.songs).map(\.title) == ["a", "b"])
    let song = try #require(try context.find(\Song.seconds == 9).first())
    #expect(song.related(\.playlists).map(\.title) == ["All"])
    #expect(song.related(\.longPlaylists).map(\.title) == ["All"])
  }

  @Test("The elements outlive the variable of the context, and a closed context")
  func lifetime() throws {
    func songs() throws -> RelatedObjects<Song> {
      try playlist(ObjectContext(store)).related(\.songs)
    }
    let songs = try songs()
    #expect(songs[299].title == "song 300")
    let context = ObjectContext(store)
    let list = try playlist(context)
    let others = list.related(\.songs)
    context.close()
    #expect(others[1].title == "song 2")
    #expect(list.related(\.songs).isEmpty == list.songs.isEmpty)
  }

  @Test("An element whose document was deleted by others is reported like that of an array")
  func missing() throws {
    let context = ObjectContext(store)
    let failures = Mutex<[Int64]>([])
    context.loadFailureHandler = { id, _ in failures.withLock { $0.append(id.rowID) } }
    let songs = try playlist(context).related(\.songs)
    let other = ObjectContext(store)
    try other.delete(try #require(try other.find(\Song.seconds == 3).first()))
    try other.save()
    #expect(songs.map(\.title).count == 300)
    #expect(failures.withLock(\.count) == 1)
    #expect(songs[2].title == "")
    #expect(songs[3].title == "song 4")
  }

  @Test("Observers of related objects are notified when the relationship changes")
  func observed() throws {
    let context = ObjectContext(store)
    let list = try playlist(context)
    let changes = Mutex(0)
    withObservationTracking {
      _ = list.related(\.songs).count
    } onChange: {
      changes.withLock { $0 += 1 }
    }
    list.songs.removeLast()
    #expect(changes.withLock { $0 } == 1)
  }
}

/// Has songs without an inverse, so that deletions of songs do not read it.
@Model private final class Stack {
  @Relationship var songs: [Song] = []

  init(_ songs: [Song]) { self.songs = songs }
}

extension Song {
  fileprivate var longPlaylists: [Playlist] { playlists.filter { $0.songs.count > 100 } }
}
