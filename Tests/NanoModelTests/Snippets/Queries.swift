// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Testing

@Suite("Code in the article Queries")
struct QueriesSnippets {
  private let store: Store
  private let films: DocumentCollection

  init() throws {
    store = try Store(.memory)
    films = store["films"]
    try films.save(
      ["title": "Alien", "year": 1979, "genres": ["Horror", "SF"], "seen": nil], key: "alien")
    try films.save(
      [
        "title": "Ran", "year": 1985, "director": ["name": "Kurosawa"],
        "cast": [["name": "Nakadai", "age": 52], ["name": "Terao", "age": 38]],
      ], key: "ran")
    try films.save(["title": "Brazil", "year": 1985, "genres": ["Comedy", "SF"]], key: "brazil")
  }

  @Test("Conditions") func conditions() throws {
    let recent = films.find(Field("year") > 1980 && !(Field("title") == "Ran"))
    let listed = films.find(Field("title").isIn(["Ran", "Alien"]) || Field("year").isNull)
    let nested = films.find(Field("director.name").hasPrefix("Kuro"))
    let folded = films.find(Field("title").matches(.insensitiveContains, "BRA"))
    let pattern = films.find(Field("title").like("%l%n") || Field("title").regexp("^R.n$"))
    #expect(try recent.keys() == ["brazil"])
    #expect(try listed.keys() == ["alien", "ran"])
    #expect(try nested.keys() == ["ran"])
    #expect(try folded.keys() == ["brazil"])
    #expect(try pattern.keys() == ["alien", "ran"])
  }

  @Test("Lists, null and missing") func lists() throws {
    let science = films.find(Field("genres") == "SF")  // some element is "SF"
    let young = films.find(Field("cast.age") < 40 && Field("cast.name") == "Nakadai")
    let same = films.find(
      Field("cast").element { $0("age") < 40 && $0("name") == "Nakadai" })  // none
    let absent = films.find(Field("seen") == nil)  // null or missing: all three
    let there = films.find(Field("seen").exists)  // Alien, whose "seen" is null
    #expect(try science.count() == 2)
    #expect(try young.keys() == ["ran"])
    #expect(try same.count() == 0)
    #expect(try absent.count() == 3)
    #expect(try there.keys() == ["alien"])
  }

  @Test("Query text") func text() throws {
    let some = try films.find("[year] BETWEEN ? AND ? AND [genres] = 'SF'", 1980, 1990)
    let named = try films.find("[title] = :title", named: ["title": "Ran"])
    let computed = try films.find("[year] % 2 = 1 ORDER BY length([title]) DESC, [title] LIMIT 2")
    let anywhere = try films.find("LEAF([@] = 'Kurosawa')")  // in any field
    #expect(try some.keys() == ["brazil"])
    #expect(try named.keys() == ["ran"])
    #expect(try computed.keys() == ["brazil", "alien"])
    #expect(try anywhere.keys() == ["ran"])
  }

  @Test("Ordering and pages") func pages() async throws {
    let newest = try await films.find().sorted(by: "-year", "title").limit(2, offset: 1).fetch()
    var page = try await films.find().sorted(by: "title").page(2)
    while let next = page.next {
      page = try await films.find().sorted(by: "title").after(next).page(2)
    }
    #expect(newest.map(\.key) == ["ran", "alien"])
    #expect(page.documents.map(\.key) == ["ran"])
  }

  @Test("Results") func results() async throws {
    let query = try await plainResults()
    for try await film in query.stream() {
      print(film["title"]?.string ?? "")
    }
    #expect(try await query.count() == 2)
  }

  private func plainResults() async throws -> DocumentQuery {
    let query = films.find(Field("year") == 1985)
    let count = try await query.count()
    let keys = try await query.keys()
    let titles = try await query.select("title").fetch().map { $0["title"]?.string }
    #expect(count == 2 && keys == ["ran", "brazil"] && titles == ["Ran", "Brazil"])
    return query
  }

  @Test("Aggregates") func aggregates() async throws {
    let genres = try await films.find().distinct("genres")
    let values = try await films.find().aggregate([.count, .average("year"), .max("year")])
    for row in try await films.find().grouped(by: "year", aggregates: [.count]) {
      print(row.group[0].int ?? 0, row.values[0].int ?? 0)  // 1979 1, 1985 2
    }
    #expect(genres == ["Comedy", "Horror", "SF"])
    #expect(values == [3, 1983.0, 1985])
  }

  @Test("Query plans") func explain() async throws {
    try await films.createIndex("year")
    let plan = try await films.find(Field("year") > 1980 && Field("title").contains("a")).explain()
    print(plan.indexes)  // ["year"]
    print(plan.checkedPerDocument ?? "nothing")  // contains([title], 'a')
    #expect(plan.indexes == ["year"])
    #expect(plan.checkedPerDocument == "contains([title], 'a')")
  }
}
