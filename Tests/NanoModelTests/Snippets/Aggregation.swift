// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoStoreModels
import NanoTestSupport
import Testing

@Suite("Code in docs/AGGREGATION.md")
struct AggregationSnippets {
  private let store: Store
  private let films: DocumentCollection
  private let series: DocumentCollection

  init() throws {
    store = try Store(.memory)
    films = store["films"]
    series = store["series"]
    try films.save(
      [
        "title": "Ran", "year": 1985, "rating": 8.2, "genres": ["Drama"], "director": "Kurosawa",
        "released": DocumentValue.date(Date(timeIntervalSince1970: 486_432_000)),
        "cast": [["name": "Nakadai", "age": 52], ["name": "Terao", "age": 38]] as DocumentValue,
      ] as DocumentObject, key: "ran")
    try films.save(
      [
        "title": "Heat", "year": 1995, "rating": 8.3, "genres": ["Drama", "Crime"],
        "director": "Mann",
      ], key: "heat")
    try films.save(["title": "Alien", "year": 1979, "rating": 8.5], key: "alien")
    try series.save(["title": "Fargo"], key: "fargo")
  }

  @Test("Every Swift block is compiled and run")
  func compiled() {
    let blocks = SwiftBlocks(of: "docs/AGGREGATION.md")
    #expect(blocks.blocks.count > 5)
    for block in blocks.missing(in: ["Tests/NanoModelTests/Snippets/Aggregation.swift"]) {
      Issue.record("not compiled:\n\(block)")
    }
  }

  @Test("Pipelines in Swift and as text") func pipelines() async throws {
    let genres = films.find(Field("year") > 1980)
      .unwind("genres")
      .grouped(by: ["genre": "genres"], ["films": .count, "rating": .average("rating")])
      .where(Field("films") > 1)
      .sorted(by: "-rating")
    let rows = try await genres.rows()  // [{"genre":"Drama","films":2,"rating":8.25}]
    #expect(rows == [["genre": "Drama", "films": 2, "rating": 8.25]])

    let text = try films.find("[year] > ?", 1980).pipe(
      """
      UNWIND [genres]
      |> AGGREGATE count(*) AS films, avg([rating]) AS rating GROUP BY [genres] AS genre HAVING [films] > ?
      |> ORDER BY [rating] DESC
      """, 1)
    let areEqual = try await text.rows() == genres.rows()  // true
    #expect(areEqual)

    struct GenreCount: Codable { var genre: String, films: Int, rating: Double? }
    let counts = try await genres.rows(as: GenreCount.self)  // decoded
    let first = try await genres.first()  // one row, or nil
    try await genres.each { row in print(row["genre"] ?? "-") }  // one by one
    #expect(counts.map(\.films) == [2])
    #expect(first?["genre"] == "Drama")
  }

  @Test("Examples") func examples() throws {
    let best = films.find().sorted(by: "-rating").pipe().limit(1, per: "director")
    let age = try QueryExpression(text: "2026 - [year]")
    let ages = films.find().select(["title": "title", "age": age])
    #expect(try best.rows().count == 3)
    #expect(try ages.rows().first == ["title": "Ran", "age": 41])

    let months = films.find().grouped(
      by: ["month": Field("released").start(of: .month, in: "Europe/Berlin")], ["films": .count])
    let eras = films.find().grouped(
      by: ["era": Field("year").bucket([1900, 1970, 2000])], ["films": .count])
    let quarters = films.find().grouped(
      intoBuckets: 4, of: "year", as: "years", ["films": .count, "titles": .push("title")])
    #expect(try months.rows().count == 2)
    #expect(try eras.rows() == [["era": 1970, "films": 3]])
    #expect(try quarters.rows().count == 3)

    let statistics = films.find().grouped(
      by: [:],
      [
        "films": .count, "recent": .count.where(Field("year") > 1990),
        "directors": .distinctCount(of: "director"), "genres": .set("genres"),
        "deviation": .standardDeviation("rating"),
      ])
    let row = try #require(try statistics.first())
    #expect(row["recent"] == 1)
    #expect(row["directors"] == 2)
    #expect(row["genres"] == ["Crime", "Drama"])

    let both = films.find().union(series.find(), origin: "kind")
      .grouped(by: ["kind": "kind"], ["count": .count])
    let overview = try films.find().facets([
      "genres": { $0.unwind("genres").grouped(by: ["genre": "genres"], ["films": .count]) },
      "best": { $0.sorted(by: "-rating").limit(3) },
    ])
    #expect(try both.rows() == [["kind": "films", "count": 3], ["kind": "series", "count": 1]])
    #expect(try overview.first()?["genres"]?.array?.count == 2)

    let casts = try films.find().pipe(
      """
      SELECT [title], element_at([cast], 0) AS lead,
        array_map(array_filter([cast], [age] > 40), [name]) AS older,
        array_union([genres], [tags]) AS labels
      """)
    let expected: DocumentObject = [
      "title": "Ran", "lead": ["name": "Nakadai", "age": 52], "older": ["Nakadai"], "labels": nil,
    ]
    #expect(try casts.first() == expected)
  }

  @Model struct Person {
    @Key var id: String
    var city: String
    var age: Int
  }

  @Test("Models") func models() throws {
    let people = store[Person.self]
    try people.insert(Person(id: "a", city: "Berlin", age: 40))
    try people.insert(Person(id: "b", city: "Berlin", age: 20))
    let cities = try people.find(\.age > 30).pipe().grouped(
      by: ["city": Person.field(\.city)], ["people": .count, "oldest": .max(Person.field(\.age))])
    #expect(try cities.rows() == [["city": "Berlin", "people": 1, "oldest": 40]])
  }
}
