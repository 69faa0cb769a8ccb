// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Relationships")
struct RelationshipTests {
  private let store: Store
  private let context: ObjectContext

  init() throws {
    store = try anyStore()
    context = ObjectContext(store)
  }

  @Test("Both ends of a relationship change together, from either end, saved or not")
  func bothEnds() throws {
    let song = try context.insert(Song("a"))
    let list = Playlist("Road", [song])
    try context.insert(list)
    #expect(song.playlists.map(\.title) == ["Road"])
    song.playlists = []
    #expect(list.songs.isEmpty)
    song.playlists.append(list)
    #expect(list.songs.map(\.title) == ["a"])
    try context.save()
    song.playlists.removeAll()
    #expect(list.songs.isEmpty && list.hasChanges)
    try context.save()
    let fresh = try #require(try ObjectContext(store).all(Playlist.self).first)
    #expect(fresh.songs.isEmpty)
  }

  @Test("A song has one album: adding it to a different album removes it from the first")
  func exclusive() throws {
    let song = Song("a")
    let first = try context.insert(Album("first", [song]))
    let second = try context.insert(Album("second"))
    try context.save()
    second.tracks.append(song)
    #expect(first.tracks.isEmpty && song.album === second)
    song.album = first
    #expect(first.tracks.map(\.title) == ["a"] && second.tracks.isEmpty)
    song.album = nil
    #expect(first.tracks.isEmpty)
  }

  @Test("A relationship can refer to objects of several classes by a protocol")
  func protocols() throws {
    let queue = try context.insert(LabeledQueue())
    let list = Playlist("Road", [Song("a")])
    queue.items = [list.songs[0], list]
    queue.current = list
    try context.save()

    let fresh = ObjectContext(store)
    fresh.register(Song.self, Playlist.self)
    let found = try #require(try fresh.all(LabeledQueue.self).first)
    #expect(found.items.map(\.label) == ["a", "Road"])
    #expect(found.current?.label == "Road")
  }

  @Test(
    "A reference to an object of a class that is not registered is reported, and kept when its owner is saved"
  )
  func unregisteredClass() throws {
    let queue = try context.insert(LabeledQueue())
    let list = Playlist("Road", [Song("a")])
    queue.items = [list.songs[0], list]
    queue.current = list
    try context.save()
    try store["LabeledQueue"].find().update(
      .set("current.collection", "Nothing"), .set("items.1.collection", "Nothing"))

    let fresh = ObjectContext(store)
    fresh.register(Song.self)
    var reported: [String] = []
    fresh.loadFailureHandler = { id, _ in reported.append(id.collection) }
    let found = try #require(try fresh.all(LabeledQueue.self).first)
    #expect(found.items.map(\.label) == ["a"])
    #expect(found.current == nil)
    #expect(reported == ["Nothing", "Nothing"])
    found.items.insert(Song("b"), at: 0)
    try fresh.save()

    let stored = try #require(try store["LabeledQueue"].find().fetch().first)
    #expect(stored["items.2.collection"] == "Nothing")
    #expect(stored["items.2.id"] == .int(try #require(list.objectID).rowID))
    #expect(stored["current.collection"] == "Nothing")
  }

  @Test("A reference that was imported with the number of an unknown class is reported, and kept")
  func numberedClass() throws {
    let song = try context.insert(Song("a"))
    try context.save()
    let reference: DocumentValue = ["classID": 7, "rowID": 3]
    let rowID = try #require(song.objectID).rowID
    try store["LabeledQueue"].insert([
      "items": [reference, ["collection": "Song", "id": .int(rowID)]], "current": reference,
    ])

    var reported: [Int64] = []
    context.loadFailureHandler = { id, _ in reported.append(id.rowID) }
    let found = try #require(try context.all(LabeledQueue.self).first)
    #expect(found.items.map(\.label) == ["a"] && found.current == nil)
    #expect(reported == [3, 3])
    found.items.append(Song("b"))
    try context.save()

    let stored = try #require(try store["LabeledQueue"].find().fetch().first)
    #expect(stored["items.2"] == reference && stored["current"] == reference)
  }

  @Test(
    "References to objects of a class that is registered after they were read are objects, and deleted ones removed"
  )
  func registeredLater() throws {
    let queue = try context.insert(LabeledQueue())
    let sticker = Sticker(label: "new")
    queue.items = [Song("a"), sticker]
    queue.current = sticker
    try context.save()
    let fresh = ObjectContext(store)
    fresh.register(Song.self)
    let found = try #require(try fresh.all(LabeledQueue.self).first)
    #expect(found.items.map(\.label) == ["a"] && found.current == nil)

    let known = try #require(try fresh.all(Sticker.self).first)

    #expect(found.items.map(\.label) == ["a", "new"] && found.current === known)
    try fresh.delete(known)
    try fresh.save()
    let stored = try #require(try store["LabeledQueue"].find().fetch().first)
    #expect(stored["items"]?.array?.count == 1 && stored["current.collection"] == nil)
  }

