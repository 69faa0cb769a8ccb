// SPDX-License-Identifier: MIT

import NanoStore
import NanoTestSupport
import NanoTesting
import Testing

/// Three people, four films that refer to them, and five reviews that refer to the films.
private struct Cinema {
  let store: Store
  var films: DocumentCollection { store["films"] }
  var people: DocumentCollection { store["people"] }
  var reviews: DocumentCollection { store["reviews"] }

  init(_ store: Store, indexed: Bool = false) throws {
    self.store = store
    if indexed {
      try store["people"].createIndex("country")
      try store["films"].createIndex("directorID")
      try store["reviews"].createIndex("filmID")
    }
    let scott = "0190d1f0-0000-7000-8000-000000000001"
    try store["people"].save(["name": "Scott", "country": "UK"], key: scott)
    try store["people"].save(["name": "Cameron", "country": "CA"], key: "cameron")
    try store["people"].save(["name": "Nobody", "country": "UK"], key: "nobody")
    try store["films"].save(
      ["title": "Alien", "year": 1979, "directorID": .string(scott)], key: "alien")
    try store["films"].save(
      ["title": "Aliens", "year": 1986, "directorID": "cameron"], key: "aliens")
    try store["films"].save(
      ["title": "Blade Runner", "year": 1982, "directorID": .string(scott)], key: "blade")
    try store["films"].save(
      ["title": "Orphan", "year": 2000, "directorID": "missing"], key: "orphan")
    for (film, stars) in [("alien", 5), ("alien", 4), ("alien", 1), ("aliens", 5), ("none", 5)] {
      try store["reviews"].insert(["filmID": .string(film), "stars": .int(Int64(stars))])
    }
  }

  func titles(_ condition: Condition) throws -> [String] {
    try films.find(condition).sorted(by: "title").fetch().compactMap { $0["title"]?.string }
  }

  func titles(_ text: String, _ arguments: [DocumentValue] = []) throws -> [String] {
    try films.find(text, arguments: arguments).sorted(by: "title").fetch()
      .compactMap { $0["title"]?.string }
  }
}

