// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

/// Classes with inconsistent relationships that the compiler cannot detect.
private enum Unnamed {
  @Model final class Song {
    var title = ""
    @Inverse var playlists: [Playlist]
  }
  @Model final class Playlist {
    @Relationship var songs: [Song] = []
  }
}

private enum Plain {
  @Model final class Song {
    var title = ""
    @Transient var playlists: [Playlist] = []
  }
  @Model final class Playlist {
    @Relationship(inverse: \Song.playlists) var songs: [Song] = []
  }
  /// Refers to the inconsistent classes.
  @Model final class Shelf {
    @Relationship var playlists: [Playlist] = []
  }
}

private enum BothSides {
  @Model final class Song {
    var title = ""
    @Relationship var playlist: Playlist?
  }
  @Model final class Playlist {
    @Relationship(inverse: \Song.playlist) var songs: [Song] = []
  }
}

enum PetMood: String {
  case none, good
}
enum PetKind: String, CaseIterable {
  case cat, dog
}
enum PetSize: String, Codable {
  case small, large
}

@Model private final class Pet {
  var mood: PetMood = .good
  var former: PetMood = .none
  var name: String
  var kind: PetKind
  var size: PetSize

  init() {
    name = "Tom"
    kind = .dog
    size = .large
  }
}

@Suite("Inconsistent relationships")
struct DefinitionTests {
  private func expectProblem<Object: GraphObject>(
    with object: Object, _ message: String, _ field: String, _ hint: String,
    location: SourceLocation = #_sourceLocation
  ) throws {
    let context = ObjectContext(try anyStore())
    for call in [
      { _ = try context.insert(object) }, { _ = try context.find(Object.self).count() },
      { _ = try context.find(Object.self).fetch() },
      { _ = try context.find(Object.self).first() },
      { _ = try context.get(ObjectID<Object>(rowID: 1)) }, { try context.upgrade(Object.self) },
    ] {
      let error = #expect(throws: StoreError.self, sourceLocation: location) { try call() }
      #expect(error?.code == .invalidArgument, sourceLocation: location)
      #expect(error?.message == message, sourceLocation: location)
      #expect(error?[.field] == field && error?[.hint] == hint, sourceLocation: location)
    }
    #expect(!context.hasUnsavedChanges, sourceLocation: location)
  }

  @Test("An inverse that no relationship names is rejected with its class, from both ends")
  func unnamed() throws {
    let message = "No relationship names a property that is marked with @Inverse"
    let hint = #"declare @Relationship(inverse: \Song.playlists) var … in Playlist"#
    try expectProblem(with: Unnamed.Song(), message, "Song.playlists", hint)
    try expectProblem(with: Unnamed.Playlist(), message, "Song.playlists", hint)
  }

  @Test(
    "An inverse not marked with @Inverse is rejected, also from classes that refer to it"
  )
  func plain() throws {
    let message = "A relationship has an inverse that is not marked with @Inverse"
    let hint = "declare @Inverse var playlists: [Playlist] in Song"
    try expectProblem(with: Plain.Playlist(), message, "Playlist.songs", hint)
    try expectProblem(with: Plain.Shelf(), message, "Playlist.songs", hint)
    try expectProblem(
      with: BothSides.Playlist(), message, "Playlist.songs",
      "declare @Inverse var playlist: [Playlist] in Song")
    try expectProblem(
      with: BothSides.Song(), message, "Playlist.songs",
      "declare @Inverse var playlist: [Playlist] in Song")
  }

  @Test(
    "An object whose document cannot be loaded has its first values, including a case named none")
  func firstValues() throws {
    let store = try anyStore()
    let context = ObjectContext(store)
    let pet = try context.insert(Pet())
    try context.save()
    let other = ObjectContext(store)
    var failures: [StoreError.Code?] = []
    other.loadFailureHandler = { failures.append(($1 as? StoreError)?.code) }
    let fault = try #require(try other.find(Pet.self).first())
    other.refresh(fault)
    try context.delete(pet)
    try context.save()

    #expect(fault.former == PetMood.none && fault.mood == .good)
    #expect(fault.name.isEmpty && fault.kind == .cat)
    // The size has none, and is not read.
    #expect(failures == [.notFound])
    fault.name = "Tim"
    #expect(throws: ObjectConflictError.self) { try other.save() }
  }
}
