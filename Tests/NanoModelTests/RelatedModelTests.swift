// SPDX-License-Identifier: MIT

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

  @Test("A property that is not stored is rejected when the query runs")
  func notStored() throws {
    let store = try anyStore()
    let films = store[Movie.self]
    let queries = [
      films.find().including(\.title.count, from: store["Director"]),
      films.find().including(.key, from: store[Critique.self], by: \.filmID.count),
      films.find(\.title.count > 3).including(\.directorID, from: store["Director"]),
    ]
    for query in queries {
      let error = #expect(throws: StoreError.self) { try query.fetch() }
      #expect(error?.code == .invalidArgument)
    }
  }
}
