// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import NanoTesting
import Testing

@MainActor
@Suite("Undo of objects that others have changed")
struct UndoOfOthersTests {
  private let store: Store
  private let context: ObjectContext
  private let song: Song

  /// Stores a song twice, which another context then changes and this one sees.
  init() throws {
    store = try anyStore()
    context = ObjectContext(store, isLive: false)
    song = try context.insert(Song("a", 1))
    try context.save()
    song.title = "b"
    try context.save()
    let other = ObjectContext(store, isLive: false)
    try #require(try other.all(Song.self).first).seconds = 99
    try other.save()
    context.refreshAll()
    try #require(song.seconds == 99)
  }

  private func stored() throws -> [String] {
    try ObjectContext(store).all(Song.self).map { "\($0.title) \($0.seconds)" }
  }

  @Test(
    "Undoing past a change by others is a conflict, whether or not it was changed again",
    arguments: [false, true])
  func pastOthers(_ isSaved: Bool) throws {
    song.title = "c"
    if isSaved { try context.save() }
    #expect(try context.undo() && context.undo())
    #expect(song.title == "a" && song.seconds == 1)
    #expect(throws: ObjectConflictError.self) { try context.save() }
    #expect(try stored() == [isSaved ? "c 99" : "b 99"])
  }

  @Test("Undoing only what came after it, or redoing it, is none", arguments: [false, true])
  func afterOthers(_ isSaved: Bool) throws {
    song.title = "c"
    if isSaved { try context.save() }
    #expect(try context.undo())
    try context.save()
    #expect(try stored() == ["b 99"])
    #expect(try context.redo())
    #expect(try context.undo() && context.undo() && context.redo() && context.redo())
    try context.save()
    #expect(try stored() == ["c 99"])
  }

  @Test("Undoing the insertion does not delete what others have changed")
  func insertion() throws {
    song.title = "c"
    try context.save()
    for _ in 0..<3 { #expect(try context.undo()) }
    #expect(throws: ObjectConflictError.self) { try context.save() }
    #expect(try stored() == ["c 99"])
  }

  @Test("Undoing past a merge is a conflict")
  func merged() throws {
    let other = ObjectContext(store, isLive: false)
    try #require(try other.all(Song.self).first).seconds = 100
    try other.save()
    song.title = "c"
    context.conflictPolicy = .merge { conflict in
      var fields = conflict.stored ?? [:]
      fields["title"] = conflict.mine?["title"]
      return fields
    }
    try context.save()
    #expect(try stored() == ["c 100"])
    context.conflictPolicy = .fail
    #expect(try context.undo())
    #expect(throws: ObjectConflictError.self) { try context.save() }
  }

  @Test("Undo within a group undoes the changes of the group")
  func nestedUndo() throws {
    try context.undoGroup { song.title = "1" }
    try context.undoGroup {
      song.title = "2"
      try context.undo()
    }
    #expect(song.title == "1")
    #expect(try context.undo())
    #expect(song.title == "b")
    #expect(try context.redo())
    #expect(song.title == "1")
  }
}

@MainActor
@Suite("Undo without other writers")
struct UndoAloneTests {
  @Test(
    "Deletions and insertions that are undone, redone and saved any number of times are no conflicts"
  )
  func cycles() throws {
    for seed in 0..<(TestEngine.isServer ? 20 : 60) as Range<UInt64> {
      var random = SplitMix(seed: seed)
      let store = try anyStore()
      let context = ObjectContext(store, isLive: false)
      if seed % 2 == 0 { try context.insert(Song("first")) }
      for step in 0..<40 {
        let songs = try context.all(Song.self)
        switch Int.random(in: 0..<9, using: &random) {
        case 0: try context.insert(Song("\(step)"))
        case 1, 2: songs.randomElement(using: &random)?.seconds = step
        case 3: if let song = songs.randomElement(using: &random) { try context.delete(song) }
        case 4, 5: try context.undo()
        case 6: try context.redo()
        default: try context.save()
        }
      }
      #expect(throws: Never.self, "seed \(seed)") { try context.save() }
    }
  }

