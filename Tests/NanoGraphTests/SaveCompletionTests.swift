// SPDX-License-Identifier: MIT

import Dispatch
import NanoEngine
import NanoSQLite
import NanoStoreCore
import NanoStoreModels
import NanoTestSupport
import Synchronization
import Testing

/// Stops the writing thread of an engine after a commit, before the writer is notified of it.
private final class CommitGate: Sendable {
  private enum State { case open, armed, reached }
  private let state = Mutex(State.open)
  private let release = DispatchSemaphore(value: 0)

  func arm() { state.withLock { $0 = .armed } }

  func commit(_ commit: Commit) {
    let stops = state.withLock { state in
      guard state == .armed else { return false }
      state = .reached
      return true
    }
    if stops { release.wait() }
  }

  /// Waits for the commit without blocking the actor.
  @MainActor
  func reached() async {
    while state.withLock({ $0 != .reached }) { await Task.yield() }
  }

  func open() {
    state.withLock { $0 = .open }
    release.signal()
  }
}

/// Whether the save's transaction is only visible, or the context could complete the save already.
private enum Moment: CaseIterable { case visible, finished }

@MainActor
@Suite("Between the commit of an asynchronous save and its completion", .sqlite)
struct SaveCompletionTests {
  private let folder: Scratch
  private let store: Store
  private let context: ObjectContext
  private let gate = CommitGate()
  private let observation: CommitObservation
  private let songs: [Song]
  private let list: Playlist
  private let album: Album

  /// Stores a list and an album, with one song each.
  init() throws {
    folder = try Scratch()
    let engine = try SQLiteEngine(.file(folder.path + "/songs.db"), .init())
    let gate = gate
    observation = try engine.observeCommits { gate.commit($0) }
    store = try Store(opening: { engine })
    context = ObjectContext(store)
    songs = [Song("a"), Song("b")]
    list = try context.insert(Playlist("List", [songs[0]]))
    album = try context.insert(Album("Album", [songs[1]]))
    // Later saves create no collections, in transactions of their own.
    try context.insert(Award("Silver"))
    try context.save()
  }

  /// Saves, and runs a block after the commit, before the context completes the save.
  private func save(_ moment: Moment, _ work: () throws -> Void) async throws {
    let context = context
    gate.arm()
    let task = Task { @MainActor in try await context.save() }
    await gate.reached()
    let result = Result {
      if moment == .finished { finishWriting() }
      #expect(context.hasUnsavedChanges)
      try work()
    }
    if moment == .visible { gate.open() }
    try await task.value
    try result.get()
    try expectConsistency()
  }

  /// Blocks the actor until the writing thread has finished the save: until a later write has begun.
  private func finishWriting() {
    let finished = DispatchSemaphore(value: 0)
    let store = store
    Task.detached {
      _ = try? await store["later"].insert(["n": 1])
      finished.signal()
    }
    gate.open()
    finished.wait()
  }

  /// Expects both ends of all relationships to agree, in the context and in the store.
  private func expectConsistency() throws {
    for context in [context, ObjectContext(store, isLive: false)] {
      let lists = try context.all(Playlist.self)
      let albums = try context.all(Album.self)
      for song in try context.all(Song.self) {
        #expect(
          song.playlists.map(\.title)
            == lists.filter { $0.songs.contains { $0 === song } }.map(\.title))
        #expect(song.album === albums.first { $0.tracks.contains { $0 === song } })
      }
    }
  }
}

extension SaveCompletionTests {
  @Test("An inverse contains each owner once", arguments: Moment.allCases)
  fileprivate func read(moment: Moment) async throws {
    let new = try context.insert(Playlist("New", songs + [Song("c")]))
    list.songs.append(songs[1])

    try await save(moment) {
      context.refreshAll()
      #expect(songs[0].playlists.map(\.title) == ["List", "New"])
      #expect(songs[1].playlists.map(\.title) == ["List", "New"])
      #expect(new.songs[2].playlists.map(\.title) == ["New"])
      #expect(songs[1].album === album)
    }
  }

  @Test("A reference that is removed is missing from the inverse", arguments: Moment.allCases)
  fileprivate func removal(moment: Moment) async throws {
    let new = try context.insert(Playlist("New", songs))

    try await save(moment) {
      new.songs.remove(at: 0)
      songs[1].playlists = []
      context.refreshAll()
      #expect(songs[0].playlists.map(\.title) == ["List"])
      #expect(songs[1].playlists.isEmpty && new.songs.isEmpty)
    }
    #expect(new.hasChanges && songs[0].playlists.map(\.title) == ["List"])
    try saveNow()
    #expect(try stored() == [#"List ["a"]"#, "New []", #"Album ["b"]"#])
  }

  @Test("A song leaves its new album when another one gets it", arguments: Moment.allCases)
  fileprivate func oneOwner(moment: Moment) async throws {
    let new = try context.insert(Album("New", [songs[0]]))

    try await save(moment) {
      context.refreshAll()
      let later = try context.insert(Album("Later", [songs[0]]))
      context.refreshAll()
      #expect(songs[0].album === later && new.tracks.isEmpty)
      songs[1].album = new
      context.refreshAll()
      #expect(songs[1].album === new && album.tracks.isEmpty)
    }
    try saveNow()
    #expect(try stored() == [#"List ["a"]"#, "Album []", #"New ["b"]"#, #"Later ["a"]"#])
    try expectConsistency()
  }

  @Test("Delete rules consider what the save has stored", arguments: Moment.allCases)
  fileprivate func deletion(moment: Moment) async throws {
    let new = try context.insert(Album("New", [songs[0]]))
    let award = try context.insert(Award("Gold", album))

    try await save(moment) {
      context.refreshAll()
      let error = #expect(throws: StoreError.self) { try context.delete(album) }
      #expect(error?.code == .deleteDenied)
      award.album = nil
      try context.delete(album)
      try context.delete(new)
      context.refreshAll()
      #expect(songs.allSatisfy(\.isDeleted) && list.songs.isEmpty)
    }
    try saveNow()
    #expect(try stored() == ["List []"])
  }

  @Test("Undo restores both ends of relationships", arguments: Moment.allCases)
  fileprivate func undo(moment: Moment) async throws {
    let new = try context.insert(Playlist("New", [songs[1]]))

    try await save(moment) { () throws in
      #expect(try context.undo())
      context.refreshAll()
      #expect(new.isDeleted && songs[1].playlists.isEmpty)
      #expect(try context.redo())
      new.songs = [songs[0]]
      #expect(try context.undo())
      context.refreshAll()
      #expect(songs[0].playlists.map(\.title) == ["List"])
      #expect(songs[1].playlists.map(\.title) == ["New"])
    }
  }

  @Test("A relationship that another context adds to a new object is found")
  fileprivate func otherContext() async throws {
    let new = try context.insert(Song("c"))

    try await save(.finished) {
      let other = ObjectContext(store, isLive: false)
      let song = try #require(try other.find(\Song.title == "c").first())
      try other.insert(Playlist("Theirs", [song]))
      try other.save()
      context.refreshAll()
      #expect(new.playlists.map(\.title) == ["Theirs"])
    }
    #expect(new.playlists.map(\.title) == ["Theirs"])
  }

  private func saveNow() throws { try context.save() }

  /// The stored lists and albums with the titles of their songs.
  fileprivate func stored() throws -> [String] {
    let fresh = ObjectContext(store, isLive: false)
    return try fresh.all(Playlist.self).map { "\($0.title) \($0.songs.map(\.title))" }
      + fresh.all(Album.self).map { "\($0.title) \($0.tracks.map(\.title))" }
  }
}