@Suite("Conditions on related documents", .timeLimit(.minutes(15)))
struct RelatedConditionTests {
  @Test(
    "Conditions find documents by related ones, with and without indexes", arguments: [false, true])
  func conditions(indexed: Bool) throws {
    let cinema = try Cinema(anyStore(), indexed: indexed)
    let director = Field("directorID").related(in: cinema.people)
    let reviews = Related(.key, in: cinema.reviews, by: "filmID")

    #expect(try cinema.titles(director["country"] == "UK") == ["Alien", "Blade Runner"])
    #expect(try cinema.titles(director.exists) == ["Alien", "Aliens", "Blade Runner"])
    #expect(try cinema.titles(director.isEmpty) == ["Orphan"])
    #expect(try cinema.titles(reviews.exists) == ["Alien", "Aliens"])
    #expect(try cinema.titles(reviews.where(Field("stars") > 3).count >= 2) == ["Alien"])
    #expect(try cinema.titles(reviews.count == 0) == ["Blade Runner", "Orphan"])
    #expect(try cinema.titles(reviews.count < 2) == ["Aliens", "Blade Runner", "Orphan"])
    #expect(try cinema.titles(reviews.count != 1) == ["Alien", "Blade Runner", "Orphan"])
    #expect(
      try cinema.titles(director["country"] == "UK" && Field("year") == 1982) == ["Blade Runner"])
    #expect(
      try cinema.titles(director["country"] == "CA" || reviews.isEmpty)
        == ["Aliens", "Blade Runner", "Orphan"])
    #expect(try cinema.titles(!(director.exists && reviews.exists)) == ["Blade Runner", "Orphan"])
  }

  @Test("Query text expresses the same conditions", arguments: [false, true])
  func text(indexed: Bool) throws {
    let cinema = try Cinema(anyStore(), indexed: indexed)

    #expect(
      try cinema.titles(
        "[directorID] IN (SELECT [__key__] FROM people WHERE [country] = ?)", ["UK"])
        == ["Alien", "Blade Runner"])
    #expect(
      try cinema.titles("[directorID] NOT IN (SELECT [__key__] FROM people)") == ["Orphan"])
    #expect(
      try cinema.titles("EXISTS (SELECT * FROM reviews WHERE [filmID] = PARENT[__key__])")
        == ["Alien", "Aliens"])
    #expect(
      try cinema.titles(
        "(SELECT COUNT(*) FROM reviews WHERE [filmID] = PARENT[__key__] AND [stars] > 3) >= ?", [2])
        == ["Alien"])
    #expect(
      try cinema.titles("upper([directorID]) IN (SELECT upper([__key__]) FROM people)").count == 3)
  }

  @Test("Conditions nest, and a collection can refer to itself")
  func nested() throws {
    let cinema = try Cinema(anyStore())
    let people = try cinema.people.find(
      "[__key__] IN (SELECT [directorID] FROM films WHERE [__key__] IN "
        + "(SELECT [filmID] FROM reviews WHERE [stars] < 2))"
    ).fetch()
    #expect(people.map { $0["name"] } == ["Scott"])

    let staff = cinema.store["staff"]
    try staff.save(["boss": nil], key: "a")
    try staff.save(["boss": "a"], key: "b")
    try staff.save(["boss": "b"], key: "c")
    #expect(try staff.find(Field("boss").related(in: staff).exists).keys() == ["b", "c"])
    #expect(try staff.find(Related(.key, in: staff, by: "boss").isEmpty).keys() == ["c"])
    #expect(try staff.find(Field("boss").related(in: staff)["boss"] == "a").keys() == ["c"])
  }

  @Test("A deletion by related documents of the same collection decides before it deletes")
  func selfDeletion() throws {
    let staff = try anyStore()["staff"]
    try staff.save(["boss": "x"], key: "a")
    for number in 0..<50 {
      try staff.save(["boss": .string(number == 0 ? "a" : "k\(number - 1)")], key: "k\(number)")
    }
    #expect(try staff.find(Field("boss").related(in: staff).exists).delete() == 50)
    #expect(try staff.find().keys() == ["a"])
  }

  @Test("Arrays relate by their elements, numbers by value, and null relates nothing")
  func values() throws {
    let store = try anyStore()
    let (a, b) = (store["a"], store["b"])
    try a.save(["refs": [1, 2.0, nil]], key: "list")
    try a.save(["refs": nil], key: "null")
    try a.save(["other": 1], key: "none")
    try a.save(["refs": 3], key: "one")
    try b.insert(["n": 2])
    try b.insert(["n": nil])
    try b.insert(["n": [3, 3, "x"]])
    let related = Field("refs").related(in: b, by: "n")

    #expect(try a.find(related.exists).keys() == ["list", "one"])
    #expect(try a.find(related.isEmpty).keys() == ["null", "none"])
    #expect(try a.find(related.count == 1).keys() == ["list", "one"])
    #expect(try a.find(Field("refs").related(in: b, by: .rowID).count == 2).keys() == ["list"])
    #expect(try a.find(Field("refs").related(in: "nothing").isEmpty).count() == 4)
  }

  @Test("Elements of an array are selected by their related documents")
  func elements() throws {
    let cinema = try Cinema(anyStore())
    try cinema.films.update("aliens", set: ["crew": ["cameron", "nobody", "missing"]])
    let british = "array_filter([crew], [@] IN (SELECT [__key__] FROM people WHERE [country] = ?))"

    #expect(try cinema.titles("\(british) = json_array('nobody')", ["UK"]) == ["Aliens"])
    #expect(try cinema.titles("\(british) IS NULL", ["UK"]).count == 3)
  }

  @Test("Aggregates, counts, pages, orders and deletions accept conditions on related documents")
  func calls() throws {
    let cinema = try Cinema(anyStore())
    let isBritish = Field("directorID").related(in: "people")["country"] == "UK"
    let query = cinema.films.find(isBritish)

    #expect(try query.count() == 2)
    #expect(try query.aggregate([.min("year")]) == [1979])
    #expect(try query.distinct("title").count == 2)
    #expect(try query.rowIDs().count == 2)
    #expect(try query.sorted(by: "-year").page(1).documents[0]["title"] == "Blade Runner")
    #expect(try query.sorted(by: [Ordering(.truth(isBritish))]).first() != nil)
    #expect(try query.update(set: ["british": true]) == 2)
    #expect(try query.delete() == 2)
    #expect(try cinema.films.count() == 2)
    try cinema.store.write {
      try cinema.people.update("cameron", set: ["country": "UK"])
      #expect(try query.count() == 1)
    }
  }

  @Test("Pages follow an order by a condition on related documents")
  func orderedPages() throws {
    let cinema = try Cinema(anyStore())
    let isBritish = Field("directorID").related(in: "people")["country"] == "UK"
    let query = cinema.films.find().sorted(by: [Ordering(.truth(isBritish)), .forward("year")])

    var page = try query.page(1)
    var titles = page.documents.map { $0["title"]?.string }
    while let next = page.next {
      page = try query.after(next).page(1)
      titles += page.documents.map { $0["title"]?.string }
    }
    #expect(titles == ["Aliens", "Orphan", "Alien", "Blade Runner"])
  }

  @Test("Explain shows the access to related documents and the indexes on both sides")
  func explained() throws {
    let cinema = try Cinema(anyStore(), indexed: true)
    let explanation = try cinema.films.find(
      Field("directorID").related(in: "people")["country"] == "UK"
    ).explain()
    let plan = explanation.plan.joined(separator: "\n")

    #expect(explanation.checkedPerDocument == nil, "\(explanation)")
    #expect(explanation.statement.contains("people"), "\(explanation)")
    if try cinema.store.engine().capabilities.contains(.sql), !plan.contains("Seq Scan") {
      #expect(explanation.indexes.contains("directorID"), "\(explanation)")
      #expect(explanation.indexes.contains("people.country"), "\(explanation)")
    }
    let mixed = cinema.store["mixed"]
    try mixed.insert(["ref": "cameron"])
    try mixed.insert(["ref": 1])
    let read = mixed.find(Field("ref").related(in: "people").exists)
    #expect(try read.count() == 1)
    #expect(try read.explain().plan[0] == "READ 3 VALUES OF RELATED DOCUMENTS IN people")
  }

  @Test("Errors say what is wrong with a condition")
  func errors() throws {
    let films = try anyStore()["films"]
    try films.save(["title": "Alien", "tags": ["x"]], key: "a")
    #expect(code { _ = try films.find(Related("a", in: "").exists).fetch() } == .invalidName)
    #expect(
      code { _ = try films.find(Related("a..b", in: "people").exists).fetch() } == .invalidPath)
    let outside = error {
      try films.update(
        "a", .pull("tags", where: Field(FieldPath.element).related(in: "people").exists))
    }
    #expect(outside?.code == .unsupported)
    #expect(outside?[.collection] == "people")
  }

  @Test("Joins that together exceed the parameters of a statement are evaluated")
  func manyParameters() throws {
    let cinema = try Cinema(anyStore(), indexed: true)
    func director(_ key: DocumentValue) -> Condition {
      let keys = (0..<16_000).map { QueryExpression.value(.string("\($0)")) } + [.value(key)]
      return Related("directorID", in: cinema.people)
        .where(.membership(.attribute(.key), keys)).exists
    }

    let cameron = director("cameron")
    #expect(try cinema.titles(.all([cameron, cameron, cameron])) == ["Aliens"])
    #expect(try cinema.titles(.all([cameron, cameron, director("nobody")])) == [])
    #expect(
      try cinema.titles(.all([cameron, Field("year") == 1986, cameron, .not(director("nobody"))]))
        == ["Aliens"])
  }

  @Test("A live query reports changes of related documents")
  func live() async throws {
    let cinema = try Cinema(anyStore())
    let query = cinema.films.find(Field("directorID").related(in: "people")["country"] == "UK")
    var results = query.countUpdates().makeAsyncIterator()
    #expect(try await results.next() == 2)
    try await cinema.people.update("cameron", set: ["country": "UK"])
    #expect(try await results.next() == 3)
    try await cinema.films.delete("alien")
    #expect(try await results.next() == 2)
  }
}

