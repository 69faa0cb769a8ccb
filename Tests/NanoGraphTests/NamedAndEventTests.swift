// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Named values and objects")
struct NamedTests {
  @Test("Named values are stored by the save, replaced, listed and removed")
  func values() throws {
    let store = try anyStore()
    let context = ObjectContext(store)
    context.setValue(["width": 3], named: "window")
    context.setValue(7, named: "number")
    #expect(try context.value(named: "number") == 7)
    #expect(try store.metadata("number") == nil)
    #expect(try context.names() == ["number", "window"])
    try context.save()
    #expect(try store.metadata("window") == ["width": 3])
    context.setValue(nil, named: "number")
    #expect(try context.value(named: "number") == nil)
    #expect(try context.names() == ["window"])
    context.rollback()
    #expect(try context.value(named: "number") == 7)
    let isOff = try context.names().contains("number")
    context.setValue(isOff ? nil : 7 as DocumentValue, named: "number")
    #expect(try context.value(named: "number") == nil)
    try context.save()
    #expect(try store.metadataNames() == ["window"])
  }

  @Test("A new named object is found before and after the save, a deleted one is not")
  func objects() throws {
    let store = try anyStore()
    let context = ObjectContext(store)
    let song = Song("a")
    try context.setObject(song, named: "Favorite")
    #expect(try context.object(named: "Favorite", as: Song.self) === song)
    try context.save()
    let other = ObjectContext(store)
    #expect(try other.object(named: "Favorite", as: Song.self)?.title == "a")
    #expect(try other.object(named: "none", as: Song.self) == nil)
    let error = #expect(throws: StoreError.self) {
      try other.object(named: "Favorite", as: Playlist.self)
    }
    #expect(error?.code == .typeMismatch)
    try context.delete(song)
    #expect(try context.object(named: "Favorite", as: Song.self) == nil)
    #expect(try context.value(named: "Favorite") != nil && context.names() == ["Favorite"])
    try context.setObject(Song("b"), named: "New")
    try context.delete(try #require(try context.object(named: "New", as: Song.self)))
    #expect(try context.value(named: "New") == nil && context.names() == ["Favorite"])
    try context.save()
    #expect(try other.object(named: "Favorite", as: Song.self) == nil)
    #expect(try ObjectContext(store).object(named: "Favorite", as: Song.self) == nil)
  }
}

@Suite("Observers and events")
struct EventTests {
  private final class Log: ObjectContextObserver {
    var lines: [String] = []
    func context(_ context: ObjectContext, willInsert object: any GraphObject) {
      lines.append("insert \((object as? Song)?.title ?? "")")
    }
    func context(_ context: ObjectContext, willUpdate object: any GraphObject) {
      lines.append("update \((object as? Song)?.title ?? "")")
    }
    func context(_ context: ObjectContext, willDelete object: any GraphObject) {
      lines.append("delete \((object as? Song)?.title ?? "")")
    }
    func context(_ context: ObjectContext, didChange object: any GraphObject) {
      lines.append("changed \((object as? Song)?.title ?? "")")
    }
  }

  @Test("An observer is notified of inserts, first changes, deletions and undo, in order")
  func observer() throws {
    let context = ObjectContext(try anyStore())
    let log = Log()
    context.observer = log
    let song = try context.insert(Song("a"))
    try context.save()
    song.title = "b"
    song.title = "c"
    try context.undo()
    try context.delete(song)
    #expect(log.lines == ["insert a", "update a", "changed a", "delete a"])
  }

  @Test("The event sequence delivers ids and ends with the context")
  func sequence() async throws {
    let context = ObjectContext(try anyStore())
    let events = context.events()
    let song = try context.insert(Song("a"))
    try await context.save()
    song.title = "b"
    try context.delete(song)
    try await context.save()
    context.close()
    var seen: [ObjectEvent] = []
    for await event in events { seen.append(event) }
    #expect(
      seen.map(\.kind) == [.willInsert, .didSave, .willUpdate, .willDelete, .didSave])
    #expect(seen.map { $0.id?.rowID } == [nil, nil, 1, 1, nil])
    #expect(seen.map(\.collection) == ["Song", nil, "Song", "Song", nil])
  }
}