  @Test("A document of another program can be deleted, restored and deleted again")
  func foreign() throws {
    var configuration = SQLiteConfiguration()
    configuration.allowsInternalWrites = true
    let store = try Store(.memory, engine: configuration)
    let context = ObjectContext(store, isLive: false)
    try context.insert(Song("a"))
    try context.save()
    try store.execute("UPDATE Song SET revision = NULL")
    context.refreshAll()
    try context.delete(try #require(context.all(Song.self).first))
    try context.save()
    try context.undo()
    try context.save()
    try context.redo()
    try context.save()
    #expect(try store["Song"].count() == 0)
  }

  @Test("A deletion that is redone is based on what undo has restored")
  func redoneDeletion() throws {
    let store = try anyStore()
    let context = ObjectContext(store, isLive: false)
    let song = try context.insert(Song("a"))
    try context.save()
    try context.delete(song)
    try store["Song"].find().update(.set("seconds", 5))
    try context.undo()
    #expect(song.seconds == 5)
    try context.redo()
    try context.save()
    #expect(try store["Song"].count() == 0)
  }

  @Test(
    "What was read in a rolled-back block does not overwrite a commit with the same revision",
    arguments: [false, true])
  func rolledBack(_ undoes: Bool) throws {
    struct Failed: Error {}
    let store = try anyStore()
    let context = ObjectContext(store, isLive: false)
    try context.insert(Song("a"))
    try context.save()
    context.refreshAll()
    var song: Song?
    #expect(throws: Failed.self) {
      try store.write {
        try store["Song"].find().update(.set("title", "uncommitted"))
        song = try context.all(Song.self).first
        song?.seconds = 1
        throw Failed()
      }
    }
    try store["Song"].find().update(.set("title", "committed"))
    if undoes { try context.undo() }
    #expect(throws: ObjectConflictError.self) { try context.save() }
    #expect(try store["Song"].find().first()?["title"] == "committed")
    #expect(song != nil)
  }
}

extension UndoAloneTests {
  private struct Failed: Error {}

  @Test(
    "After a block that was rolled back, changes that are saved and undone are no conflicts",
    arguments: [false, true])
  func afterRolledBackBlock(_ rollsBack: Bool) throws {
    let store = try anyStore()
    let context = ObjectContext(store, isLive: false)
    try context.insert(Song("a"))
    try context.save()
    context.refreshAll()
    var song: Song?
    #expect(throws: Failed.self) {
      try store.write { () throws -> Void in
        song = try context.all(Song.self).first
        song?.seconds = 1
        throw Failed()
      }
    }
    if rollsBack { context.rollback() } else { try context.save() }
    song?.seconds = 2
    try context.save()
    try context.undo()
    try context.save()
    #expect(try store["Song"].find().first()?["seconds"] == (rollsBack ? 0 : 1))
    if !rollsBack {
      try context.undo()
      try context.save()
      #expect(try store["Song"].find().first()?["seconds"] == 0)
    }
  }
}

/// Changes objects when it is notified of a change.
private final class Reaction: ObjectContextObserver {
  private let react: (any GraphObject) throws -> Void
  init(_ react: @escaping (any GraphObject) throws -> Void) { self.react = react }
  func context(_ context: ObjectContext, willUpdate object: any GraphObject) { try? react(object) }
}

@MainActor
@Suite("Saves that call code which changes objects")
struct ChangesDuringSavesTests {
  private let store: Store
  private let context: ObjectContext
  private let list: Playlist
  private let song: Song
  private let other: Song

  init() throws {
    store = try anyStore()
    context = ObjectContext(store, isLive: false)
    (song, other) = (Song("a"), Song("b"))
    list = try context.insert(Playlist("List", [song, other]))
    try context.save()
  }

  /// Makes the next save of the song a conflict.
  private func changeByOthers() throws {
    let context = ObjectContext(store, isLive: false)
    try #require(try context.all(Song.self).first { $0.title == "a" }).seconds = 99
    try context.save()
    song.title = "mine"
  }

  @Test(
    "Objects that an observer inserts and changes during a save are saved, with the indexes of their class"
  )
  func observer() throws {
    let (context, other) = (context, other)
    let observer = Reaction { object in
      guard object is Playlist else { return }
      try context.insert(Badge("x"))
      other.title = "changed"
    }
    context.observer = observer
    try context.delete(song)
    try context.save()
    #expect(!context.hasUnsavedChanges)
    let read = ObjectContext(store)
    #expect(try read.all(Badge.self).map(\.code) == ["x"])
    #expect(try read.all(Song.self).map(\.title) == ["changed"])
    try context.insert(Badge("x"))
    #expect(throws: StoreError.self) { try context.save() }
  }

  @Test(
    "An observer that deletes objects during a save makes it fail, and the next one stores everything"
  )
  func deletingObserver() throws {
    let (context, other) = (context, other)
    let observer = Reaction { if $0 is Playlist { try context.delete(other) } }
    context.observer = observer
    try context.delete(song)
    let error = #expect(throws: StoreError.self) { try context.save() }
    #expect(error?.code == .invalidArgument)
    #expect(try ObjectContext(store).find(Song.self).count() == 2)
    try context.save()
    #expect(try ObjectContext(store).find(Song.self).count() == 0)
  }

