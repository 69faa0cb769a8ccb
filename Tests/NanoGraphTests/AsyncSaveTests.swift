// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoStoreModels
import NanoTestSupport
import NanoTesting
import Testing

@testable import NanoGraph

/// Holds the writing lock of a store on a thread of its own.
private final class HeldLock {
  private let release = DispatchSemaphore(value: 0)

  /// - Parameter milliseconds: When the lock is released at the latest. A save with deletions blocks
  ///   the actor, which then cannot release it.
  init(_ store: Store, milliseconds: Int = 600_000) {
    let (isHeld, release) = (DispatchSemaphore(value: 0), release)
    DispatchQueue(label: "lock").async {
      try? store.write {
        isHeld.signal()
        _ = release.wait(timeout: .now() + .milliseconds(milliseconds))
      }
    }
    isHeld.wait()
  }

  func end() { release.signal() }
}

@MainActor
@Suite("Asynchronous saves", .sqlite)
struct AsyncSaveTests {
  private let folder: Scratch
  private let store: Store
  private let context: ObjectContext
  private let songs: [Song]

  init() throws {
    folder = try Scratch()
    store = try Store(.file(folder.path + "/songs.db"))
    context = ObjectContext(store)
    songs = [Song("a", 1), Song("b", 2)]
    for song in songs { try context.insert(song) }
    try context.save()
  }

  private func stored() throws -> [String] {
    try ObjectContext(store).all(Song.self).map { "\($0.title)\($0.seconds)" }
  }

  private func saveNow(_ context: ObjectContext) throws { try context.save() }

  /// Starts a save that cannot begin to write.
  private func suspendedSave() async throws -> (Task<Void, any Error>, HeldLock) {
    let lock = HeldLock(store)
    let context = context
    let task = Task { @MainActor in try await context.save() }
    for _ in 0..<5 { await Task.yield() }
    return (task, lock)
  }

  @Test("A save stores new and changed objects with relationships and named values")
  func saves() async throws {
    songs[0].title = "c"
    let list = try context.insert(Playlist("List", [songs[0], Song("new")]))
    list.cover = Picture("cover")
    try context.setObject(list, named: "Favorite")
    let events = context.events()

    try await context.save()

    #expect(!context.hasUnsavedChanges && list.objectID != nil && list.songs[1].objectID != nil)
    #expect(try stored() == ["c1", "b2", "new0"])
    let fresh = ObjectContext(store)
    let found = try #require(try fresh.object(named: "Favorite", as: Playlist.self))
    #expect(found.songs.map(\.title) == ["c", "new"] && found.cover?.name == "cover")
    #expect(try await context.find(Playlist.self).first() === list)
    #expect(try await context.find(Song.self).fetch().last === list.songs[1])
    context.close()
    var kinds: [ObjectEvent.Kind] = []
    for await event in events { kinds.append(event.kind) }
    #expect(kinds.last == .didSave)
  }

  @Test("The actor is free while a save waits, and later changes are stored by the next save")
  func suspension() async throws {
    songs[0].title = "first"
    songs[1].title = "second"
    let (task, lock) = try await suspendedSave()

    songs[0].title = "later"
    let new = try context.insert(Song("new"))
    #expect(try stored() == ["a1", "b2"])
    lock.end()
    try await task.value

    #expect(try stored() == ["first1", "second2"])
    #expect(songs[0].hasChanges && !songs[1].hasChanges && new.hasChanges)
    try await context.save()
    #expect(try stored() == ["later1", "second2", "new0"] && !context.hasUnsavedChanges)
  }

  @Test(
    "A change between the deletion and the restoration of an object, while a save waits, is kept")
  func changeWhileDeleted() async throws {
    songs[0].title = "first"
    let (task, lock) = try await suspendedSave()
    try context.delete(songs[0])
    songs[0].title = "later"
    try context.insert(songs[0])
    lock.end()
    try await task.value

    #expect(try stored() == ["first1", "b2"])
    #expect(songs[0].title == "later" && songs[0].hasChanges)
    try await context.save()
    #expect(try stored() == ["later1", "b2"])
  }

  @Test("A new object that another one refers to while a save waits is stored, also without undo")
  func reachableWithoutUndo() async throws {
    let context = ObjectContext(store, undoLevels: 0)
    let list = try context.insert(Playlist("List"))
    let lock = HeldLock(store)
    let task = Task { @MainActor in try await context.save() }
    for _ in 0..<5 { await Task.yield() }
    list.cover = Picture("cover")
    lock.end()
    try await task.value

    try await context.save()
    let lists = try await ObjectContext(store).all(Playlist.self)
    #expect(lists.map(\.cover?.name) == ["cover"])
  }

  @Test("An object that is deleted while a save waits is stored, and the next save deletes it")
  func deletion() async throws {
    songs[0].title = "first"
    let (task, lock) = try await suspendedSave()
    try context.delete(songs[0])
    lock.end()
    try await task.value
    #expect(try stored() == ["first1", "b2"] && songs[0].isDeleted)
    #expect(context.deletedObjects.count == 1)
    try await context.save()
    #expect(try stored() == ["b2"] && !context.hasUnsavedChanges)
    #expect(try context.undo())
    try await context.save()
    #expect(try stored() == ["first1", "b2"])
  }

