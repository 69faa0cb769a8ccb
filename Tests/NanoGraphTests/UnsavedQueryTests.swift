// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Testing

private enum Form: CaseIterable { case fetch, faults, objectIDs, count, exists }

@Suite("Queries with unsaved changes")
struct UnsavedQueryTests {
  private let store: Store
  private let context: ObjectContext
  private let songs: [Song]

  init() throws {
    store = try anyStore()
    context = ObjectContext(store)
    songs = [Song("a", 10), Song("b", 20), Song("c", 30)]
    for song in songs { try context.insert(song) }
    try context.save()
  }

  private func titles(_ query: ObjectQuery<Song>) throws -> String {
    try query.fetch().map(\.title).joined()
  }

  @Test("New objects are found, changed ones by their current values, and deleted ones are omitted")
  func merged() throws {
    songs[0].seconds = 40
    try context.delete(songs[1])
    let new = try context.insert(Song("d", 25))

    let sorted = context.find(\Song.seconds > 15).sorted(by: \.seconds)

    #expect(try titles(sorted) == "dca")
    #expect(try titles(sorted.limit(1, offset: 1)) == "c")
    #expect(try titles(context.find(Song.self)) == "acd")
    #expect(try titles(sorted.limit(0)) == "")
    #expect(try sorted.first() === new)
    #expect(try sorted.count() == 3 && sorted.exists())
    #expect(try sorted.limit(2).count() == 2 && sorted.limit(9, offset: 2).count() == 1)
    #expect(try !context.find(\Song.seconds == 10).exists())
    #expect(try !context.find(\Song.title == "b").exists())
    #expect(try sorted.faults().map(\.title) == ["d", "c", "a"])
    #expect(try sorted.fetchSkippingFailures().values.map(\.title) == ["d", "c", "a"])
    #expect(try context.all(Song.self).count == 3)
    #expect(throws: StoreError.self) { try sorted.limit(-1).fetch() }
    #expect(throws: StoreError.self) { try sorted.limit(1, offset: -1).count() }
  }

  @Test("Ids of results omit new objects")
  func ids() throws {
    try context.insert(Song("d", 5))
    let sorted = context.find(Song.self).sorted(by: \.seconds)
    #expect(try sorted.objectIDs() == songs.compactMap(\.objectID))
    #expect(try sorted.limit(2).objectIDs() == [songs[0].objectID!])
  }

  @Test("A loop can stop, delete and change objects")
  func loop() throws {
    try context.insert(Song("d", 15))
    var seen = ""
    try context.find(Song.self).sorted(by: \.seconds).each { song in
      seen += song.title
      song.title += "!"
      if seen == "ad" { try context.delete(songs[1]) }
      return seen != "adc"
    }
    #expect(seen == "adc")
    #expect(try titles(context.find(Song.self)) == "a!c!d!")
  }

  @Test("Queries see the changes of a save's block, and undone changes")
  func blockAndUndo() throws {
    try context.save { _ in
      try context.insert(Song("d", 5))
      #expect(try context.find(\Song.seconds < 15).count() == 2)
    }
    #expect(try context.undo())
    #expect(try titles(context.find(Song.self)) == "abc")
    #expect(try context.redo())
    #expect(try titles(context.find(Song.self)) == "abcd")
  }

  @Test("Pages, aggregates and searches use stored values")
  func storedValues() throws {
    try context.insert(Song("d", 5))
    songs[0].seconds = 99
    let all = context.find(Song.self).sorted(by: \.seconds)
    let page = try all.page(9)
    #expect(page.objects.map(\.title) == ["a", "b", "c"])
    #expect(try all.sum(\.seconds) == 60 && all.distinct(\.title) == ["a", "b", "c"])
    #expect(try context.search(Song.self, "d").count() == 0)
    #expect(try context.search(Song.self, "a").fetch().first === songs[0])
  }

  @Test("Conditions on relationships find unsaved objects, also by objects that are new")
  func relationships() throws {
    let new = Song("new")
    let list = try context.insert(Playlist("List", [songs[0], new]))
    let stored = try context.insert(Playlist("Stored", [songs[1]]))
    func lists(with song: Song) throws -> [String] {
      try context.find(Playlist.self) { $0.songs.contains(song) }.fetch().map(\.title)
    }
    #expect(try lists(with: songs[0]) == ["List"] && lists(with: new) == ["List"])
    #expect(try lists(with: Song("other")).isEmpty)
    try context.save()

    try context.delete(songs[1])
    list.songs.removeAll()
    let empty = context.find(#Predicate<Playlist> { $0.songs.isEmpty })
    #expect(try empty.fetch().map(\.title) == ["List", "Stored"])
    #expect(try empty.count() == 2 && lists(with: songs[1]).isEmpty && !stored.hasChanges)
    try context.save()
    #expect(try empty.fetch().map(\.title) == ["List", "Stored"])
  }

  @Test("An object that only a relationship of a new object reaches is found")
  func reachable() throws {
    let list = try context.insert(Playlist("List"))
    list.cover = Picture("cover")
    list.things = [Song("thing")]
    #expect(try context.find(\Picture.name == "cover").first() === list.cover)
    #expect(try titles(context.find(Song.self)) == "abcthing")
    #expect(
      try context.find(Playlist.self) { $0.cover.isObject(list.cover!) }.first() === list)
  }

