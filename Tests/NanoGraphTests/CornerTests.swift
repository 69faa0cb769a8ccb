// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Edge cases of the object graph")
struct CornerTests {
  private let store: Store
  private let context: ObjectContext

  init() throws {
    store = try anyStore()
    context = ObjectContext(store)
  }

  @Test("A fault for an id without a document never becomes a different object")
  func unusedID() throws {
    let ghost = context.fault(ObjectID<Song>(rowID: 1))
    var song: Song? = try context.insert(Song("a"))
    try context.save()
    #expect(song?.objectID != ghost.objectID)
    let id = try #require(song?.objectID)
    #expect(context.fault(id) === song)
    song = nil
    #expect(context.fault(id).title == "a")
  }

  @Test(
    "A stored reference can be any 64-bit integer", arguments: [Int64.min, .min + 1, -1, 0, .max])
  func anyNumber(id: Int64) throws {
    #expect(try context.get(ObjectID<Song>(rowID: id)) == nil)
    _ = context.fault(ObjectID<Song>(rowID: id))
    try context.save()
  }

  @Test("Changes made in the closure of a save are saved with it")
  func blockOfSave() throws {
    let song = try context.insert(Song("a"))
    try context.save()
    try context.save { _ in
      song.title = "late"
      try context.insert(Song("new"))
    }
    #expect(!context.hasUnsavedChanges)
    #expect(try ObjectContext(store).all(Song.self).map(\.title) == ["late", "new"])
    #expect(try context.all(Song.self).count == 2)
  }

  @Test("A deleted new object inserted into a different context is not affected by undo")
  func otherContext() throws {
    let other = ObjectContext(store)
    let song = try context.insert(Song("a"))
    try context.closeUndoGroup()
    try context.delete(song)
    try context.save()
    try other.insert(song)
    try context.undo()
    try other.save()
    #expect(song.context === other && context.insertedObjects.count == 1)
    context.close()
    #expect(try other.all(Song.self).first === song)
  }

