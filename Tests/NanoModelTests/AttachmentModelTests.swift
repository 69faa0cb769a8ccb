// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Testing

@Model private struct Reel {
  @Key var id: String
  var title: String
  var poster: NanoStoreModels.Attachment? = nil
  var stills: [NanoStoreModels.Attachment] = []
}

@Model private struct Numbered { @Key var id: Int }

@Model private final class Album {
  var title: String
  var cover: NanoStoreModels.Attachment?
  init(title: String, cover: NanoStoreModels.Attachment?) {
    self.title = title
    self.cover = cover
  }
}

@Suite("Attachments in models")
struct AttachmentModelTests {
  private let store: Store
  init() throws { store = try anyStore() }

  @Test("A property refers to content, which compact keeps while a value refers to it")
  func property() async throws {
    let movies = store[Reel.self]
    let poster = try await store.addAttachment(.data(Data("poster".utf8)), contentType: "image/png")
    let still = try await store.addAttachment(.data(Data("still".utf8)), contentType: "image/png")
    try await movies.save(Reel(id: "alien", title: "Alien", poster: poster, stills: [still]))
    let found = try #require(try await movies.get("alien"))
    #expect(found.poster == poster)
    #expect(try await store.data(of: poster) == Data("poster".utf8))
    #expect(
      try await movies.documents.find("[poster.length] = 6 AND [stills.length] = 5").count() == 1)

    try await movies.update("alien", .set(\.title, "Aliens"), .set(\.poster, nil))
    try await store.compact(attachmentLease: .zero)
    await #expect(throws: StoreError.self) { try await store.data(of: poster) }
    #expect(try await store.data(of: still) == Data("still".utf8))
    #expect(try await store.verify().isEmpty)
  }

  @Test("A value that was read keeps the attachments of its document when it is saved")
  func named() async throws {
    let movies = store[Reel.self]
    try await movies.save(Reel(id: "ran", title: "Ran"))
    try await movies.documents.attach(
      .data(Data("cover".utf8)), named: "cover", contentType: "text/plain", to: "ran")
    var movie = try #require(try await movies.get("ran"))
    movie.title = "Ran (1985)"
    try await movies.save(movie)
    #expect(try await movies.documents.attachments(of: "ran").data("cover") == Data("cover".utf8))
  }

  @Test("Conditions, projections and sort orders use the properties of an attachment")
  func conditions() async throws {
    let movies = store[Reel.self]
    let poster = try await store.addAttachment(.data(Data("poster".utf8)), contentType: "image/png")
    let still = try await store.addAttachment(.data(Data("still".utf8)), contentType: "image/jpeg")
    try await movies.save(Reel(id: "alien", title: "Alien", poster: poster, stills: [still]))
    try await movies.save(Reel(id: "brazil", title: "Brazil", poster: still))
    try await movies.save(Reel(id: "ran", title: "Ran"))

    #expect(try await movies.find(\.poster?.length > 5).fetch().map(\.id) == ["alien"])
    #expect(try await movies.find(\.poster == nil).fetch().map(\.id) == ["ran"])
    #expect(try await movies.find(\.poster?.contentType == "image/jpeg").count() == 1)
    let closure = movies.find { $0.poster.length == 6 && $0.stills.contentType == "image/jpeg" }
    #expect(try await closure.fetch().map(\.id) == ["alien"])
    #expect(try await movies.find { $0.poster.digest == still.digest }.count() == 1)
    let predicate = movies.find(#Predicate { ($0.poster?.length ?? 0) > 5 })
    #expect(try await predicate.fetch().map(\.id) == ["alien"])
    #expect(try await movies.find(#Predicate { $0.poster != nil }).count() == 2)
    let lengths = try await movies.find().sorted(by: \.poster?.length).select(\.poster?.length)
    #expect(lengths == [nil, 5, 6])
  }

  @Test("A collection of models attaches content to a value by its key")
  func attach() async throws {
    let movies = store[Reel.self]
    try await movies.save(Reel(id: "ran", title: "Ran"))
    try await movies.attach(
      .data(Data("cover".utf8)), named: "cover", contentType: "text/plain", to: "ran")
    #expect(try await movies.attachments(of: "ran").data("cover") == Data("cover".utf8))
    #expect(try await movies.documents.attachments(of: "ran").get("cover")?.length == 5)
    let tools = store[Numbered.self]
    try await tools.save(Numbered(id: 5))
    try await tools.attach(.data(Data([1])), named: "icon", to: 5)
    #expect(try await tools.attachments(of: 5).data("icon") == Data([1]))
    let rowID = try #require(try await tools.getStored(5)?.rowID)
    #expect(try await tools.attachments(ofRowID: rowID).all().map(\.name) == ["icon"])
    let error = await #expect(throws: StoreError.self) {
      try await tools.attach(.data(Data()), named: "icon", to: 6)
    }
    #expect(error?.code == .notFound)
  }

  @Test("An object changes, undoes and saves an attachment like any other property")
  func object() async throws {
    let context = ObjectContext(store)
    let first = try await store.addAttachment(.data(Data([1])), contentType: "image/png")
    let second = try await store.addAttachment(.data(Data([2, 3])), contentType: "image/png")
    let album = try context.insert(Album(title: "Blue", cover: first))
    try await context.save()
    try context.closeUndoGroup()
    album.cover = second
    try context.undo()
    #expect(album.cover == first)
    try context.redo()
    try await context.save()
    try await store.compact(attachmentLease: .zero)
    let stored = try #require(try await store[Album.self].documents.find().fetch().first)
    #expect(stored["cover.length"] == 2)
    await #expect(throws: StoreError.self) { try await store.data(of: first) }
    #expect(try await store.data(of: second) == Data([2, 3]))
  }
}