@Suite("Included related documents", .timeLimit(.minutes(15)))
struct IncludingTests {
  @Test("Results have the documents that they refer to")
  func toOne() async throws {
    let cinema = try Cinema(anyStore())
    let query = cinema.films.find().sorted(by: "title")
      .including("directorID", from: cinema.people, as: "director")
    let films = try await query.fetch()

    #expect(
      films.map { $0.one("director")?["name"] } == ["Scott", "Cameron", "Scott", nil])
    #expect(films[1].one("director")?.key == "cameron")
    #expect(films[0]["title"] == "Alien" && films[0].key == "alien")
    #expect(films[3].many("director").isEmpty)
    #expect(try films[0].merged["director.country"] == "UK")
    #expect(try films[3].merged["director"] == .null)
    #expect(try films[0].merged.isPartial)
    #expect(try await query.first()?["title"] == "Alien")
    #expect(try await query.fetch().count == 4)
  }

  @Test("Condition, order, limit and offset of related documents apply to each result")
  func toMany() throws {
    let cinema = try Cinema(anyStore())
    func stars(_ reviews: DocumentQuery) throws -> [[Int]] {
      try cinema.films.find().sorted(by: "title")
        .including(.key, from: reviews, by: "filmID", as: "reviews").fetch()
        .map { $0.many("reviews").compactMap { $0["stars"]?.int } }
    }
    #expect(try stars(cinema.reviews.find()) == [[5, 4, 1], [5], [], []])
    #expect(
      try stars(cinema.reviews.find().sorted(by: "stars").limit(2)) == [[1, 4], [5], [], []])
    #expect(
      try stars(cinema.reviews.find().sorted(by: "-stars").offset(1)) == [[4, 1], [], [], []])
    #expect(try stars(cinema.reviews.find(Field("stars") < 5).limit(1)) == [[4], [], [], []])
    #expect(
      try cinema.films.find(.key(.equalTo, "alien"))
        .including(.key, from: cinema.reviews.find().select("stars"), by: "filmID", as: "reviews")
        .fetch()[0].many("reviews")[0].document.object() == ["stars": 5])
  }

  @Test("Documents that an array refers to are in the order of the array")
  func array() throws {
    let store = try anyStore()
    for name in ["a", "b", "c"] { try store["people"].save(["name": .string(name)], key: name) }
    try store["films"].save(["cast": ["c", "a", "missing", "c"]], key: "f")
    try store["films"].save(["cast": "b"], key: "g")
    let query = store["films"].find().including("cast", from: store["people"])
    let films = try query.fetch()
    #expect(films[0].many("cast").map(\.key) == ["c", "a"])
    #expect(try films[0].merged["cast"] == [["name": "c"], ["name": "a"]])
    #expect(try films[1].merged["cast"] == ["name": "b"])
    let sorted = try store["films"].find()
      .including("cast", from: store["people"].find().sorted(by: "name")).fetch()
    #expect(sorted[0].many("cast").map(\.key) == ["a", "c"])
  }

  @Test("References on a path through an array, or in a default array, become an array")
  func pathThroughArray() throws {
    let store = try anyStore()
    for name in ["a", "b"] { try store["people"].save(["name": .string(name)], key: name) }
    let films = store["films"]
    try films.insert([
      ["cast": [["personID": "a"], ["personID": "b"]]], ["cast": [["personID": "b"]]],
      ["cast": []], ["cast": ["personID": "a"]], ["title": "Silent"],
    ])
    let people: [DocumentValue] = [["name": "a"], ["name": "b"]]
    func merged(_ path: FieldPath) throws -> [DocumentValue?] {
      try films.find().including(.field(path), from: store["people"], as: "people").fetch()
        .map { try $0.merged["people"] }
    }
    let both: DocumentValue = .array(people)
    let expected: [DocumentValue?] = [both, .array([people[1]]), .array([]), people[0], .null]
    #expect(try merged("cast.personID") == expected)
    #expect(try merged("cast.0.personID")[0] == people[0])

    try films.setDefaults(["cast": [["personID": "a"], ["personID": "b"]]])
    #expect(try merged("cast.personID")[4] == both)
  }

  @Test("Related documents include their own related documents")
  func nested() throws {
    let cinema = try Cinema(anyStore())
    let films = cinema.films.find().sorted(by: "year")
      .including(.key, from: cinema.reviews, by: "filmID", as: "reviews")
    let people = try cinema.people.find().sorted(by: "name")
      .including(.key, from: films, by: "directorID", as: "films").fetch()
    let scott = people[2]
    #expect(scott.many("films").map { $0["title"] } == ["Alien", "Blade Runner"])
    #expect(scott.many("films").map { $0.many("reviews").count } == [3, 0])
    #expect(try scott.merged["films"]?.array?[0]["reviews"]?.array?.count == 3)
  }

  private struct Film: Codable, Equatable {
    struct Person: Codable, Equatable { var name: String }
    struct Review: Codable, Equatable { var stars: Int }
    var title: String
    var director: Person?
    var reviews: [Review]
  }

  @Test("Results decode to types with properties for the related documents")
  func decoded() async throws {
    let cinema = try Cinema(anyStore())
    let query = cinema.films.find().sorted(by: "title")
      .including("directorID", from: cinema.people, as: "director")
      .including(.key, from: cinema.reviews.find().sorted(by: "stars"), by: "filmID", as: "reviews")
    let films = try await query.decoded(as: Film.self)
    #expect(
      films[0]
        == Film(
          title: "Alien", director: .init(name: "Scott"),
          reviews: [.init(stars: 1), .init(stars: 4), .init(stars: 5)]))
    #expect(films[3] == Film(title: "Orphan", director: nil, reviews: []))
    let again: [Film] = try await query.decoded()
    #expect(again == films)
  }

  @Test("Several thousand results are read in batches, in a transaction as well")
  func batches() throws {
    let store = try anyStore()
    try store.write {
      for number in 0..<2_500 {
        try store["a"].insert(["ref": .int(Int64(number % 700)), "n": .int(Int64(number))])
      }
      for number in 0..<700 { try store["b"].insert(["number": .int(Int64(number))]) }
      let results = try store["a"].find().including("ref", from: store["b"], by: "number", as: "b")
        .fetch()
      #expect(results.count == 2_500)
      for result in results {
        #expect(result.many("b").map { $0["number"] } == [result["ref"]])
      }
    }
  }

  @Test("A live query reports changes of included documents")
  func live() async throws {
    let cinema = try Cinema(anyStore())
    let query = cinema.films.find(.key(.equalTo, "aliens"))
      .including("directorID", from: cinema.people, as: "director")
    var results = query.updates().makeAsyncIterator()
    #expect(try await results.next()?[0].one("director")?["country"] == "CA")
    try await cinema.people.update("cameron", set: ["country": "US"])
    #expect(try await results.next()?[0].one("director")?["country"] == "US")
  }

  @Test("A nested inclusion finds documents by a field that its query does not select")
  func nestedSelection() throws {
    let cinema = try Cinema(anyStore())
    try cinema.store["countries"].save(["name": "Canada"], key: "CA")
    let people = cinema.people.find().select("name")
      .including("country", from: cinema.store["countries"], as: "home")
    let film = try #require(
      try cinema.films.find(.key(.equalTo, "aliens"))
        .including("directorID", from: people, as: "director").first())
    let director = try #require(film.one("director"))
    #expect(try director.document.object() == ["name": "Cameron"])
    #expect(director.one("home")?["name"] == "Canada")
    #expect(
      try film.merged["director"] == ["name": "Cameron", "home": ["name": "Canada"]])
  }

  @Test("A live query reports a changed reference without a document, and a replaced document")
  func liveIdentities() async throws {
    let cinema = try Cinema(anyStore())
    let film = cinema.films.find(.key(.equalTo, "orphan"))
    var references = film.including("directorID", from: cinema.people).updates()
      .makeAsyncIterator()
    #expect(try await references.next()?[0]["directorID"] == "missing")
    try await cinema.films.update("orphan", set: ["directorID": "gone"])
    #expect(try await references.next()?[0]["directorID"] == "gone")

    try await cinema.store["notes"].save(["filmID": "orphan", "text": "A"], key: "first")
    var notes = film.including(.key, from: cinema.store["notes"], by: "filmID", as: "notes")
      .updates().makeAsyncIterator()
    #expect(try await notes.next()?[0].many("notes").map(\.key) == ["first"])
    let stored = cinema.store["notes"]
    try await cinema.store.write {
      _ = try stored.delete("first")
      try stored.save(["filmID": "orphan", "text": "A"], key: "second")
    }
    #expect(try await notes.next()?[0].many("notes").map(\.key) == ["second"])
    // Saved with equal content: only the revision differs.
    let orphan = try #require(try await cinema.films.get("orphan"))
    try await cinema.films.save(orphan)
    let saved = try #require(try await cinema.films.get("orphan"))
    #expect(saved.revision != orphan.revision)
    #expect(try await notes.next()?[0].document.revision == saved.revision)
  }

  @Test("A source in another store, or twice the same name, is an error")
  func errors() throws {
    let (one, other) = (try anyStore(), try anyStore())
    let films = one["films"].find()
    #expect(
      code { _ = try films.including("a", from: other["people"]).fetch() } == .invalidArgument)
    #expect(
      code {
        _ = try films.including("a", from: one["b"]).including("a", from: one["c"]).fetch()
      } == .invalidArgument)
    #expect(code { _ = try films.including("a..b", from: one["b"]).fetch() } == .invalidPath)
    let bags = one["nano_bags"]
    #expect(code { _ = try films.including(.key, from: bags).fetch() } == .invalidName)
    let nested = one["b"].find().including(.key, from: bags)
    #expect(code { _ = try films.including("a", from: nested).fetch() } == .invalidName)
  }
}