  /// Deletes a document, which a save of the context detects.
  private func lose(_ song: Song) throws {
    try store["Song"].delete(rowID: try #require(song.objectID).rowID)
    song.title = "lost"
    context.conflictPolicy = .keepStored
    try context.save()
    #expect(song.isDeleted)
  }

  private func titlesOfReferences() throws -> [String] {
    try store["Playlist"].find("[songs] = 2").fetch().compactMap { $0["title"]?.string }
  }

  @Test("The actor is free while a save waits, also after others have deleted an object")
  func lostObject() async throws {
    try lose(songs[1])
    songs[0].title = "first"
    try context.insert(Playlist("List", [songs[0]]))
    let lock = HeldLock(store)
    let task = Task { @MainActor [context] in try await context.save() }
    for _ in 0..<5 { await Task.yield() }

    #expect(try stored() == ["a1"])

    lock.end()
    try await task.value
    #expect(try stored() == ["first1"])
  }

  @Test("A save after others have deleted an object does not store references to it")
  func lostReference() async throws {
    let list = try context.insert(Playlist("List", songs))
    try await context.save()
    #expect(list.songs.count == 2)
    try lose(songs[1])
    list.title = "Changed"
    try await context.save()
    #expect(try titlesOfReferences() == [])
    #expect(list.songs.count == 1)
  }

  @Test("A rollback while a save waits withdraws it")
  func rollback() async throws {
    songs[0].title = "lost"
    try context.insert(Song("lost"))
    let (task, lock) = try await suspendedSave()
    context.rollback()
    lock.end()
    try await task.value
    #expect(try stored() == ["a1", "b2"] && songs[0].title == "a" && !context.hasUnsavedChanges)
  }

  @Test(
    "What is changed after a rollback is not stored by the save that it withdrew, nor by one that waited for it"
  )
  func changesAfterRollback() async throws {
    songs[0].title = "lost"
    let (task, lock) = try await suspendedSave()
    let next = Task { @MainActor [context] in try await context.save() }
    for _ in 0..<5 { await Task.yield() }
    context.rollback()
    songs[0].title = "after"
    lock.end()
    try await task.value
    try await next.value
    #expect(try stored() == ["a1", "b2"] && songs[0].title == "after" && context.hasUnsavedChanges)
    try await context.save()
    #expect(try stored() == ["after1", "b2"])
  }

  @Test("A context that is closed while a save waits stores nothing")
  func close() async throws {
    songs[0].title = "lost"
    let (task, lock) = try await suspendedSave()
    context.close()
    lock.end()
    try await task.value
    #expect(try stored() == ["a1", "b2"])
  }

  @Test("A canceled save stores nothing, and can be repeated")
  func cancellation() async throws {
    songs[0].title = "kept"
    let new = try context.insert(Song("new"))
    let (task, lock) = try await suspendedSave()
    task.cancel()
    lock.end()
    await #expect(throws: (any Error).self) { try await task.value }
    #expect(try stored() == ["a1", "b2"])
    #expect(songs[0].title == "kept" && songs[0].hasChanges && new.objectID == nil)
    try await context.save()
    #expect(try stored() == ["kept1", "b2", "new0"])
  }

  @Test("Several saves at once store everything once, in order")
  func several() async throws {
    let context = context
    let lock = HeldLock(store)
    let tasks = (0..<4).map { number in
      Task { @MainActor in
        try context.insert(Song("new", number))
        try await context.save()
      }
    }
    for _ in 0..<5 { await Task.yield() }
    lock.end()
    for task in tasks { try await task.value }
    #expect(try stored() == ["a1", "b2", "new0", "new1", "new2", "new3"])
  }

  @Test("A synchronous save takes the place of a save that waits", arguments: 1...30)
  func blockingSave(round: Int) async throws {
    songs[0].title = "c"
    try context.insert(Song("new"))
    let context = context
    let task = Task { @MainActor in try await context.save() }
    for _ in 0..<round { await Task.yield() }
    try saveNow(context)
    #expect(!context.hasUnsavedChanges)
    try await task.value
    #expect(try stored() == ["c1", "b2", "new0"])
  }

  @Test("A save is undone like a synchronous one")
  func undo() async throws {
    songs[0].title = "c"
    try context.insert(Song("new"))
    try await context.save()
    #expect(try context.undo())
    #expect(songs[0].title == "a")
    try await context.save()
    #expect(try stored() == ["a1", "b2"])
    #expect(try context.redo())
    try await context.save()
    #expect(try stored() == ["c1", "b2", "new0"])
  }

  @Test("Conflicts are resolved by the policy")
  func conflicts() async throws {
    let policies: [(ConflictPolicy, String)] = [
      (.overwrite, "mine"), (.keepStored, "theirs"), (.merge { _ in ["title": "both"] }, "both"),
    ]
    for (policy, title) in policies {
      let mine = ObjectContext(store)
      let song = try #require(try await mine.all(Song.self).first)
      let theirs = try #require(try await context.all(Song.self).first)
      theirs.title = "theirs"
      theirs.seconds += 1
      song.title = "mine"
      try await context.save()
      await #expect(throws: ObjectConflictError.self) { try await mine.save() }
      #expect(song.hasChanges)
      mine.conflictPolicy = policy
      try await mine.save()
      #expect(song.title == title && !mine.hasUnsavedChanges)
      #expect(try stored()[0].hasPrefix(title))
    }
  }

  @Test("A row that another connection inserts in the meantime does not lose an object")
  func takenRowID() async throws {
    try context.insert(Song("mine"))
    let (task, lock) = try await suspendedSave()
    let other = Task.detached { [store] in
      try await store["Song"].insert(["title": "theirs", "seconds": 0])
    }
    lock.end()
    try await task.value
    _ = try await other.value
    #expect(try Set(stored()) == ["a1", "b2", "mine0", "theirs0"])
  }

  @Test("A relationship to a row that another writer inserts while a save waits is to its object")
  func takenReference() throws {
    let list = try context.insert(Playlist("List", [songs[0]]))
    try context.save()
    let mine = try context.insert(Song("mine"))
    let suspended = try SuspendedSave(context, next: [.init("song"): 3])
    suspended.begin()
    context.suspendedSave = suspended
    let other = ObjectContext(store)
    let found = try #require(try other.all(Playlist.self).first)
    found.songs.append(Song("theirs"))
    try other.save()
    context.refresh(list)
    #expect(list.songs.count == 2)

    context.settleSave()

    #expect(list.songs.map(\.title) == ["a", "theirs"] && list.songs[1] !== mine)
    try context.save()
    #expect(try stored() == ["a1", "b2", "theirs0", "mine0"])
  }

  @Test("An error is that of a synchronous save, and nothing is stored")
  func errors() async throws {
    try context.insert(Picture("cover"))
    try await context.save()
    songs[0].title = "lost"
    try context.insert(Picture("cover"))
    let error = await #expect(throws: StoreError.self) { try await context.save() }
    #expect(error?.code == .duplicateKey && error?[.collection] == "Picture")
    let measure = Measure()
    measure.value = .max
    try context.insert(measure)
    let other = await #expect(throws: StoreError.self) { try await context.save() }
    #expect(other?.code == .valueNotStorable && other?[.collection] == "Measure")
    #expect(try stored() == ["a1", "b2"] && songs[0].hasChanges)
  }
}

@MainActor
@Suite("Random changes during asynchronous saves", .sqlite)
struct RandomAsyncSaveTests {
  private func contents(_ context: ObjectContext) throws -> [String] {
    try context.all(Box.self).map { box in
      "\(box.number) \(box.text ?? "nil") \(box.tags) \(box.things.map(\.number)) \(box.cover?.number ?? -1)"
    } + context.all(Thing.self).map { "\($0.number) \($0.boxes.map(\.number).sorted())" }
  }

