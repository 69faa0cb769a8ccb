// SPDX-License-Identifier: MIT

import Testing

@Suite("Diagnostics for properties of object classes")
struct ObjectProblemTests {
  @Test("A constant is rejected because it cannot be loaded later")
  func constant() {
    expectProblem(
      "@Model final class Song { →let title: String }",
      "a property of a '@Model' class must be a 'var', because it is loaded after the object is initialized",
      fixes: ["make it a 'var'": "@Model final class Song { var title: String }"])
  }

  @Test("Properties must be declared separately and cannot have observers")
  func shape() {
    expectProblem(
      "@Model final class Song { var →a: Int, b: Int }",
      "declare each property of a '@Model' class separately")
    expectProblem(
      "@Model final class Song { var a = 1 →{ didSet { print(a) } } }",
      "a property of a '@Model' class cannot have observers; use 'ObjectContextObserver' instead")
  }

  @Test(
    "A relationship must be an array of objects or an optional object",
    arguments: [
      "Song", "Set<Song>", "[[Song]]", "[String: Song]", "() -> Song",
    ])
  func ends(type: String) {
    expectProblem(
      "@Model final class Playlist { @Relationship var songs: →\(type) }",
      "a relationship must be an array of objects or an optional object, such as '[Song]' or 'Song?'"
    )
  }

  @Test(
    "Relationships must be variables without other attributes, and inverses cannot have a value")
  func marks() {
    expectProblem(
      "@Model final class Playlist { @Relationship →let songs: [Song] }",
      "a relationship must be a 'var'",
      fixes: ["make it a 'var'": "@Model final class Playlist { @Relationship var songs: [Song] }"])
    expectProblem(
      "@Model final class Playlist { @Relationship →@Indexed var songs: [Song] }",
      "'@Indexed' cannot be applied to a relationship",
      fixes: [
        "remove '@Indexed'": "@Model final class Playlist { @Relationship var songs: [Song] }"
      ])
    expectProblem(
      "@Model final class Song { var a = 1; @Inverse var playlists: [Playlist] →= [] }",
      "an '@Inverse' property cannot have an initial value, because the other class stores the relationship; remove the value"
    )
  }

  @Test("A relationship to objects of any class has no inverse, and an inverse must be a property")
  func inverses() {
    expectProblem(
      "@Model final class Playlist { →@Relationship(inverse: \\Song.playlists) var all: [any GraphObject] }",
      "a relationship to objects of any class cannot have an inverse")
    expectProblem(
      "@Model final class Playlist { @Relationship(→inverse: \\Song[0]) var songs: [Song] }",
      "the inverse must be a key path to a property, such as '\\Song.playlists'")
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
      "'Song.playlists' is already the inverse of 'songs'; declare a separate '@Inverse' property for 'others'"
    )
  }

  @Test("Relationships require a class")
  func structs() {
    expectProblem(
      "@Model struct Playlist { var a = 1; →@Relationship var songs: [Song] }",
      "'@Relationship' can only be applied to a stored property of a '@Model' class",
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
