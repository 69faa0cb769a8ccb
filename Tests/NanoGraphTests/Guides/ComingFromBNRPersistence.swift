// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Code in docs/COMING-FROM-BNRPERSISTENCE.md", .sqlite)
struct ComingFromBNRPersistence {
  @Model final class Song {
    var title: String
    var seconds: Int
    @Inverse var playlists: [Playlist]

    init(_ title: String, seconds: Int = 0) {
      self.title = title
      self.seconds = seconds
    }
  }

  @Model final class Playlist {
    var title: String
    @Relationship(inverse: \Song.playlists) var songs: [Song] = []
    @Relationship var favorite: (any GraphObject)?

    init(_ title: String) { self.title = title }
  }

  @Model final class Node {
    var x = 0.0
    var y = 0.0
    @Inverse(delete: .cascade) var departing: [Edge]
    @Inverse(delete: .cascade) var arriving: [Edge]
  }

  @Model final class Edge {
    @Relationship(inverse: \Node.departing) var source: Node?
    @Relationship(inverse: \Node.arriving) var destination: Node?

    func prepareForDelete(in context: ObjectContext) throws {
      print("an edge goes")
    }
  }

  @Model(version: 2) final class Contact {
    var phone: String
    var fax: String?
    var country = "US"

    init(phone: String) { self.phone = phone }

    static let upgrades = [
      ModelUpgrade(from: 1) { fields in
        fields["phone"] = .string("+1 \(fields["phone"]?.string ?? "")")
      }
    ]
  }

  @Test("The code of the guide runs as one program") func code() async throws {
    let scratch = try Scratch()
    let folder = scratch.path
    let store = try Store(.file(folder + "/music.db"))
    let context = ObjectContext(store)
    context.register(Song.self, Playlist.self, Node.self, Edge.self)

    let gin = try context.insert(Song("Gin", seconds: 180))
    let road = try context.insert(Playlist("Road"))
    road.songs = [gin, Song("Tonic"), gin]
    let isUnsaved = context.hasUnsavedChanges  // true
    try await context.save()
    gin.title += "!"
    try context.delete(gin)
    let titles = road.songs.map(\.title)  // ["Tonic"]
    context.rollback()
    #expect(isUnsaved)
    #expect(titles == ["Tonic"])

    try await fetch(ObjectContext(store), gin.objectID!)
    try undo(context, gin)
    try circles(context)
    try await names(context, store, gin)
    try await texts(context, store)
    try await upgrade(store)
  }

  private func fetch(_ context: ObjectContext, _ id: ObjectID<Song>) async throws {
    let playlists = try await context.all(Playlist.self)
    let isFault = playlists[0].songs[0].isFault  // true
    let title = playlists[0].songs[0].title  // "Gin": the access loads the object
    let song = try await context.get(id)  // nil if there is none
    let fault = context.fault(id)  // does not read the store
    try context.find(Song.self).each { song in
      song.seconds += 1
      return song.title != "Gin"  // stops at "Gin"
    }
    let long = try await context.find(\Song.seconds > 100).sorted(by: \.title).fetch()
    #expect(isFault)
    #expect(title == "Gin")
    #expect(song === fault && song === playlists[0].songs[2])
    #expect(long.count == 1)
    #expect(song?.seconds == 181)
    try await context.prefetch(\.songs, of: playlists)
    #expect(!playlists[0].songs[1].isFault)
  }

  private func undo(_ context: ObjectContext, _ gin: Song) throws {
    let observer = Log()
    context.observer = observer
    try context.undoGroup(named: "Rename") { gin.title = "Sloe Gin" }
    try context.undo()  // "Gin", and the observer is notified
    try context.redo()
    #expect(gin.title == "Sloe Gin")
    #expect(observer.changes == 2)
    try context.undo()
  }

  final class Log: ObjectContextObserver {
    var changes = 0

    func context(_ context: ObjectContext, didChange object: any GraphObject) { changes += 1 }
  }

  private func circles(_ context: ObjectContext) throws {
    let edge = Edge()
    edge.source = Node()
    edge.destination = edge.source
    try context.insert(edge)
    try context.save()
    try context.delete(edge.source!)
    try context.save()
    #expect(try context.find(Edge.self).count() == 0)
  }

  private func names(_ context: ObjectContext, _ store: Store, _ gin: Song) async throws {
    try context.setObject(gin, named: "Favorite")
    context.setValue(["volume": 11], named: "settings")
    try await context.save()
    let favorite = try context.object(named: "Favorite", as: Song.self)
    let names = try context.names()  // ["Favorite", "settings"]
    try await store.setMetadata(["volume": 12], "settings")  // immediately, without the context
    #expect(favorite === gin)
    #expect(names == ["Favorite", "settings"])
    #expect(try context.value(named: "settings") == ["volume": 12])
  }

  private func texts(_ context: ObjectContext, _ store: Store) async throws {
    try await store["Song"].createFullTextIndex("title", tokens: .substrings)
    let query = FullTextQuery.field("title", FullTextQuery(bnrExpression: "gi && in"))
    let found = try await context.search(Song.self, query).faults()
    #expect(found.count == 1)
  }

  private func upgrade(_ store: Store) async throws {
    try await store["Contact"].insert(["phone": "555"])
    let context = ObjectContext(store)
    let contact = try await context.find(Contact.self).first()!
    let phone = contact.phone  // "+1 555": upgraded on reading
    let upgraded = try context.upgrade(Contact.self)  // 1: stores the upgraded document
    #expect(phone == "+1 555")
    #expect(upgraded == 1)
  }
}
