// SPDX-License-Identifier: MIT

import NanoStore
import NanoTestSupport
import Testing

@Suite("Queries")
struct QueryTests {
  let store: Store
  let films: DocumentCollection

  init() throws {
    store = try anyStore()
    films = store["films"]
    try films.insert([
      ["title": "Alien", "year": 1979, "genres": ["Horror", "Science Fiction"]],
      ["title": "Brazil", "year": 1985, "genres": ["Science Fiction"]],
      ["title": "Casablanca", "year": 1942, "genres": ["Drama"]],
      ["title": "Duel", "year": 1971, "genres": []],
      ["title": "Éloge", "year": nil],
    ])
  }

  private func titles(_ query: DocumentQuery) throws -> [String] {
    try query.fetch().compactMap { $0["title"]?.string }
  }

  @Test("An offset applies to the first page only")
  func offsetOfPages() throws {
    let numbers = try anyStore()["numbers"]
    try numbers.insert((0..<10).map { ["n": .int($0)] as DocumentObject })
    let query = numbers.find().sorted(by: "n").offset(2)
    var page = try query.page(3)
    var found = page.documents
    while let next = page.next {
      page = try query.after(next).page(3)
      found += page.documents
    }
    #expect(found.map { $0["n"]?.int } == Array(2..<10))
  }

  @Test("Conditions in Swift and in query text return the same results", arguments: [false, true])
  func conditions(indexed: Bool) throws {
    if indexed {
      try films.createIndex("year")
      try films.createIndex("genres")
      try films.createIndex("title", unique: true)
    }
    #expect(try titles(films.find(Field("year") > 1975)) == ["Alien", "Brazil"])
    #expect(try titles(films.find("[year] > ?", 1975)) == ["Alien", "Brazil"])
    #expect(try titles(films.find(Field("genres") == "Science Fiction")) == ["Alien", "Brazil"])
    #expect(
      try titles(films.find("[genres] = 'Horror' AND [year] BETWEEN 1970 AND 1980")) == ["Alien"])
    #expect(try titles(films.find(Field("title").hasPrefix("É"))) == ["Éloge"])
    #expect(
      try titles(films.find(Field("title").matches(.insensitiveEqualTo, "éLOGE"))) == ["Éloge"])
    #expect(try titles(films.find(Field("year") == .null)) == ["Éloge"])
    #expect(try titles(films.find(!Field("genres").exists)) == ["Éloge"])
    #expect(
      try titles(films.find(!(Field("year") > 1975)).sorted(by: "-year")) == [
        "Duel", "Casablanca", "Éloge",
      ])
    #expect(try titles(films.find("ORDER BY [year] DESC LIMIT 2 OFFSET 1")) == ["Alien", "Duel"])
  }

  @Test("Queries return aggregates, groups, and distinct values")
  func aggregates() throws {
    #expect(try films.find().average("year") == (1979 + 1985 + 1942 + 1971) / 4.0)
    #expect(try films.find().min("title") == "Alien")
    // Nil, which `if let` distinguishes from a null value.
    for query in [films.find(Field("year") == 1), films.find()] {
      if let none = try query.min("missing") { Issue.record("\(none)") }
      if let none = try query.max("missing") { Issue.record("\(none)") }
    }
    #expect(try films.find().sum("year") == .int(1979 + 1985 + 1942 + 1971))
    let rows = try films.find().grouped(by: "genres", aggregates: [.count, .min("year")])
    #expect(rows.map(\.group) == [[nil], ["Drama"], ["Horror"], ["Science Fiction"]])
    #expect(rows.map(\.values) == [[2, 1971], [1, 1942], [1, 1979], [2, 1979]])
    #expect(try films.find().distinct("genres") == ["Drama", "Horror", "Science Fiction"])
  }

  @Test("An empty array contributes no value to the count of a field")
  func countOfEmptyArrays() throws {
    let c = try anyStore()["arrays"]
    try c.insert([["a": []], ["a": "x"], ["b": 1]])
    #expect(try c.find().aggregate([.count, .countOf("a")]) == [3, 1])
    try c.insert(["a": ["y", "z"]])
    #expect(try c.find().count(of: "a") == 3)
  }

  @Test(
    "Keyset pages cover every document exactly once",
    arguments: ["year", "-year", "genres", "-title"])
  func pages(order: String) throws {
    let query = films.find().sorted(by: order)
    var seen: [Int64?] = []
    var page = try query.page(2)
    seen += page.documents.map(\.rowID)
    while let next = page.next {
      page = try query.after(next).page(2)
      seen += page.documents.map(\.rowID)
    }
    #expect(seen == (try query.fetch().map(\.rowID)))
    #expect(seen.count == 5)
  }

  @Test("Pages of a query that selects no fields follow its order", arguments: ["year", "-title"])
  func pagesWithoutFields(order: String) throws {
    let query = films.find().sorted(by: order)
    let expected = try query.fetch().map(\.rowID)
    var seen: [Int64?] = []
    var next: PagePosition?
    repeat {
      let page = try query.select([]).after(next).page(2)
      #expect(try page.documents.allSatisfy { try $0.object().isEmpty })
      seen += page.documents.map(\.rowID)
      next = page.next
      // A wrong position would repeat the first page without end.
    } while next != nil && seen.count < 2 * expected.count
    #expect(seen == expected)
  }

  @Test("A page can have the largest size, and a query with a limit has no pages")
  func pageSizes() throws {
    let page = try films.find().sorted(by: "title").page(.max)
    #expect(page.documents.count == 5)
    #expect(page.next == nil)
    #expect(code { _ = try films.find().limit(5).page(10) } == .invalidArgument)
    #expect(code { _ = try films.find("LIMIT 1").page(.max) } == .invalidArgument)
  }

  @Test("A stream returns every document and can be left early")
  func streams() async throws {
    try await films.insert((0..<1000).map { ["n": .int(Int64($0))] })
    var count = 0
    for try await document in films.find(Field("n").exists).stream() {
      #expect(document["n"] == .int(Int64(count)))
      count += 1
    }
    #expect(count == 1000)
    for try await _ in films.find().stream() { break }
    #expect(try await films.count() == 1005)
  }

  @Test("explain() names the index and the conditions checked per document", .sqlite)
  func explanation() throws {
    let query = films.find(Field("year") > 1975 && Field("title").contains("a"))
    #expect(try query.explain().indexes.isEmpty)
    try films.createIndex("year")
    let explained = try query.explain()
    #expect(explained.indexes == ["year"])
    #expect(explained.checkedPerDocument?.contains("title") == true)
    #expect(explained.checkedPerDocument?.contains("year") == false)
  }

  @Test("Documents can be updated and deleted by condition")
  func changes() throws {
    #expect(try films.find(Field("year") < 1980).update(set: ["old": true]) == 3)
    #expect(try films.find(Field("old") == true).count() == 3)
    #expect(try films.find(Field("old") == true).sorted(by: "year").limit(1).delete() == 1)
    #expect(try titles(films.find(Field("old") == true)) == ["Alien", "Duel"])
  }
}