  @Test(
    "Replacing a relationship keeps references to objects of classes that are not registered",
    arguments: [false, true])
  func replacedUnregistered(isRead: Bool) throws {
    let queue = try context.insert(LabeledQueue())
    queue.items = [Song("a"), Playlist("Road")]
    try context.save()
    try store["LabeledQueue"].find().update(.set("items.1.collection", "Nothing"))
    let fresh = ObjectContext(store)
    fresh.register(Song.self)
    let found = try #require(try fresh.all(LabeledQueue.self).first)
    if isRead { #expect(found.items.map(\.label) == ["a"]) }

    found.items = [Song("b")]
    try fresh.save()

    let stored = try #require(try store["LabeledQueue"].find().fetch().first)
    #expect(stored["items"]?.array?.count == 2)
    #expect(stored["items.0.collection"] == "Song" && stored["items.0.id"] == 2)
    #expect(stored["items.1.collection"] == "Nothing")
  }

  @Test("Inverses of the same name in several classes have the owners by their own relationship")
  func sameInverseName() throws {
    let students = [Student("Ada"), Student("Max")]
    let courses = [Course("Art"), Course("Law")]
    for student in students { try context.insert(student) }
    for (student, course) in zip(students, courses.reversed()) {
      try context.insert(Enrollment(student, course))
    }
    #expect(courses.map { $0.enrollments.map { $0.student?.name } } == [["Max"], ["Ada"]])
    try context.save()

    let other = ObjectContext(store)
    let found = try other.find(Course.self).sorted(by: \.title).fetch()
    #expect(found.map { $0.enrollments.map { $0.student?.name } } == [["Max"], ["Ada"]])
    let new = try other.insert(Enrollment())
    found[0].enrollments.append(new)
    #expect(new.course === found[0] && new.student == nil)
    let error = #expect(throws: StoreError.self) { try other.delete(found[1]) }
    #expect(error?.code == .deleteDenied)
    try other.delete(try #require(try other.find(\Student.name == "Max").first()))
    #expect(found[0].enrollments.count == 1 && found[0].enrollments.first === new)
    try other.save()

    let left = try ObjectContext(store).all(Enrollment.self)
    #expect(left.map { $0.course?.title } == ["Law", "Art"])
    #expect(left.map { $0.student?.name } == ["Ada", nil])
  }

  @Test("The inverse of a many-to-one relationship lists the referring objects")
  func manyToOne() throws {
    let album = try context.insert(Album("a"))
    let award = Award("best", album)
    album.awards.append(award)
    try context.insert(Award("other", album))
    #expect(album.awards.map(\.name) == ["best", "other"])
    try context.save()
    let other = try #require(try ObjectContext(store).all(Album.self).first)
    #expect(other.awards.map(\.name) == ["best", "other"])
    let second = try context.insert(Album("b"))
    second.awards = album.awards
    #expect(album.awards.isEmpty && award.album === second)
  }

  @Test("A new object that takes the owner of a to-one relationship removes it from the former one")
  func takenOwner() throws {
    let first = try context.insert(Album("a"))
    let award = try context.insert(Award("x", first))
    let chain = try context.insert(Chain(1))
    let next = try context.insert(Chain(2))
    chain.next = next

    let second = Album("b")
    second.awards = [award]
    try context.insert(second)
    let new = Chain(3)
    new.former = chain
    try context.insert(new)

    #expect(award.album === second && second.awards.map(\.name) == ["x"])
    #expect(first.awards.isEmpty)
    #expect(chain.next === new && new.former === chain)
    #expect(next.former == nil)
  }

  @Test("Reachable objects are saved with the objects that refer to them, also in cycles")
  func reachable() throws {
    let list = Playlist("a")
    list.things = [list, Playlist("b", [Song("c")]), Picture("p")]
    list.cover = Picture("q")
    try context.insert(list)
    try context.save()
    #expect(try store["Playlist"].count() == 2)
    #expect(try store["Song"].count() == 1)
    #expect(try store["Picture"].count() == 2)
    #expect(list.cover?.objectID != nil)
  }

  @Test("Relationships are stored as row IDs in the document of their owner", .sqlite)
  func stored() throws {
    let songs = [Song("a"), Song("b")]
    let list = try context.insert(Playlist("Road", [songs[1], songs[0], songs[1]]))
    list.things = [songs[0]]
    try context.save()
    #expect(
      try body(of: "Playlist")
        == #"{"title":"Road","songs":[1,2,1],"things":[{"collection":"Song","id":2}]}"#)
    #expect(try body(of: "Song") == #"{"title":"b","seconds":0}"#)
  }

  private func body(of collection: String) throws -> String? {
    try store.sql("SELECT body FROM \"\(collection)\" LIMIT 1").first?["body"]?.string
  }

  @Test("The index of an inverse finds the owners")
  func index() throws {
    try context.insert(Playlist("Road", [Song("a")]))
    try context.save()
    #expect(
      try store["Playlist"].indexes().map { $0.columns.map(\.path.description) } == [["songs"]])
  }

  @Test("An object of a different context is rejected with its name, and nothing is saved")
  func otherContext() throws {
    let other = ObjectContext(store)
    let song = try other.insert(Song("a"))
    let list = try context.insert(Playlist("Road"))
    list.songs.append(song)
    let error = #expect(throws: StoreError.self) { try context.save() }
    #expect(error?.code == .invalidArgument)
    #expect(try store["Playlist"].count() == 0)
    list.songs = []
    try context.save()
    #expect(try store["Playlist"].count() == 1)
    #expect(other.hasUnsavedChanges)
  }

  @Test("Long lists can be edited at any position, and both ends stay consistent")
  func longLists() throws {
    let list = try context.insert(Playlist("Road"))
    var expected: [Int] = []
    for number in 0..<300 {
      let place = number.isMultiple(of: 3) ? 0 : number.isMultiple(of: 2) ? number / 2 : number
      list.songs.insert(Song("\(number)", number), at: place)
      expected.insert(number, at: place)
    }
    list.songs.swapAt(0, 299)
    expected.swapAt(0, 299)
    let removed = list.songs[100..<120]
    list.songs.removeSubrange(100..<120)
    expected.removeSubrange(100..<120)
    #expect(list.songs.map(\.seconds) == expected)
    #expect(removed.allSatisfy { $0.playlists.isEmpty })
    #expect(list.songs.allSatisfy { $0.playlists.count == 1 })
    try context.save()
    let fresh = ObjectContext(store)
    #expect(try fresh.all(Playlist.self).first?.songs.map(\.seconds) == expected)
    #expect(try fresh.all(Song.self).count == 300)
  }
}

@Suite("Delete rules")
struct DeleteRuleTests {
  private let store: Store
  private let context: ObjectContext

