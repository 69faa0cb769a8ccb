// SPDX-License-Identifier: MIT

import Testing

@Suite("Diagnostics for properties of object classes")
struct ObjectProblemTests {
  @Test("A constant is rejected because it cannot be loaded later")
  func constant() {
    expectProblem(
      "@Model final class Song { →let title: String }",
      "a property of an object is loaded after the object is made, and so is a variable",
      fixes: ["make it a 'var'": "@Model final class Song { var title: String }"])
  }

  @Test("Properties must be declared separately and cannot have observers")
  func shape() {
    expectProblem(
      "@Model final class Song { var →a: Int, b: Int }",
      "declare each property of an object on its own")
    expectProblem(
      "@Model final class Song { var a = 1 →{ didSet { print(a) } } }",
      "a property of an object has no observers; see 'ObjectContextObserver'")
  }

  @Test(
    "A relationship must be an array of objects or an optional object",
    arguments: [
      "Song", "Set<Song>", "[[Song]]", "[String: Song]", "() -> Song",
    ])
  func ends(type: String) {
    expectProblem(
      "@Model final class Playlist { @Relationship var songs: →\(type) }",
      "a relationship is an array of objects, or an optional object: '[Song]', 'Song?'")
  }

  @Test(
    "Relationships must be variables without other attributes, and inverses cannot have a value")
  func marks() {
    expectProblem(
      "@Model final class Playlist { @Relationship →let songs: [Song] }",
      "a relationship is a variable",
      fixes: ["make it a 'var'": "@Model final class Playlist { @Relationship var songs: [Song] }"])
    expectProblem(
      "@Model final class Playlist { @Relationship →@Indexed var songs: [Song] }",
      "a relationship has no '@Indexed'",
      fixes: [
        "remove '@Indexed'": "@Model final class Playlist { @Relationship var songs: [Song] }"
      ])
    expectProblem(
      "@Model final class Song { var a = 1; @Inverse var playlists: [Playlist] →= [] }",
      "the other class keeps this relationship; it has no value here")
  }

  @Test("A relationship to objects of any class has no inverse, and an inverse must be a property")
  func inverses() {
    expectProblem(
      "@Model final class Playlist { →@Relationship(inverse: \\Song.playlists) var all: [any GraphObject] }",
      "a relationship to objects of any class has no inverse")
    expectProblem(
      "@Model final class Playlist { @Relationship(→inverse: \\Song[0]) var songs: [Song] }",
      "the inverse is a key path to a property, as in '\\Song.playlists'")
  }

  @Test("An inverse can belong to only one relationship of a class")
  func sharedInverse() {
    expectProblem(
      """
      @Model final class Playlist {
        @Relationship(inverse: \\Song.playlists) var songs: [Song] = []
        →@Relationship(inverse: \\Song.playlists) var others: [Song] = []
      }
      """,
      "'Song.playlists' is the inverse of 'songs' already; declare another '@Inverse' for 'others'")
  }

  @Test("Relationships require a class")
  func structs() {
    expectProblem(
      "@Model struct Playlist { var a = 1; →@Relationship var songs: [Song] }",
      "'@Relationship' belongs to a stored property of a class that is a '@Model'",
      fixes: ["remove '@Relationship'": "@Model struct Playlist { var a = 1; var songs: [Song] }"])
  }

  @Test(
    "A relationship accessor loads the object, notifies before the change and updates the inverse")
  func accessors() {
    let expanded = Diagnosis(
      """
      @Model final class Playlist {
        @Relationship(inverse: \\Song.playlists) var songs: [Song] = []
        @Relationship var cover: Picture?
        @Inverse var owner: Person?
      }
      """
    ).expanded
    for text in [
      "init(initialValue) {", "_$f_songs = NanoStoreModels.ToMany<Song>(initialValue)",
      "return _$f_songs.objects(of: self)", "let _$before = _$f_songs.beginChange(of: self)",
      "_$didChange(\"songs\", since: _$before, to: _$f_songs._objects)",
      "yield &_$f_songs._objects", "return _$f_cover.object(of: self)",
      "private var _$f_owner: NanoStoreModels.InverseOne<Person> = .init()",
      "NanoStoreModels.GraphRelationship(\"songs\", \\_$Model._$f_songs, inverse: \"playlists\")",
      "PropertyCheck.inverse(\\Song.playlists, Song.self, Playlist.self)",
      "NanoStoreModels.GraphInverse(\"owner\", \\_$Model._$f_owner)",
      "self._$f_songs.write(to: &writer, isDocument: isDocument)",
    ] { #expect(expanded.contains(text), "\(text) is not in \(expanded)") }
    #expect(!expanded.contains("_$didChange(\"cover\""))
  }
}
