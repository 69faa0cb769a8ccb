// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Code in docs/COMING-FROM-SWIFTDATA.md", .sqlite)
struct ComingFromSwiftData {
  @Model final class Artist {
    @Unique var name: String
    @Inverse(delete: .deny) var albums: [Album]

    init(_ name: String) { self.name = name }
  }

  @Model(version: 2) final class Album {
    @TextIndexed @Field(renamedFrom: "name") var title: String
    @Indexed var year: Int
    var cover: Data?
    @Relationship(inverse: \Artist.albums) var artist: Artist?
    @Relationship(inverse: \Track.album, delete: .cascade) var tracks: [Track] = []
    @Transient var isSelected = false

    init(_ title: String, year: Int, artist: Artist? = nil) {
      self.title = title
      self.year = year
      self.artist = artist
    }

    static let upgrades = [
      ModelUpgrade(from: 1) { fields in
        if let text = fields["year"]?.string { fields["year"] = .int(Int64(text) ?? 0) }
      }
    ]
  }

  @Model final class Track {
    var title: String
    var seconds: Int
    @Inverse var album: Album?

    init(_ title: String, seconds: Int = 0) {
      self.title = title
      self.seconds = seconds
    }
  }

  @Test("The code of the guide runs as one program") func code() async throws {
    let scratch = try Scratch()
    let store = try Store(.file(scratch.path + "/music.db"))
    let id = try await plainly(scratch.path)
    let context = ObjectContext(store)

    let found = try await Task.detached { [store] in
      try await ObjectContext(store).get(id)?.title  // IDs can cross tasks, objects cannot
    }.value
    #expect(found == "Porgy and Bess")

    let library = ObjectActor(store)
    let imported = try await library.perform { context in
      let album = try context.insert(Album("Ella in Berlin", year: 1960))
      try context.save()
      return album.objectID!
    }
    let sixties = try await context.find(\Album.year >= 1960).fetch()
    #expect(sixties.map(\.objectID) == [imported])

    try await conflict(store, imported)
    try await watch(store)
  }

  private func plainly(_ folder: String) async throws -> ObjectID<Album> {
    let store = try Store(.file(folder + "/music.db"))
    let context = ObjectContext(store)

    let ella = Artist("Ella")
    let album = Album("Porgy and Bess", year: 1959, artist: ella)
    album.tracks = [Track("Summertime"), Track("It Ain't Necessarily So")]
    try context.insert(album)
    try await context.save()
    let id = album.objectID!
    #expect(ella.albums.first === album)

    let old = try await context.find(\Album.year < 1960).sorted(by: \.title).limit(20).fetch()
    let same = try await context.find(#Predicate<Album> { $0.year < 1960 }).count()
    let ids = try await context.find(Album.self).objectIDs()
    let hers = try await context.find(Album.self) { $0.artist.isObject(ella) }.fetch()
    let words = try await context.search(Album.self, "porgy bess").fetch()
    try await context.prefetch(\.tracks, of: old)
    #expect(old.count == 1 && same == 1 && ids == [id] && hers.count == 1 && words.count == 1)

    album.title = "Porgy"
    try context.undo()
    album.year = 1958
    context.rollback()
    #expect(album.title == "Porgy and Bess" && album.year == 1959)

    try refused(context)
    #expect(try context.upgrade(Album.self) == 0)
    return id
  }

  private func conflict(_ store: Store, _ id: ObjectID<Album>) async throws {
    let (mine, other) = (ObjectContext(store), ObjectContext(store))
    mine.conflictPolicy = .merge { conflict in
      var fields = conflict.stored ?? [:]
      fields["title"] = conflict.mine?["title"]
      return fields
    }
    try await other.get(id)!.year = 1961
    try await mine.get(id)!.title = "Mack the Knife"
    try await other.save()
    try await mine.save()
    let album = try await mine.get(id)!  // "Mack the Knife", 1961
    #expect(album.title == "Mack the Knife" && album.year == 1961)
  }

  private func refused(_ context: ObjectContext) throws {
    try context.insert(Artist("Ella"))
    do {
      try context.save()
      Issue.record("two of one name")
    } catch let error as StoreError where error.code == .uniqueViolation {
      context.rollback()  // nothing was stored, and nothing is left to be
    }
    #expect(!context.hasUnsavedChanges)
  }

  private func watch(_ store: Store) async throws {
    for try await albums in try store["Album"].find("[year] > 1900").sorted(by: "title").updates() {
      print(albums.map { $0["title"] })  // now, and after each commit that changes it
      break
    }
  }
}
