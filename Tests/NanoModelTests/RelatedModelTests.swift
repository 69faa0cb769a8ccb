// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreModels
import NanoTestSupport
import Testing

@Model struct Director: Equatable {
  @Key var id: String
  var name = ""
  var country = ""
}

@Model struct Movie: Equatable {
  @Key var id: String
  var title = ""
  var directorID = ""
}

@Model struct Critique: Equatable {
  @Key var id: String
  var filmID = ""
  var stars = 0
}

@Model struct NamedPerson: Equatable {
  var name = ""
}

@Model struct DirectedMovie: Equatable {
  @Key var id: String
  var title = ""
  var director: NamedPerson?
}

@Model struct StarRating: Equatable {
  var stars = 0
}

@Model struct RatedMovie: Equatable {
  @Key var id: String
  var director: NamedPerson?
  var reviews: [StarRating] = []
}

@Model private struct Writer: Equatable {
  @Key var id: UUID
}

@Model private struct Shelf: Equatable {
  @Key var number: Int
}

@Model private struct Volume: Equatable {
  @Key var id: String
  @Field(renamedFrom: "author") var writerID: UUID?
  var shelf = 1
  var editors: [UUID] = []
}

@Suite("Related models", .timeLimit(.minutes(10)))
struct RelatedModelTests {
  @Test("Conditions on related models, with the code of docs/RELATED-DOCUMENTS.md")
  func conditions() async throws {
    let store = try anyStore()
    try await store[Director.self].save(Director(id: "s", name: "Scott", country: "UK"))
    try await store[Movie.self].save(Movie(id: "a", title: "Alien", directorID: "s"))
    try await store[Movie.self].save(Movie(id: "b", title: "Orphan"))
    try await store[Critique.self].save(Critique(id: "1", filmID: "a", stars: 5))

    let films = store[Movie.self]
    let british = films.find { $0.directorID.refers(to: Director.self) { $0.country == "UK" } }
    let reviewed = films.find { $0.id.isReferred(by: \Critique.filmID) { $0.stars > 4 } }
    print(try await british.count(), try await reviewed.count())

    #expect(try await british.fetch().map(\.id) == ["a"])
    #expect(try await reviewed.fetch().map(\.id) == ["a"])
    #expect(
      try await films.find { !$0.directorID.refers(to: Director.self) }.fetch().map(\.id) == ["b"])
    #expect(try await films.find { $0.id.isReferred(by: \Critique.stars) }.count() == 0)
  }

  @Test("Results with related documents decode to a model with such a property")
  func decoded() async throws {
    let store = try anyStore()
    try await store["Movie"].save(["title": "Alien", "directorID": "s"], key: "a")
    try await store["Director"].save(["name": "Scott"], key: "s")
    let query = store["Movie"].find().including(
      "directorID", from: store["Director"], as: "director")
    let expected = DirectedMovie(id: "a", title: "Alien", director: NamedPerson(name: "Scott"))
    let movies = try await query.decoded(as: DirectedMovie.self)
    #expect(movies.count == 1)
    #expect(movies[0].id == expected.id && movies[0].director?.name == "Scott")
    #expect(try await query.decoded(as: DirectedMovie.self).count == 1)
  }

  @Test("Queries and collections of models include related ones by key paths")
  func including() async throws {
    let store = try anyStore()
    let films = store[Movie.self]
    let reviews = store[Critique.self]
    try await store[Director.self].save(Director(id: "s", name: "Scott", country: "UK"))
    try await films.save(Movie(id: "a", title: "Alien", directorID: "s"))
    try await films.save(Movie(id: "b", title: "Orphan"))
    try await reviews.save([
      Critique(id: "1", filmID: "a", stars: 2), Critique(id: "2", filmID: "a", stars: 5),
      Critique(id: "3", filmID: "a", stars: 4),
    ])

    let best = reviews.find(\.stars > 1).sorted(by: \.stars, order: .reverse).limit(2)
    let query = films.find(\.title != "Alone").sorted(by: \.title)
      .including(\.directorID, from: store[Director.self], as: "director")
      .including(.key, from: best, by: \.filmID, as: "reviews")
    let found = try await query.fetch()
    #expect(found.map { $0["title"]?.string } == ["Alien", "Orphan"])
    #expect(found[0].one("director")?["name"] == "Scott" && found[1].one("director") == nil)
    #expect(found[0].many("reviews").map { $0["stars"]?.int } == [5, 4])
    #expect(found[1].many("reviews").isEmpty)
    #expect(try await query.decoded(as: DirectedMovie.self)[0].director?.name == "Scott")

    // With the code of docs/RELATED-DOCUMENTS.md.
    let rated = try await store[Movie.self].find { $0.title.hasPrefix("A") }
      .including(\.directorID, from: store[Director.self], as: "director")
      .including(.key, from: store[Critique.self].find(\.stars > 3), by: \.filmID, as: "reviews")
      .decoded(as: RatedMovie.self)
    print(rated[0].director?.name ?? "", rated[0].reviews.map(\.stars))
    #expect(rated[0].director?.name == "Scott" && rated[0].reviews.map(\.stars) == [5, 4])

    let people = try await store[Director.self].including(
      .key, from: films, by: \.directorID, as: "films"
    ).fetch()
    #expect(people[0].many("films").map { $0["title"]?.string } == ["Alien"])
    // By fields, with a key as the remote property.
    let byKey = try await store["Movie"].find().including(
      "directorID", from: store[Director.self].find(), by: \.id
    ).fetch()
    #expect(byKey.compactMap { $0.one("directorID")?["name"]?.string } == ["Scott"])
  }

  @Test("Properties of UUIDs and integers refer to keys of the same type")
  func typedKeys() throws {
    let store = try anyStore()
    let (writers, shelves) = (store[Writer.self], store[Shelf.self])
    let volumes = store[Volume.self]
    let writer = Writer(id: UUID())
    try writers.save([writer, Writer(id: UUID())])
    try shelves.save([Shelf(number: 1), Shelf(number: 2)])
    try volumes.save([
      Volume(id: "a", writerID: writer.id, shelf: 2), Volume(id: "b", editors: [writer.id]),
    ])

    #expect(try volumes.find { $0.writerID.refers(to: Writer.self) }.fetch().map(\.id) == ["a"])
    #expect(try volumes.find { !$0.writerID.refers(to: Writer.self) }.fetch().map(\.id) == ["b"])
    #expect(try volumes.find { $0.editors.refers(to: Writer.self) }.fetch().map(\.id) == ["b"])
    let second = volumes.find { $0.shelf.refers(to: Shelf.self) { $0.number == 2 } }
    #expect(try second.fetch().map(\.id) == ["a"])
    #expect(try writers.find { $0.id.isReferred(by: \Volume.writerID) }.fetch() == [writer])
    #expect(try writers.find { $0.id.isReferred(by: \Volume.editors) }.fetch() == [writer])
    let used = shelves.find { $0.number.isReferred(by: \Volume.shelf) { $0.id == "a" } }
    #expect(try used.fetch().map(\.number) == [2])

    let authored = try volumes.find().including(\.writerID, from: writers, as: "writer").fetch()
    #expect(authored.map { $0.many("writer").count } == [1, 0])
    let placed = try volumes.find().including(\.shelf, from: shelves, as: "place").fetch()
    #expect(placed.map { $0.one("place")?.document.key } == ["2", "1"])
    let counts = writers.find().including(.key, from: volumes, by: \.writerID, as: "volumes")
    #expect(try counts.fetch().map { $0.many("volumes").count }.sorted() == [0, 1])
  }

  @Test("References under a former name and defaults count, or are an error")
  func formerReferences() throws {
    let store = try anyStore()
    let writer = Writer(id: UUID())
    try store[Writer.self].save(writer)
    try store[Shelf.self].save(Shelf(number: 1))
    try store["Volume"].insert(["author": .string(writer.id.uuidString)], key: "a")

    let writers = store[Writer.self]
    #expect(try writers.find { $0.id.isReferred(by: \Volume.writerID) }.fetch() == [writer])
    #expect(try store[Shelf.self].find { $0.number.isReferred(by: \Volume.shelf) }.count() == 1)
    let included = store[Volume.self].find().including(\.writerID, from: writers, as: "related")
    let referring = writers.find().including(
      .key, from: store[Volume.self], by: \.writerID, as: "related")
    let nested = store[Volume.self].including(.key, from: included, as: "volumes")
    func expectUnsupported() {
      for query in [included, referring, nested] {
        #expect(#expect(throws: StoreError.self) { try query.fetch() }?.code == .unsupported)
      }
    }
    expectUnsupported()

    try store[Volume.self].upgrade()
    for query in [included, referring] {
      #expect(try query.fetch().map { $0.many("related").count } == [1])
    }
    #expect(try nested.fetch().map { $0.many("volumes").count } == [1])

    // Written by an older version of the program.
    try store["Volume"].insert(["author": .string(writer.id.uuidString)], key: "b")
    expectUnsupported()
  }

  @Test("A key that is not the usual form of an integer does not refer to the integer")
  func unusualKeys() throws {
    let store = try anyStore()
    let volumes = store[Volume.self]
    try volumes.save(Volume(id: "a", shelf: 7))
    let keys = ["7", "007", "+7"]
    for key in keys { try store["shelves"].save(["key": .string(key)], key: key) }

    let shelves = try store["shelves"].find().including(
      .key, from: volumes, by: \.shelf, as: "volumes"
    ).fetch()

    #expect(shelves.map { $0["key"]?.string } == keys)
    #expect(shelves.map { $0.many("volumes").count } == [1, 0, 0])
  }

  @Test("A property that is not stored is rejected when the query runs")
  func notStored() throws {
    let store = try anyStore()
    let films = store[Movie.self]
    let queries = [
      films.find().including(\.title.count, from: store["Director"]),
      films.find().including(.key, from: store[Critique.self], by: \.filmID.count),
      films.find(\.title.count > 3).including(\.directorID, from: store["Director"]),
      films.find().including(
        \.directorID, from: store[Director.self].find(\.name.count > 3), as: "director"),
    ]
    for query in queries {
      let error = #expect(throws: StoreError.self) { try query.fetch() }
      #expect(error?.code == .invalidArgument)
    }
  }
}
