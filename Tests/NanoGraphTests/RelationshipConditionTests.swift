// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Conditions on relationships")
struct RelationshipConditionTests {
  private let context: ObjectContext

  init() throws {
    context = ObjectContext(try anyStore())
    try context.insert(Album("Road", [Song("Gin")]))
    try context.insert(Award("Best", Album("Street")))
    try context.save()
  }

  @Test(
    "A condition on a property of a related object is an error, not a wrong result")
  func properties() {
    expectRejected { try context.find(Award.self) { $0.album.title == "Street" }.count() }
    expectRejected { try context.find(Album.self) { $0.tracks.title == "Gin" }.count() }
    expectRejected {
      try context.find(Album.self) { $0.tracks.element { $0.title == "Gin" } }.count()
    }
  }

  @Test("A predicate or an ordering by a property of a related object is an error")
  func predicates() {
    expectRejected { try context.find(#Predicate<Award> { $0.album?.title == "Street" }).count() }
    expectRejected {
      try context.find(#Predicate<Album> { $0.tracks.contains { $0.title == "Gin" } }).count()
    }
    expectRejected(.invalidArgument) {
      try context.find(Award.self).sorted(by: \.album?.title).fetch().count
    }
  }

  @Test("A condition can use what the object's own document contains")
  func ownFields() throws {
    let album = try #require(try context.find(\Album.title == "Street").first())
    #expect(try context.find(Award.self) { $0.album.isObject(album) }.count() == 1)
    #expect(try context.find(#Predicate<Album> { $0.tracks.isEmpty }).count() == 1)
    #expect(try context.find(#Predicate<Album> { $0.tracks.count == 1 }).count() == 1)
  }

  @Test("Objects that were stored before the relationship was declared have no related objects")
  func addedRelationship() throws {
    let (albums, all) = (context.store["Album"], try context.find(Album.self).count())
    try albums.find().update(.remove("tracks"))
    let fresh = ObjectContext(context.store)
    #expect(try fresh.find(#Predicate<Album> { $0.tracks.isEmpty }).count() == all)
    #expect(try fresh.find(#Predicate<Album> { !$0.tracks.isEmpty }).count() == 0)
    #expect(try fresh.find(#Predicate<Album> { $0.tracks.count == 0 }).count() == all)
    #expect(try fresh.find(#Predicate<Album> { $0.tracks.count == 1 }).count() == 0)
    #expect(try fresh.find(Album.self) { $0.tracks.isEmpty }.count() == all)
    #expect(try fresh.find(Album.self) { !$0.tracks.isEmpty }.count() == 0)
  }

  private func expectRejected(
    _ code: StoreError.Code = .unsupported, _ find: () throws -> Int,
    _ location: SourceLocation = #_sourceLocation
  ) {
    do {
      Issue.record("found \(try find())", sourceLocation: location)
    } catch {
      #expect((error as? StoreError)?.code == code, sourceLocation: location)
    }
  }
}