  init() throws {
    store = try anyStore()
    context = ObjectContext(store)
  }

  @Test("Cascade deletes the tracks of an album and removes them from playlists")
  func cascade() throws {
    let songs = [Song("a"), Song("b")]
    let album = try context.insert(Album("Album", [songs[0]]))
    let list = try context.insert(Playlist("Road", songs))
    try context.save()
    try context.delete(album)
    #expect(songs[0].isDeleted && !songs[1].isDeleted)
    #expect(list.songs.map(\.title) == ["b"])
    try context.save()
    #expect(songs[0].context == nil)
    #expect(try store["Song"].count() == 1)
    #expect(try store["Playlist"].find().first()?["songs"]?.array == [2])
  }

  @Test(
    "A deleted object is removed from every kind of relationship, also of unloaded objects",
    .sqlite)
  func everyKind() throws {
    let song = Song("a")
    let picture = Picture("p")
    for number in 1...3 {
      let list = try context.insert(Playlist("\(number)", [song]))
      list.cover = picture
      list.things = [song, picture, list]
      list.anything = number == 2 ? picture : song
    }
    try context.save()
    let other = ObjectContext(store)
    other.register(Playlist.self)
    try other.delete(try #require(try other.all(Song.self).first))
    try other.delete(try #require(try other.all(Picture.self).first))
    try other.save()
    let bodies = try store.sql(#"SELECT body FROM "Playlist" ORDER BY id"#)
    #expect(
      bodies.map { $0["body"]?.string }
        == (1...3).map {
          #"{"title":"\#($0)","songs":[],"things":[{"collection":"Playlist","id":\#($0)}]}"#
        })
    try other.undo()
    try other.save()
    let lists = try ObjectContext(store).all(Playlist.self)
    #expect(lists.map { $0.songs.map(\.title) } == [["a"], ["a"], ["a"]])
    #expect(lists.map { $0.cover?.name } == ["p", "p", "p"])
    #expect(lists.map(\.things.count) == [3, 3, 3])
    #expect(lists[1].anything is Picture && lists[2].anything is Song)
  }

  @Test("Deny prevents deleting an album with awards and leaves everything unchanged")
  func deny() throws {
    let album = try context.insert(Album("Album", [Song("a")]))
    let award = try context.insert(Award("best", album))
    try context.save()
    let error = #expect(throws: StoreError.self) { try context.delete(album) }
    #expect(error?.code == .deleteDenied && error?[.field] == "awards")
    #expect(!album.isDeleted && !context.hasUnsavedChanges && album.tracks.count == 1)
    try context.delete(award)
    try context.delete(album)
    try context.save()
    #expect(try ["Album", "Award", "Song"].map { try store[$0].count() } == [0, 0, 0])
  }

  @Test("Deleting an unsaved object leaves nothing, and deleting twice has no effect")
  func unsaved() throws {
    let song = try context.insert(Song("a"))
    try context.delete(song)
    try context.delete(song)
    #expect(!context.hasUnsavedChanges)
    try context.save()
    #expect(try store["Song"].count() == 0)
    #expect(throws: StoreError.self) { try context.delete(Song("never inserted")) }
  }

  @Test("A deleted object can be inserted again, before and after saving")
  func reinsertion() throws {
    let song = try context.insert(Song("a"))
    try context.save()
    let id = song.objectID
    try context.delete(song)
    try context.insert(song)
    #expect(!song.isDeleted && !context.hasUnsavedChanges)
    try context.delete(song)
    try context.save()
    #expect(try store["Song"].count() == 0)
    try context.insert(song)
    try context.save()
    #expect(song.objectID == id)
    #expect(try ObjectContext(store).all(Song.self).map(\.title) == ["a"])
  }

  @Test("Changes to a deleted object are discarded when it is restored")
  func changedWhileDeleted() throws {
    let song = try context.insert(Song("a"))
    try context.save()
    try context.delete(song)
    song.title = "lost"
    try context.insert(song)
    #expect(song.title == "a" && !context.hasUnsavedChanges)
    try context.delete(song)
    song.title = "lost"
    try context.undo()
    #expect(song.title == "a")

    song.title = "b"
    try context.closeUndoGroup()
    try context.delete(song)
    song.title = "lost"
    try context.undo()
    #expect(song.title == "b" && song.hasChanges)

    try context.save()
    #expect(try ObjectContext(store).all(Song.self).map(\.title) == ["b"])
  }

  @Test("Changes that prepareForDelete makes to an object that it keeps are discarded")
  func changedByPrepare() throws {
    let kept = try context.insert(Node("renamed"))
    try context.save()

    #expect(throws: Node.Kept.self) { try context.delete(kept) }

    #expect(kept.name == "renamed" && !kept.isDeleted && !context.hasUnsavedChanges)
  }

  @Test("prepareForDelete can restore the object before it throws")
  func restoredByPrepare() throws {
    let nodes = try ["restored", "b"].map { try context.insert(Node($0)) }
    try context.save()

    #expect(throws: Node.Kept.self) { try context.delete(nodes[0]) }

    #expect(!nodes[0].isDeleted && !context.hasUnsavedChanges)
    try context.delete(nodes[1])
    #expect(context.hasUnsavedChanges)
    try context.save()
    #expect(try store["Node"].count() == 1)
  }

  @Test(
    "prepareForDelete can delete other objects, also in a cycle, and its error keeps the object")
  func prepare() throws {
    let nodes = ["a", "b", "c"].map { Node($0) }
    for (node, next) in zip(nodes, nodes[1...] + [nodes[0]]) { node.next = next }
    try context.insert(nodes[0])
    try context.save()
    try context.delete(nodes[1])
    #expect(nodes.map(\.isDeleted) == [true, true, true])
    try context.save()
    #expect(try store["Node"].count() == 0)

    let kept = try context.insert(Node("kept"))
    #expect(throws: Node.Kept.self) { try context.delete(kept) }
    #expect(!kept.isDeleted)
    try context.save()
    #expect(try store["Node"].count() == 1)
  }
}

@Model final class Node {
  struct Kept: Error {}
  var name: String
  @Relationship var next: Node?

  init(_ name: String) { self.name = name }

  func prepareForDelete(in context: ObjectContext) throws {
    if name == "renamed" { name = "kept" }
    if name == "restored" { try context.insert(self) }
    if name == "kept" || name == "restored" { throw Kept() }
    if let next { try context.delete(next) }
  }
}

@Model final class Student {
  var name: String
  @Inverse(delete: .cascade) var enrollments: [Enrollment]

  init(_ name: String) { self.name = name }
}

@Model final class Course {
  var title: String
  @Inverse(delete: .deny) var enrollments: [Enrollment]

  init(_ title: String) { self.title = title }
}

@Model final class Enrollment {
  @Relationship(inverse: \Student.enrollments) var student: Student?
  @Relationship(inverse: \Course.enrollments) var course: Course?

  init(_ student: Student? = nil, _ course: Course? = nil) {
    self.student = student
    self.course = course
  }
}

protocol Labeled: GraphObject { var label: String { get } }
extension Song: Labeled { var label: String { title } }
extension Playlist: Labeled { var label: String { title } }

@Model final class LabeledQueue {
  @Relationship var items: [any Labeled] = []
  @Relationship var current: (any Labeled)?
  init() {}
}

@Model final class Sticker: Labeled {
  var label: String

  init(label: String) { self.label = label }
}
