// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Object contexts and tasks")
struct AsyncTests {
  private let store: Store

  init() throws {
    store = try anyStore()
    let context = ObjectContext(store)
    try context.insert(Playlist("Road", (1...9).map { Song("song \($0)", $0) }))
    try context.save()
  }

  @MainActor
  @Test("With await, a context finds the same instances on its own executor")
  func awaiting() async throws {
    let context = ObjectContext(store)
    let songs = try await context.find(\Song.seconds > 3).sorted(by: \.seconds).fetch()
    #expect(songs.map(\.seconds) == [4, 5, 6, 7, 8, 9])
    let again = try await context.find(\Song.seconds == 4).first()
    #expect(again === songs[0])
    let count = try await context.find(Song.self).count()
    let exists = try await context.find(\Song.seconds == 99).exists()
    #expect(count == 9 && !exists)
    let ids = try await context.find(\Song.seconds < 3).objectIDs()
    let first = try await context.get(ids[0])
    #expect(first?.seconds == 1)
    let list = try #require(try await context.all(Playlist.self).first)
    let all = list.songs
    try await context.load(all)
    #expect(all.allSatisfy { !$0.isFault })
  }

  @MainActor
  @Test("Faults, keys, ids of any class and relationships can be read with await")
  func otherReads() async throws {
    let context = ObjectContext(store)
    let picture = try context.insert(Picture("cover"))
    try await context.save()
    let other = ObjectContext(store)
    other.register(Song.self, Playlist.self, Picture.self)

    let faults = try await other.find(Song.self).faults()
    let cover = try await other.get(Picture.self, key: "cover")
    let missing = try await other.get(Picture.self, key: "missing")
    let anything = try await other.get(AnyObjectID(picture.objectID!))
    let lists = try await other.all(Playlist.self)
    try await other.prefetch(\.songs, of: lists)
    let songs = lists[0].songs

    #expect(faults.count == 9)
    #expect(cover?.name == "cover" && missing == nil)
    #expect(anything === cover)
    #expect(songs.allSatisfy { !$0.isFault } && songs[0] === faults[0])
    await #expect(throws: StoreError.self) {
      _ = try await other.get(AnyObjectID(collection: "Unknown", rowID: 1))
    }
  }

  @MainActor
  @Test(
    "An object changed and saved while a query was suspended is not overwritten by its stale result"
  )
  func stale() async throws {
    let context = ObjectContext(store)
    let song = try #require(try await context.find(\Song.seconds == 1).first())
    let query = context.find(\Song.seconds == 1)
    let task = Task { @MainActor in try await query.fetch().map(\.title) }
    song.title = "changed"
    try await context.save()
    _ = try await task.value
    #expect(song.title == "changed")
    #expect(!context.hasUnsavedChanges)
  }

  @MainActor
  @Test("A query with await returns what another program has stored", .sqlite)
  func otherProgram() async throws {
    let context = ObjectContext(store, isLive: false)
    let song = try #require(try await context.find(\Song.seconds == 1).first())
    let id = try #require(song.objectID).rowID
    // The revisions of its documents are random.
    for number in 1...20 {
      try await store.execute(
        #"UPDATE "Song" SET body = '{"title":"\#(number)","seconds":1}' WHERE id = \#(id)"#)
      try await store["Song"].insert(["title": "adopts", "seconds": 99])
      let found = try await context.find(\Song.seconds == 1).fetch()
      #expect(found.first === song && song.title == "\(number)")
    }
  }

  @Test("An object actor works in parallel with others, and its saves are visible")
  func actors() async throws {
    let actors = (1...4).map { _ in ObjectActor(store) }
    try await withThrowingTaskGroup { group in
      for (number, library) in actors.enumerated() {
        group.addTask {
          for round in 1...10 {
            try await library.perform { context in
              try context.insert(Song("new \(number)", 100 + round))
              try context.save()
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let count = try await store["Song"].count()
    #expect(count == 49)
  }

  @Test("Canceling a task stops its closure, and the actor remains usable")
  func cancellation() async throws {
    let library = ObjectActor(store)
    let task = Task {
      try await library.perform { context in
        while true { _ = try context.find(Song.self).count() }
      }
    }
    try await Task.sleep(for: .milliseconds(20))
    task.cancel()
    await #expect(throws: (any Error).self) { try await task.value }
    let count = try await library.perform { try $0.find(Song.self).count() }
    #expect(count == 9)
  }
}