  @Test("An unloaded object, or one with relationships to a different context, is not inserted")
  func faults() throws {
    let list = try context.insert(Playlist("Road", [Song("a")]))
    try context.save()
    let first = ObjectContext(store)
    let fault = first.fault(try #require(list.objectID))
    let read = try #require(try first.find(Playlist.self).first())
    #expect(read === fault)
    let song = first.fault(ObjectID<Song>(rowID: 1))
    first.close()
    for work in [
      { try context.insert(song) as any GraphObject }, { try context.insert(read) },
    ] as [() throws -> any GraphObject] {
      let error = #expect(throws: StoreError.self) { try work() }
      #expect(error?.code == .invalidArgument)
    }
    #expect(!context.hasUnsavedChanges)
  }

  @Test("Undoing a saved change detects later changes elsewhere")
  func undoConflict() throws {
    try context.insert(Song("a", 1))
    try context.save()
    func touch() throws {
      try context.find(\Song.seconds == 1).first()?.title = "mine"
      try context.save()
    }
    try touch()
    let other = ObjectContext(store)
    try other.find(\Song.title == "mine").first()?.seconds = 99
    try other.save()
    try context.undo()
    #expect(throws: ObjectConflictError.self) { try context.save() }
    #expect(try ObjectContext(store).all(Song.self).map(\.seconds) == [99])
  }

  @Test("Undoing a saved insertion detects later changes elsewhere")
  func undoneInsertion() throws {
    try context.insert(Song("a"))
    try context.save()
    let other = ObjectContext(store)
    try other.all(Song.self).first?.title = "theirs"
    try other.save()
    try context.undo()
    #expect(throws: ObjectConflictError.self) { try context.save() }
    #expect(try ObjectContext(store).all(Song.self).map(\.title) == ["theirs"])
  }

  @Test(
    "Deleting a song updates the current version of lists changed elsewhere, and a failed save changes nothing"
  )
  func staleOwners() throws {
    let songs = [Song("a"), Song("b")]
    let list = try context.insert(Playlist("Road", songs))
    try context.save()
    let other = ObjectContext(store)
    try other.find(Playlist.self).first()?.title = "theirs"
    try other.save()
    try context.delete(songs[0])
    try context.insert(Picture("p"))
    try store["Picture"].insert(["pixels": .data(Data()), "tags": []], key: "p")
    #expect(throws: StoreError.self) { try context.save() }
    #expect(list.songs.map(\.title) == ["b"] && !list.hasChanges)
    try context.insert(songs[0])
    #expect(list.songs.map(\.title) == ["a", "b"])
    try context.delete(songs[0])
    try store["Picture"].deleteAll()
    try context.save()
    #expect(list.title == "theirs" && list.songs.map(\.title) == ["b"])
  }

  @Test("Merging a deletion keeps the object with the merged fields and its positions in lists")
  func mergedDeletion() throws {
    let song = Song("a")
    let list = try context.insert(Playlist("Road", [song]))
    try context.save()
    let other = ObjectContext(store)
    try other.find(Song.self).first()?.seconds = 7
    try other.save()
    try context.delete(song)
    context.conflictPolicy = .merge { conflict in
      #expect(conflict.mine == nil)
      var fields = conflict.stored
      fields?["title"] = "merged"
      return fields
    }
    try context.save()
    #expect(!song.isDeleted && song.title == "merged" && song.seconds == 7)
    #expect(list.songs.first === song)
    #expect(try ObjectContext(store).all(Playlist.self).first?.songs.map(\.title) == ["merged"])
  }

  @Test("All reachable objects are saved in one save, along any relationship")
  func reachable() throws {
    let list = try context.insert(Playlist("a"))
    try context.save()
    let song = Song("x")
    let other = Playlist("b")
    other.cover = Picture("p")
    song.playlists = [other]
    list.anything = song
    try context.save()
    #expect(try store["Picture"].count() == 1)
    #expect(try store["Playlist"].count() == 2)
  }

  @Test("A chain of new objects can have any length")
  func longChain() throws {
    let first = Chain(0)
    var last = first
    for number in 1..<20_000 {
      let next = Chain(number)
      last.next = next
      last = next
    }
    try context.insert(first)
    try context.save()
    #expect(try store["Chain"].count() == 20_000)
    #expect(last.former?.number == 19_998)
    // Release the links one by one, because Swift would release the chain recursively.
    var link: Chain? = first
    while let next = link?.next {
      link?.next = nil
      link = next
    }
  }

  @Test("Undo after a rollback restores the correct object")
  func undoAfterRollback() throws {
    let song = try context.insert(Song("a"))
    try context.closeUndoGroup()
    try context.delete(song)
    try context.save()
    try context.undo()
    context.rollback()
    try context.insert(Song("b"))
    try context.undo()
    try context.undo()
    #expect(context.insertedObjects.compactMap { ($0 as? Song)?.title } == ["a"])
  }

  @Test("Deleting an object deleted elsewhere has no effect, also in a cascade")
  func deletedElsewhere() throws {
    let album = try context.insert(Album("Album", [Song("a")]))
    try context.save()
    try store["Song"].deleteAll()
    let fresh = ObjectContext(store)
    let found = try #require(try fresh.find(Album.self).first())
    try fresh.delete(found.tracks[0])
    #expect(found.tracks.isEmpty)
    try fresh.delete(found)
    try fresh.save()
    #expect(try store["Album"].count() == 0)
    #expect(album.title == "Album")
  }

  @Test("A deny rule applies again after the object is reinserted")
  func denyAgain() throws {
    try context.insert(Award("best", Album("Album")))
    try context.save()
    let fresh = ObjectContext(store)
    let award = try #require(try fresh.all(Award.self).first)
    let album = try #require(award.album)
    try fresh.delete(award)
    #expect(album.awards.isEmpty)
    try fresh.insert(award)
    #expect(album.awards.count == 1)
    #expect(throws: StoreError.self) { try fresh.delete(album) }
  }

  @Test("A deletion reverted by another context is detected, and undoing it here is a conflict")
  func revertedDeletion() throws {
    let song = try context.insert(Song("a"))
    try context.save()
    let other = ObjectContext(store)
    let theirs = try #require(try other.all(Song.self).first)
    theirs.title = "theirs"
    try context.delete(song)
    try context.save()
    other.conflictPolicy = .overwrite
    try other.save()
    #expect(try context.find(Song.self).faults().count == 1)
    #expect(try context.all(Song.self).map(\.title) == ["theirs"])
    try context.undo()
    #expect(throws: ObjectConflictError.self) { try context.save() }
  }

  /// Deletes an object, and restores its document in another context, with a different title.
  private func restoreElsewhere<Object: GraphObject>(
    _ object: Object, _ title: ReferenceWritableKeyPath<Object, String>
  ) throws {
    let other = ObjectContext(store)
    let id = try #require(object.objectID)
    let theirs = try #require(try other.get(id))
    theirs[keyPath: title] = "theirs"
    try context.delete(object)
    try context.save()
    other.conflictPolicy = .overwrite
    try other.save()
  }

  @Test("Inserting a deleted object that another context has restored is a conflict")
  func insertedAgain() throws {
    let song = try context.insert(Song("a"))
    try context.save()
    try restoreElsewhere(song, \.title)
    try context.insert(song)
    #expect(throws: ObjectConflictError.self) { try context.save() }
    context.conflictPolicy = .overwrite
    try context.save()
    #expect(try ObjectContext(store).all(Song.self).map(\.title) == ["a"])
    #expect(!song.hasChanges && !song.isDeleted)
  }

  @Test("A deleted object that another context has restored is found by its id")
  func restoredID() throws {
    let song = try context.insert(Song("a"))
    try context.save()
    let id = try #require(song.objectID)
    try restoreElsewhere(song, \.title)
    let found = try context.get(id)
    #expect(found === song && song.title == "theirs" && !song.isDeleted)
  }

  @MainActor
  @Test("An object without a key is not saved if its type of key cannot hold a generated one")
  func keyNotGenerated() async throws {
    let bill = try context.insert(Bill())
    let error = await #expect(throws: StoreError.self) { try await context.save() }
    #expect(error?.code == .invalidKey)
    bill.number = 7
    try await context.save()
    #expect(try await ObjectContext(store).all(Bill.self).map(\.number) == [7])
  }

  @Test("Observers learn that a deleted object is found again as a fault")
  func restoredFault() throws {
    let song = try context.insert(Song("a"))
    try context.save()
    try restoreElsewhere(song, \.title)
    let isDeleted = Watch { song.isDeleted }

    let found = try context.find(Song.self).faults()

    #expect(found.map { $0 === song } == [true])
    #expect(isDeleted.values == [true, false])
    #expect(song.title == "theirs")
  }

  /// Stores a song, deletes it, and changes it after another context has restored it. The changes and the deletion
  /// can be undone.
  private func changeRestored() throws -> Song {
    let song = try context.insert(Song("a"))
    try context.save()
    let id = try #require(song.objectID)
    try restoreElsewhere(song, \.title)
    let found = try #require(try context.get(id))
    #expect(found === song)
    song.title = "mine"
    return song
  }

  @Test("Undoing the deletion of a changed object that another context restored saves it once")
  func restoredAndChanged() throws {
    let song = try changeRestored()
    #expect(try context.undo() && context.undo())
    #expect(song.title == "a" && context.changedObjects.count == 1)
    var conflicts = 0
    context.conflictPolicy = .merge { conflict in
      conflicts += 1
      return conflict.mine
    }
    try context.save()
    #expect(conflicts == 1 && !context.hasUnsavedChanges)
    #expect(try ObjectContext(store).all(Song.self).map(\.title) == ["a"])
  }

  @Test("Undoing the deletion of a changed object that was restored and deleted again inserts it")
  func restoredAndDeletedAgain() throws {
    let song = try changeRestored()
    try store["Song"].deleteAll()
    #expect(try context.undo() && context.undo())
    #expect(context.changedObjects.isEmpty && context.insertedObjects.count == 1)
    context.conflictPolicy = .overwrite
    try context.save()
    #expect(song.title == "a" && !context.hasUnsavedChanges)
    #expect(try ObjectContext(store).all(Song.self).map(\.title) == ["a"])
  }

  @Test("A deleted object that another context has restored is an owner again")
  func restoredOwner() throws {
    let song = Song("a")
    let list = try context.insert(Playlist("Road", [song]))
    try context.save()
    try restoreElsewhere(list, \.title)
    #expect(song.playlists.isEmpty)
    context.refresh(song)
    #expect(song.playlists.map(\.title) == ["theirs"])
    #expect(song.playlists.first === list && list.songs.first === song)
  }

  @Test(
    "A document whose row ID is not positive is reported, and is not an object", .sqlite,
    arguments: [-5, 0] as [Int64])
  func unsupportedRowID(id: Int64) throws {
    let song = try context.insert(Song("a"))
    try context.save()
    try store.execute(
      #"INSERT INTO "Song" (id, body) VALUES (?, '{"title":"x","seconds":1}')"#, id)
    for _ in 1...2 {
      let error = #expect(throws: StoreError.self) { try context.all(Song.self) }
      #expect(error?.code == .unsupported && error?[.rowID] == "\(id)")
    }
    #expect(throws: StoreError.self) { try context.find(Song.self).faults() }
    let (songs, skipped) = try context.find(Song.self).fetchSkippingFailures()
    #expect(songs.count == 1 && songs.first === song)
    #expect(skipped.map(\.rowID) == [id])
    let new = try context.insert(Song("b"))
    try context.save()
    #expect(new.objectID?.rowID == 2)
  }

  @Test("A save with more new objects than row IDs is an error", .sqlite)
  func lastRowID() throws {
    try context.insert(Song("a"))
    try context.save()
    try store.execute(
      #"INSERT INTO "Song" (id, body) VALUES (?, '{"title":"x","seconds":1}')"#, Int64.max - 1)
    let new = [Song("b"), Song("c")]
    for song in new { try context.insert(song) }
    let error = #expect(throws: StoreError.self) { try context.save() }
    #expect(error?.code == .database)
    #expect(context.insertedObjects.count == 2 && new.allSatisfy { $0.objectID == nil })
    for song in new { try context.delete(song) }
    try context.save()
    #expect(try context.find(Song.self).count() == 2)
  }

  @Test("Overwriting a deleted document does not replace another document with its key")
  func keyTaken() throws {
    let picture = try context.insert(Picture("p"))
    try context.save()
    try store["Picture"].deleteAll()
    try store["Picture"].insert(["pixels": .data(Data()), "tags": ["theirs"]], key: "p")
    picture.tags = ["mine"]
    context.conflictPolicy = .overwrite
    let error = #expect(throws: StoreError.self) { try context.save() }
    #expect(error?.code == .duplicateKey)
    #expect(try store["Picture"].get("p")?["tags"]?.array == ["theirs"])
  }
}

@Model final class Chain {
  var number: Int
  @Relationship(inverse: \Chain.former) var next: Chain?
  @Inverse var former: Chain?

  init(_ number: Int) { self.number = number }
}

@Model private final class Bill {
  @Key var number: Int?

  init() {}
}