  /// Expects both ends of a relationship to be consistent, whether or not the save is completed.
  private func expectInverses(_ context: ObjectContext, _ log: [String]) throws {
    let boxes = try context.all(Box.self)
    for thing in try context.all(Thing.self) {
      let owners = boxes.filter { $0.things.contains { $0 === thing } }
      #expect(
        thing.boxes.map { ObjectIdentifier($0) }.sorted()
          == owners.map { ObjectIdentifier($0) }.sorted(), "\(log)")
    }
  }

  @Test("After a last save, a fresh context has the content of the context", arguments: 1...60)
  func interleavings(seed: Int) async throws {
    let folder = try Scratch()
    let store = try Store(.file(folder.path + "/boxes.db"))
    var model = try UnsavedChangesModel(seed: UInt64(seed), store)
    let context = model.context
    for _ in 0..<4 {
      for _ in 0..<3 { try model.changeWithoutSaving() }
      let lock = model.pick(2) == 0 ? HeldLock(store, milliseconds: 5) : nil
      let task = Task { @MainActor in try await context.save() }
      for _ in 0..<model.pick(8) {
        for _ in 0..<model.pick(20) { await Task.yield() }
        if lock == nil, model.pick(3) == 0 { try await Task.sleep(for: .microseconds(300)) }
        switch model.pick(12) {
        case 0: context.rollback()
        case 1: try context.closeUndoGroup()
        case 2:
          context.refreshAll()
          try expectInverses(context, model.log)
        default: try model.changeWithoutSaving()
        }
      }
      lock?.end()
      try await task.value
      let expected = try contents(context)
      try await context.save()
      #expect(try contents(context) == expected, "\(model.log)")
      #expect(try contents(ObjectContext(store)) == expected, "\(model.log)")
      #expect(!context.hasUnsavedChanges)
    }
  }
}
