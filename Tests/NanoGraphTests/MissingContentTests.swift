// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Objects without content")
struct MissingContentTests {
  private let store: Store
  private let context: ObjectContext
  private let id: ObjectID<Song>

  init() throws {
    store = try anyStore()
    let other = ObjectContext(store)
    let song = try other.insert(Song("a"))
    try other.save()
    id = try #require(song.objectID)
    context = ObjectContext(store)
  }

  private func deleteDocument() throws { try store["Song"].delete(rowID: id.rowID) }

  private func expectNoContent(_ song: Song, in context: ObjectContext) {
    let error = #expect(throws: StoreError.self) { try context.insert(song) }
    #expect(error?.code == .invalidArgument)
  }

  @Test(
    "After a save has deleted a fault without a document, it has placeholders and cannot be inserted",
    arguments: [false, true])
  func deleted(isRead: Bool) throws {
    var failures = 0
    context.loadFailureHandler = { _, _ in failures += 1 }
    let song = context.fault(id)
    try deleteDocument()
    if isRead { #expect(song.title == "") }
    try context.delete(song)
    try context.save()
    failures = 0

    expectNoContent(song, in: context)
    #expect(song.title == "" && failures == 1)
    expectNoContent(song, in: context)
    try context.save()

    #expect(song.isDeleted)
    #expect(try store["Song"].count() == 0)
  }

  @Test("A fault of which only the status is observed has placeholders after others delete it")
  func observed() throws {
    let song = context.fault(id)
    let isDeleted = Watch { song.isDeleted }
    try deleteDocument()

    context.refreshAll()

    #expect(isDeleted.values == [false, true])
    #expect(song.title == "")
    expectNoContent(song, in: context)
  }

  @Test("A loaded object that is observed keeps its content after others delete it")
  func observedContent() throws {
    let song = try #require(try context.get(id))
    let isDeleted = Watch { song.isDeleted }
    try deleteDocument()

    context.refreshAll()

    #expect(isDeleted.values == [false, true])
    #expect(song.title == "a")
    try context.insert(song)
    try context.save()
    #expect(try ObjectContext(store).all(Song.self).map(\.title) == ["a"])
  }

  @Test("A fault whose context is closed can be changed in place, and is not inserted elsewhere")
  func closed() {
    let song = context.fault(id)
    context.close()

    song.title += "!"

    #expect(song.title == "!")
    expectNoContent(song, in: ObjectContext(store))
  }

  @Test("A deleted fault without a document can be changed in place before the save")
  func changed() throws {
    let song = context.fault(id)
    try deleteDocument()
    try context.delete(song)

    song.title += "!"

    #expect(song.title == "!")
    try context.save()
    #expect(try store["Song"].count() == 0)
  }
}
