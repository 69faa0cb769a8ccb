// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Pipelines over collections")
struct PipelineQueryTests {
  private let store: Store
  private let films: DocumentCollection
  private let series: DocumentCollection

  init() throws {
    store = try anyStore()
    films = store["films"]
    series = store["series"]
    for (title, year, rating, genres) in [
      ("Alien", 1979, 8.5, ["Horror", "SF"]), ("Ran", 1985, 8.2, ["Drama"]),
      ("Brazil", 1985, 7.8, ["Comedy", "SF"]), ("Heat", 1995, 8.3, ["Drama", "Crime"]),
    ] {
      try films.save(
        ["title": title, "year": year, "rating": rating, "genres": genres], key: title)
    }
    try series.save(["title": "Fargo", "year": 2014, "genres": ["Crime"]], key: "Fargo")
  }

  private struct GenreCount: Codable, Equatable, Sendable {
    var genre: String
    var films: Int
    var best: Double
  }

  @Test("Unwinding, grouping, filtering and sorting in Swift and in text have the same rows")
  func swiftAndText() async throws {
    let swift = films.find(Field("year") > 1980)
      .unwind("genres", as: "genre")
      .grouped(by: ["genre": "genre"], ["films": .count, "best": .max("rating")])
      .where(Field("films") > 1)
      .sorted(by: "-best")
    let text = try films.find("[year] > ?", 1980).pipe(
      """
      UNWIND [genres] AS genre
      |> AGGREGATE count(*) AS films, max([rating]) AS best GROUP BY [genre] HAVING [films] > ?
      |> ORDER BY [best] DESC
      """, 1)
    let expected = [GenreCount(genre: "Drama", films: 2, best: 8.3)]
    let (swiftRows, textRows) = (try await swift.rows(), try await text.rows())
    #expect(try await swift.rows(as: GenreCount.self) == expected)
    #expect(swiftRows == textRows)
    #expect(try await text.first() == swiftRows.first)
    #expect(try store.blocking { try text.rows() } == textRows)
  }

  /// Reads the store while it is decoded.
  private struct Counted: Decodable {
    @TaskLocal static var films: DocumentCollection?
    let count: Int

    init(from decoder: any Decoder) throws { count = try Self.films?.count() ?? 0 }
  }

  @Test("A type that reads the store while it is decoded can be the type of rows")
  func readingWhileDecoding() throws {
    let count = try films.count()
    let rows = try Counted.$films.withValue(films) {
      try films.find().pipe().limit(2).rows(as: Counted.self)
    }
    #expect(rows.map(\.count) == [count, count])
  }

  @Test("Groups of plain fields, which engines compute, continue with later stages")
  func engineGroups() throws {
    let rows = try films.find().grouped(
      by: ["year": "year"], ["films": .count, "rating": .average("rating")]
    ).sorted(by: "-films").limit(1).rows()
    #expect(rows == [["year": 1985, "films": 2, "rating": 8.0]])
  }