  @Test("Keys and metadata of unsaved objects are those of their documents")
  func attributes() throws {
    let picture = try context.insert(Picture("cover"))
    try context.save()
    picture.tags = ["x"]
    let new = try context.insert(Picture("new"))
    let old = context.find(\Picture.name == "cover").where(ModelCondition(.key(.beginsWith, "co")))
    #expect(try old.fetch().map(\.tags) == [["x"]])
    #expect(try context.find(\Picture.name == "new").first() === new)
    let all = context.find(Picture.self).sorted(by: \.name, order: .reverse)
    #expect(try all.fetch().map(\.name) == ["new", "cover"])
  }

  @Test("Collection defaults apply to unsaved objects as to stored ones")
  func defaults() throws {
    try store["Picture"].setDefaults(["mood": "calm"])
    try context.insert(Picture("new"))
    let found = context.find(ModelCondition<Picture>(Field("mood") == "calm"))
    #expect(try found.count() == 1)
    try context.save()
    #expect(try found.count() == 1)
  }

  @Test("An unsaved object that cannot be stored makes the query throw, and others are unaffected")
  func notStorable() throws {
    let measure = try context.insert(Measure())
    measure.value = UInt64.max
    let error = #expect(throws: StoreError.self) { try context.all(Measure.self) }
    #expect(error?.code == .valueNotStorable && error?[.collection] == "Measure")
    #expect(error?[.position] == "new object 1 of the class")
    #expect(try titles(context.find(Song.self)) == "abc")
  }

  @Test("An object that was changed although it could not be loaded makes the query throw")
  func notLoaded() throws {
    let other = ObjectContext(store)
    let fault = other.fault(songs[0].objectID!)
    try store["Song"].delete(rowID: fault.objectID!.rowID)
    fault.title = "lost"
    let error = #expect(throws: StoreError.self) { try other.find(Song.self).count() }
    #expect(error?.code == .invalidArgument && error?[.rowID] == "1")
    other.rollback()
    #expect(try other.find(Song.self).count() == 2)
  }

  @MainActor
  @Test("The async forms include unsaved changes")
  func awaiting() async throws {
    let context = ObjectContext(store)
    let new = try context.insert(Song("d", 5))
    let sorted = context.find(Song.self).sorted(by: \.seconds)
    let count = try await sorted.count()
    let first = try await sorted.first()
    let exists = try await context.find(\Song.seconds == 5).exists()
    let ids = try await sorted.objectIDs()
    let faults = try await sorted.faults()
    let values = try await sorted.limit(2, offset: 1).fetchSkippingFailures().values
    #expect(count == 4 && first === new && exists && ids.count == 3)
    #expect(faults.map(\.title) == ["d", "a", "b", "c"] && values.map(\.title) == ["a", "b"])
  }

  @MainActor
  @Test("A query includes changes that are made while it is suspended")
  func changedMeanwhile() async throws {
    // The query may end before the test continues, which proves nothing.
    for _ in 0..<1_000 {
      let context = ObjectContext(store)
      let new = try context.insert(Song("d", 5))
      let sorted = context.find(Song.self).sorted(by: \.seconds)
      var hasStarted = false
      var hasEnded = false
      let task = Task { @MainActor in
        hasStarted = true
        defer { hasEnded = true }
        return try await sorted.limit(2).fetch().map(\.title)
      }
      while !hasStarted { await Task.yield() }
      if hasEnded { continue }
      try context.delete(new)
      context.fault(songs[0].objectID!).seconds = 99
      try context.insert(Song("e", 1))
      #expect(try await task.value == ["e", "b"])
      return
    }
    Issue.record("Every query ended before the context changed")
  }

  @MainActor
  @Test("A query that is suspended while a deletion is saved omits it", arguments: Form.allCases)
  fileprivate func deletedMeanwhile(form: Form) async throws {
    let context = ObjectContext(store)
    let query = context.find(\Song.title == "d")
    // The query may end before the test continues, which proves nothing.
    for _ in 0..<1_000 {
      let new = try context.insert(Song("d", 5))
      try { try context.save() }()
      var hasStarted = false
      var hasEnded = false
      let task = Task { @MainActor () async throws -> Int in
        hasStarted = true
        defer { hasEnded = true }
        switch form {
        case .fetch: return try await query.fetch().count
        case .faults: return try await query.faults().count
        case .objectIDs: return try await query.objectIDs().count
        case .count: return try await query.count()
        case .exists: return try await query.exists() ? 1 : 0
        }
      }
      while !hasStarted { await Task.yield() }
      let isSuspended = !hasEnded
      try context.delete(new)
      try { try context.save() }()
      let count = try await task.value
      guard isSuspended else { continue }
      #expect(count == 0)
      return
    }
    Issue.record("Every query ended before the deletion was saved")
  }

  @MainActor
  @Test("A query that is suspended while the context is saved includes the saved objects")
  func savedMeanwhile() async throws {
    let context = ObjectContext(store)
    try context.insert(Song("d", 5))
    let task = Task { @MainActor in
      try await context.find(Song.self).sorted(by: \.seconds).fetch().map(\.title)
    }
    await Task.yield()
    try { try context.save() }()
    #expect(try await task.value == ["d", "a", "b", "c"])
  }
}