  @Test(
    "A merge that changes objects makes the save fail, and the changes are not lost",
    arguments: 0..<4)
  func merge(_ kind: Int) throws {
    let (context, other) = (context, other)
    try changeByOthers()
    if kind == 1 { other.title = "before" }
    context.conflictPolicy = .merge { conflict in
      switch kind {
      case 0, 1: other.title = "changed"
      case 2: try context.insert(Badge("x"))
      default: try context.delete(other)
      }
      return conflict.mine
    }
    let error = #expect(throws: StoreError.self) { try context.save() }
    #expect(error?.code == .invalidArgument)
    #expect(context.hasUnsavedChanges)
    context.conflictPolicy = .overwrite
    try context.save()
    let read = ObjectContext(store)
    let titles: Set = kind < 2 ? ["mine", "changed"] : kind == 2 ? ["mine", "b"] : ["mine"]
    #expect(try Set(read.all(Song.self).map(\.title)) == titles)
    #expect(try read.find(Badge.self).count() == (kind == 2 ? 1 : 0))
  }
}

@MainActor
@Suite("Relationships at their limits")
struct RelationshipLimitTests {
  private let store: Store
  private let context: ObjectContext

  init() throws {
    store = try anyStore()
    context = ObjectContext(store, isLive: false)
  }

  private func save(_ isAsynchronous: Bool = false) async throws {
    if isAsynchronous {
      try await context.save()
    } else {
      try store.blocking { try context.save() }
    }
  }

  @Test(
    "An object whose deletion was saved is not stored as a reference", arguments: [false, true])
  func deletedTarget(_ isAsynchronous: Bool) async throws {
    let song = Song("a")
    let list = try context.insert(Playlist("List", [song]))
    try await save()
    try context.delete(song)
    try await save()
    list.songs.append(song)
    list.things = [song]
    list.anything = song
    try await save(isAsynchronous)
    #expect(list.songs.isEmpty)
    let stored = try #require(try await store["Playlist"].find().first()).object()
    #expect(stored["songs"] == [] && stored["things"] == [] && stored["anything"] ?? .null == .null)
  }

  @Test("A new object that was deleted before its first save is not stored as a reference")
  func neverSaved() throws {
    let song = try context.insert(Song("a"))
    try context.delete(song)
    try context.save()
    let list = try context.insert(Playlist("List"))
    list.songs.append(song)
    try context.save()
    #expect(list.songs.isEmpty)
    #expect(try ObjectContext(store).all(Playlist.self).first?.songs.isEmpty == true)
  }

  @Test("A rule denies the deletion of an object that others have related in the meantime")
  func deniedByOthers() throws {
    let album = try context.insert(Album("A"))
    try context.save()
    try context.delete(album)
    let other = ObjectContext(store, isLive: false)
    try other.insert(Award("Best", other.all(Album.self).first))
    try other.save()
    let error = #expect(throws: StoreError.self) { try context.save() }
    #expect(error?.code == .deleteDenied)
    #expect(error?[.field] == "awards")
    #expect(try ObjectContext(store).all(Award.self).first?.album?.title == "A")
  }

  @Test("An object that others have deleted leaves relationships in spite of a rule")
  func deletedByOthers() throws {
    let album = try context.insert(Album("A"))
    let award = try context.insert(Award("Best", album))
    try context.save()
    try store["Album"].delete(rowID: 1)
    context.refresh(album)
    try context.delete(album)
    try context.save()
    #expect(award.album == nil)
    let stored = try #require(try store["Award"].find().first()).object()
    #expect(stored["album"] ?? .null == .null)
  }

  @Test("Relationships of objects without a context can be changed")
  func afterContext() throws {
    try context.insert(Award("Best"))
    try context.save()
    weak var leaked: Album?
    for _ in 0..<20 {
      var award = try #require(try ObjectContext(store).all(Award.self).first)
      let album = Album("new")
      leaked = album
      award.album = album
      award.album = nil
      album.awards = [award]
      award = Award("other")
      for number in 0..<20 { try ObjectContext(store).insert(Award("\(number)")) }
      #expect(album.title == "new")
    }
    #expect(leaked == nil)
  }

  @Test("Two classes of one collection are saved together", arguments: [false, true])
  func sharedCollection(_ isAsynchronous: Bool) async throws {
    for number in 0..<2 {
      try context.insert(FirstShared(number))
      try context.insert(SecondShared(number))
      try await save(isAsynchronous)
    }
    #expect(try await store["shared"].count() == 4)
  }
}

@Model(collection: "shared") final class FirstShared {
  var number: Int
  init(_ number: Int) { self.number = number }
}

@Model(collection: "shared") final class SecondShared {
  var number: Int
  init(_ number: Int) { self.number = number }
}