  @Test("The first rows of each group")
  func topOfGroups() throws {
    let titles = try films.find().unwind("genres").sorted(by: "-rating").limit(1, per: "genres")
      .select(["genre": "genres", "title": "title"]).sorted(by: "genre").rows()
    #expect(
      titles == [
        ["genre": "Comedy", "title": "Brazil"], ["genre": "Crime", "title": "Heat"],
        ["genre": "Drama", "title": "Heat"], ["genre": "Horror", "title": "Alien"],
        ["genre": "SF", "title": "Alien"],
      ])
  }

  @Test("A union has the rows of both collections, with their origin")
  func union() throws {
    let rows = try films.find(Field("year") > 1990).union(series.find(), origin: "kind")
      .select(["title": "title", "kind": "kind"]).rows()
    #expect(
      rows == [["title": "Heat", "kind": "films"], ["title": "Fargo", "kind": "series"]])
    #expect(
      try films.find().pipe("UNION ALL series |> AGGREGATE count(*) AS n").first() == ["n": 5])
    #expect(try films.find().union(store["absent"].find()).rows().count == 4)
  }

  @Test("Rows of a union inside a union keep the attributes of their documents")
  func nestedUnion() throws {
    let shorts = store["shorts"]
    try shorts.save(["title": "Luxo"], key: "Luxo")
    let others = series.find().union(shorts.find())
    let rows = try films.find(Field("year") > 1990).union(others)
      .select(["k": QueryExpression.attribute(.key)]).rows()
    #expect(rows == [["k": "Heat"], ["k": "Fargo"], ["k": "Luxo"]])
  }

  @Test("Internal collections cannot be part of a union")
  func internalUnion() throws {
    let error = #expect(throws: StoreError.self) {
      try films.find().pipe("UNION ALL nano_bags").rows()
    }
    #expect(error?.code == .invalidName)
  }

  @Test("Another store cannot be part of a pipeline")
  func otherStore() async throws {
    let other = try anyStore()["series"]
    let union = films.find().union(other.find())
    #expect(code { _ = try union.rows() } == .invalidArgument)
    #expect(code { _ = try union.grouped(by: [:], ["n": .count]).first() } == .invalidArgument)
    #expect(code { try union.each { _ in } } == .invalidArgument)
    #expect(code { _ = try series.find().union(union).rows() } == .invalidArgument)
    #expect(
      code { _ = try films.find().facets(["a": { $0.union(other.find()) }]).rows() }
        == .invalidArgument)
    #expect(await asyncCode { for try await _ in union.updates() {} } == .invalidArgument)
  }

  @Test("Facets are computed over the same rows")
  func facets() throws {
    let facets = try films.find().facets([
      "years": { $0.grouped(by: ["year": "year"], ["films": .count]).where(Field("films") > 1) },
      "best": { $0.sorted(by: "-rating").limit(1).select(["title": "title"]) },
      "price": { try $0.pipe("AGGREGATE count(*) AS n GROUP BY buckets([year], 2) AS year") },
    ])
    let row = try #require(try facets.first())
    // Of four values, both equal ones are in the bucket of the first of them.
    let expected: DocumentObject = [
      "years": [["year": 1985, "films": 2]], "best": [["title": "Alien"]],
      "price": [
        ["year": ["min": 1979, "max": 1995], "n": 3],
        ["year": ["min": 1995, "max": 1995], "n": 1],
      ],
    ]
    #expect(row == expected)
  }

  @Test("A facet that reads documents of its own is an error")
  func facetSource() throws {
    let newer = films.find(Field("year") > 1990)
    #expect(
      code { _ = try films.find().facets(["new": { _ in newer.pipe().limit(1) }]).rows() }
        == .invalidArgument)
    #expect(
      code { _ = try films.find().facets(["new": { _ in series.find().pipe() }]).rows() }
        == .invalidArgument)

    // Queries that do not equal themselves.
    let undefined = films.find(Field("year") == DocumentValue.double(.nan))
    let other = films.find(Field("title") == DocumentValue.double(.nan))
    for source in [newer, other] {
      #expect(
        code { _ = try undefined.facets(["new": { _ in source.pipe().limit(1) }]).rows() }
          == .invalidArgument)
    }
    #expect(try undefined.facets(["own": { $0.limit(1) }]).rows().count == 1)
  }

  @Test("A pipeline over selected fields is an error: its documents would have all fields")
  func selectedSource() async throws {
    let titles = films.find().select("title")
    let union = films.find().union(titles)
    #expect(await asyncCode { _ = try await titles.pipe().rows() } == .invalidArgument)
    #expect(await asyncCode { _ = try await union.rows() } == .invalidArgument)
    #expect(await asyncCode { for try await _ in titles.pipe().updates() {} } == .invalidArgument)
    let rows = try await films.find().pipe().select(["title": "title"]).rows()
    #expect(try await rows.count == films.count())
  }

  @Test("Computed fields see attributes, dates and arrays")
  func computed() throws {
    try films.save(
      [
        "released": DocumentValue.date(try Date("2026-03-29T00:30:00Z", strategy: .iso8601)),
        "cast": [["name": "A", "age": 30], ["name": "B", "age": 50]] as DocumentValue,
      ] as DocumentObject, key: "new")
    let computed = try films.find("[__key__] = 'new'").select([
      "key": QueryExpression.attribute(.key),
      "day": Field("released").start(of: .day, in: "America/New_York").formatted(
        "%F", in: "-04:00"),
      "old": Field("cast").filtered { $0("age") > 40 }.mapped { $0("name") },
      "last": Field("cast").element(at: -1),
      "hour": Field("released").part(.hour, in: "Europe/Berlin"),
      "next": Field("released").adding(1, .month).formatted("%F"),
      "days": Field("released").distance(to: Field("released").adding(3, .day), in: .day),
      "decade": Field("year").bucket([1970, 1980, 1990]),
    ])
    let expected: DocumentObject = [
      "key": "new", "day": "2026-03-28", "old": ["B"], "last": ["name": "B", "age": 50],
      "hour": 1, "next": "2026-04-29", "days": 3, "decade": nil,
    ]
    #expect(try computed.rows() == [expected])
  }

  @Test("A live pipeline reports commits to each of its collections")
  func live() async throws {
    let pipeline = films.find().union(series.find()).grouped(by: [:], ["count": .count])
    var updates = pipeline.updates().makeAsyncIterator()
    #expect(try await updates.next() == [["count": 5]])
    try await series.save(["title": "Lost"], key: "Lost")
    #expect(try await updates.next() == [["count": 6]])
    try await films.delete("Ran")
    #expect(try await updates.next() == [["count": 5]])
  }

  @Test("A live pipeline reports commits to collections that conditions in a union name")
  func liveRelated() async throws {
    try await series.update("Fargo", set: ["network": "fx"])
    let american = series.find(Field("network").related(in: "networks")["country"] == "US")
    let pipeline = films.find().union(american).grouped(by: [:], ["count": .count])
    var updates = pipeline.updates().makeAsyncIterator()
    #expect(try await updates.next() == [["count": 4]])
    try await store["networks"].save(["country": "US"], key: "fx")
    #expect(try await updates.next() == [["count": 5]])
  }

  @Test("Rows are passed one by one, also inside a write, and the closure can end them")
  func each() throws {
    struct Stop: Error {}
    var titles: [String] = []
    #expect(throws: Stop.self) {
      try films.find().select(["title": "title"]).each { row in
        titles.append(row["title"]?.string ?? "")
        if titles.count == 2 { throw Stop() }
      }
    }
    #expect(titles == ["Alien", "Ran"])
    try store.write {
      try films.find().unwind("genres").each { row in
        try store["genres"].save(["name": row["genres"] ?? .null])
      }
    }
    #expect(try store["genres"].count() == 7)
  }

  @Test("Aliases apply to the text of stages")
  func aliases() throws {
    try films.setAliases(["jahr": "[year]"])
    #expect(
      try films.find().pipe("WHERE jahr > 1990 |> SELECT [title]").rows() == [["title": "Heat"]])
  }
}
