// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Full-text search")
struct FullTextSearchTests {
  let scratch: Scratch
  let store: Store
  let films: DocumentCollection

  init() throws {
    scratch = try Scratch()
    store = try Store.file(scratch.file("a.db"))
    films = store["films"]
    try films.save(
      ["title": "Gin and Tonic", "plot": "Two bottles meet.", "year": 2004], key: "gt")
    try films.save(
      ["title": "Sloe Gin", "plot": ["A gin, slowly.", "No tonic in sight."], "year": 1999],
      key: "sloe")
    try films.save(["title": "Crème brûlée", "year": 2010], key: "creme")
    try films.createFullTextIndex("title", "plot")
  }

  @Test(
    "A search requires all words, ranks its results, and combines with conditions and orderings")
  func search() throws {
    #expect(try films.search("gin tonic").keys() == ["gt", "sloe"])
    #expect(try films.search("creme BRULEE").keys() == ["creme"])
    #expect(try films.search("gin").where(Field("year") > 2000).keys() == ["gt"])
    #expect(try films.search("gin").sorted(by: "year").keys() == ["sloe", "gt"])
    #expect(try films.search("gin").limit(1, offset: 1).fetch().count == 1)
    #expect(try films.search("\"gin and\" OR brul* -bottles").keys() == ["creme"])
    #expect(try films.search("gin").count() == 2)
    #expect(try films.find(Field("year") == 2010 || .search("tonic")).count() == 3)
    #expect(try films.search("gin").average("year") == 2001.5)
    #expect(try films.search("nothing").first() == nil)
  }

  @Test("Async searches and streams return the same results")
  func asynchronous() async throws {
    #expect(try await films.search("gin").fetch().count == 2)
    #expect(try await films.search("gin").results().map(\.document.key) == ["sloe", "gt"])
    var keys: [String?] = []
    for try await film in films.search("gin").stream() { keys.append(film.key) }
    #expect(keys == ["sloe", "gt"])
  }

  @Test("A search in a transaction finds the transaction's writes")
  func transaction() throws {
    try store.write {
      try films.save(["title": "Gin gin gin"], key: "new")
      #expect(try films.search("gin").first()?.key == "new")
    }
  }

  @Test("Results have ranks, highlights, and snippets")
  func results() throws {
    let results = try films.search("gin slow* -bottles").results()
    let result = try #require(results.first)

    #expect(results.count == 1)
    #expect(result.rank > 0)
    #expect(result.highlights(of: "title", begin: "<b>", end: "</b>") == ["Sloe <b>Gin</b>"])
    #expect(result.highlights(of: "plot") == ["A [gin], [slowly].", "No tonic in sight."])
    #expect(result.snippet() == "A [gin], [slowly].")
    #expect(result.snippet(of: "plot", words: 2) == "…[gin], [slowly].")
    #expect(result.snippet(of: "year") == nil)
  }

  @Test("Words that SQLite's index shortens are compared whole")
  func longWords() throws {
    let long = String(repeating: "q", count: 40_000)
    try films.save(["title": .string(long + "a")], key: "a")
    try films.save(["title": .string(long + "b")], key: "b")
    try films.save(["title": .string(String(long.prefix(32_768)))], key: "c")

    #expect(try films.search(FullTextQuery(long + "b")).keys() == ["b"])
    #expect(try Set(films.search(.prefix(String(long.prefix(33_000)))).keys()) == ["a", "b"])
    #expect(try films.search(.phrase(String(long.prefix(32_768)))).keys() == ["c"])
  }

  @Test("Weights change the ranking")
  func weights() throws {
    try films.save(["title": "x", "plot": "tonic tonic tonic"], key: "plot")

    #expect(try films.search("tonic").first()?.key == "plot")
    #expect(try films.search("tonic").ranked(weights: ["title": 50]).first()?.key == "gt")
    let error = #expect(throws: StoreError.self) {
      try films.search("tonic").ranked(weights: ["titel": 50]).fetch()
    }
    #expect(error?.code == .invalidArgument && error?[.field] == "titel")
  }

  @Test(
    "A substring index finds any part of a text, even one shorter than three characters")
  func substrings() throws {
    try films.createFullTextIndex("title", tokens: .substrings, name: "parts")

    #expect(try films.search("oni", in: "parts").keys() == ["gt"])
    #expect(try films.search("\"n AND t\"", in: "parts").keys() == ["gt"])
    #expect(try films.search("in", in: "parts").count() == 2)
    #expect(try films.search("in", in: "parts").results().first?.snippet() == "G[in] and Tonic")
    #expect(code { _ = try films.search("gin").count() } == .invalidArgument)
    #expect(try films.search("gin", in: "title_plot_text").count() == 2)
  }

  @Test("Text after a NUL is searchable, and the literal text of its escape is not a NUL")
  func nul() throws {
    let texts = try anyStore()["texts"]
    try texts.createFullTextIndex("t")
    try texts.createFullTextIndex("t", tokens: .substrings, name: "parts")
    try texts.save(["t": "gin\0tonic"], key: "one")
    try texts.save(["t": ["a", "sloe\0gin fizz"]], key: "list")
    try texts.save(["t": .string(#"rum\u0000cola \\u0000x"#)], key: "escape")
    try texts.save(["t": "gin tonic"], key: "blank")

    #expect(try texts.search("tonic", in: "t_text").keys() == ["one", "blank"])
    #expect(try texts.search("fizz", in: "t_text").keys() == ["list"])
    #expect(try texts.search("u0000cola", in: "t_text").keys() == ["escape"])
    #expect(try texts.search(.phrase("n\0t"), in: "parts").keys() == ["one"])
    #expect(try texts.search(.phrase("n t"), in: "parts").keys() == ["blank"])
    #expect(try texts.search(.phrase(#"\u0000"#), in: "parts").keys() == ["escape"])
    #expect(try texts.store.verify().isEmpty)
    try texts.delete("one")
    try texts.save(["t": "rum"], key: "list")
    #expect(try texts.search("gin", in: "t_text").keys() == ["blank"])
    #expect(try texts.store.verify().isEmpty)
  }

  @Test("The separator character of list elements is found where a text contains it")
  func separator() throws {
    let texts = try anyStore()["texts"]
    try texts.createFullTextIndex("t", tokens: .substrings)
    try texts.save(["t": "gin\u{E000}tonic"], key: "one")
    try texts.save(["t": ["gin", "tonic"]], key: "two")

    #expect(try texts.search(.phrase("n\u{E000}t")).keys() == ["one"])
  }

  @Test("A line feed is found only within a text, not next to one")
  func lineFeed() throws {
    let texts = try anyStore()["texts"]
    try texts.createFullTextIndex("t", tokens: .substrings)
    try texts.save(["t": ["gin", "tonic"]], key: "list")
    try texts.save(["t": "gin\ntonic"], key: "lines")

    for phrase in ["in\n", "\nton"] {
      #expect(try texts.search(.phrase(phrase)).keys() == ["lines"])
      #expect(try texts.search(.part(phrase, .anywhere)).keys() == ["lines"])
      #expect(try texts.search("ton -\"\(phrase)\"").keys() == ["list"])
      #expect(try texts.find(!Condition.search(.phrase(phrase))).keys() == ["list"])
    }
  }

  @Test("Searches in deeply nested conditions find the same documents as flat ones")
  func nested() throws {
    let (all, none): (Condition, Condition) = (Field("year") > 0, Field("year") == 1)
    let condition = (0..<40).reduce(Condition.search("gin")) { (inner, number) -> Condition in
      number.isMultiple(of: 2) ? .any([none, inner]) : .all([all, inner])
    }
    #expect(try films.find(condition).count() == 2)
    #expect(try films.find(!condition).keys() == ["creme"])
  }

  @Test(
    "A distance longer than every text finds all texts with the phrases",
    arguments: [8, 1 << 31, 1 << 32, Int.max])
  func distance(distance: Int) throws {
    let texts = try anyStore()["texts"]
    try texts.createFullTextIndex("t", "u")
    try texts.save(["t": "gin a b c d e tonic"], key: "far")
    try texts.save(["t": "gin", "u": "tonic"], key: "apart")
    try texts.save(["u": "tonic gin"], key: "second")

    #expect(try texts.search(.near(["gin", "tonic"], distance: 4)).keys() == ["second"])
    let found = try texts.search(.near(["gin", "tonic"], distance: distance)).keys()
    #expect(Set(found) == ["far", "second"])
  }

  @Test("Searching without a text index throws, and so does paging ranked results")
  func errors() throws {
    #expect(code { _ = try store["other"].search("x").count() } == nil)
    try store["other"].save(["a": "x"])
    #expect(code { _ = try store["other"].search("x").count() } == .invalidArgument)
    #expect(code { _ = try films.search("gin", in: "none").fetch() } == .invalidArgument)
    #expect(code { _ = try films.search("gin").page(1) } == .invalidArgument)
    #expect(try films.search("gin").sorted(by: "year").page(1).documents.count == 1)
    #expect(code { _ = try films.find().results() } == .invalidArgument)
    #expect(
      code { _ = try films.search(.near(["gin", "x"], distance: -1)).count() } == .invalidArgument)
    let texts = Array(repeating: "gin", count: 1_001)
    #expect(code { _ = try films.search(.near(texts, distance: 3)).count() } == .invalidArgument)
    let phrases = FullTextQuery.all(texts.map { FullTextQuery.phrase($0) })
    #expect(code { _ = try films.search(phrases).count() } == .invalidArgument)
    let deep = (0..<100).reduce(FullTextQuery.phrase("gin")) { inner, _ in .all([inner, inner]) }
    #expect(code { _ = try films.search(deep).count() } == .invalidArgument)
    #expect(code { try films.createFullTextIndex("a.0") } == .unsupported)
    #expect(code { try films.createFullTextIndex("a\"b") } == .unsupported)
    #expect(try films.fullTextIndexes().map(\.name) == ["title_plot_text"])
    #expect(try store.verify() == [])
  }

  @Test("The plan uses the text index and reads only the matching documents")
  func explained() throws {
    let plain = try films.search("gin").where(Field("year") > 2000).explain()

    #expect(plain.indexes == ["title_plot_text"])
    #expect(plain.plan.contains { $0.contains("VIRTUAL TABLE INDEX") })
    #expect(plain.plan.contains { $0.contains("USING INTEGER PRIMARY KEY") })
    #expect(plain.checkedPerDocument == "[year] > 2000")
  }

  @Test("The index is stored in the file: other processes update it and see that it was dropped")
  func processes() throws {
    let other = try HelperProcess()
    try other.send("open", scratch.file("a.db"))
    #expect(try other.send("search", "films", "gin") == "ok sloe,gt")
    try other.send("save", "films", "third", #"{"title":"Gin fizz"}"#)
    #expect(try films.search("gin").count() == 3)
    try films.save(["title": "Rum"], key: "gt")
    #expect(try other.send("search", "films", "gin") == "ok third,sloe")
    try films.dropIndex("title_plot_text")
    #expect(try other.send("search", "films", "gin") == "error invalidArgument")
    #expect(try store.verify() == [])
  }

  @Test("SQL writes update the index, and SQL can query it")
  func sql() throws {
    try store.execute(
      "INSERT INTO films(key, body) VALUES ('sql', ?)", #"{"title":"Gin by SQL"}"#)
    try store.execute("UPDATE films SET body = json_set(body, '$.title', 'Rum') WHERE key = 'gt'")

    #expect(Set(try films.search("gin").keys()) == ["sloe", "sql"])
    let rows = try store.sql(
      "SELECT count(*) FROM \"nano_text_films_title_plot_text\"('gin')"
    ).map { $0.values[0] }
    #expect(rows == [2])
    #expect(
      code { try store.execute("DELETE FROM nano_text_films_title_plot_text") } == .notPermitted)
    #expect(
      code { try store.execute("DROP TABLE nano_text_films_title_plot_text") } == .notPermitted)
    #expect(try store.verify() == [])
  }

  @Test("verify() finds a damaged index, and rebuilding repairs it")
  func damage() throws {
    try store.close()
    let path = scratch.file("a.db")
    let permissive = try Store.file(path) { $0.allowsInternalWrites = true }
    try permissive.execute(
      """
      INSERT INTO nano_text_films_title_plot_text(nano_text_films_title_plot_text)
      VALUES ('delete-all')
      """)
    #expect(try permissive.verify().map(\.subject) == ["films"])
    try permissive["films"].rebuildIndexes()
    #expect(try permissive.verify() == [])
    #expect(try permissive["films"].search("gin").count() == 2)
    #expect(try permissive["films"].dropIndexes().count == 1)
    #expect(try permissive.tables().filter { $0.name.contains("nano_text") }.isEmpty)
  }

  @Test("Dropping the collection drops the tables of its text index")
  func drop() throws {
    try films.drop()
    #expect(try store.tables().filter { $0.name.contains("nano_text") }.isEmpty)
    try films.save(["title": "Gin"])
    #expect(code { _ = try films.search("gin").count() } == .invalidArgument)
  }

  @Test("A setup declares text indexes idempotently")
  func setup() throws {
    let setup = try CollectionSetup(
      DocumentObject(json: #"{"textIndexes":["[a], [b.c]"],"substringIndexes":"[a]"}"#))
    for _ in 0..<2 { try store["c"].apply(setup) }

    #expect(try store["c"].fullTextIndexes().map(\.keys) == ["[a], [b.c]", "[a]"])
    #expect(try CollectionSetup(setup.object) == setup)
  }

  @Test("A live query reports a result when it changes")
  func updates() async throws {
    var updates = films.search("gin").updates().makeAsyncIterator()
    #expect(try await updates.next()?.compactMap(\.key) == ["sloe", "gt"])
    try await films.delete("gt")
    #expect(try await updates.next()?.compactMap(\.key) == ["sloe"])
    try await films.save(["title": "Gin gin"], key: "new")
    #expect(try await updates.next()?.compactMap(\.key) == ["new", "sloe"])
  }

  @Test("A canceled search ends")
  func canceled() async throws {
    let task = Task { [films] in
      while true { _ = try await films.search("gin").results() }
    }
    task.cancel()

    await #expect(throws: (any Error).self) { try await task.value }
    #expect(try await films.search("gin").count() == 2)
  }

  @Test("No search text causes a syntax error", arguments: 1...2 as ClosedRange<UInt64>)
  func fuzz(seed: UInt64) throws {
    try films.createFullTextIndex("title", tokens: .substrings, name: "parts")
    var random = SystemRandomNumberGenerator()
    let pieces = [
      "gin", "\"", "'", "*", "-", "^", "(", ")", ":", "title:", "NEAR(", "AND", "OR", "NOT", "+",
      "{",
      "}", ",", " ", "\n", "\0", "\u{E000}", "é", "🍸", ";", "--", "/*", "?", "&&", "||", "!!", "[[",
      "]]",
      "%", "\\", "\u{FEFF}", "日本",
    ]
    for _ in 0..<60 {
      let text = (0..<Int.random(in: 0...8, using: &random)).map { _ in
        pieces.randomElement(using: &random)!
      }.joined()
      for index in ["title_plot_text", "parts"] {
        for query in [
          FullTextQuery(text, fields: ["title"]), FullTextQuery(bnrExpression: text), .phrase(text),
          .prefix(text),
          .near([text, "gin"], distance: 3),
          .field("title", .excluding(.phrase("gin"), .phrase(text))),
          .part(text, .token),
        ] {
          #expect(throws: Never.self, "\(text.debugDescription)") {
            _ = try films.search(query, in: index).results().map { $0.snippet(words: 2) }
          }
        }
      }
    }
    let many = Array(repeating: "gin tonic", count: 300).joined(separator: " ")
    #expect(try films.search(many, in: "parts").count() == 1)
  }
}

extension FullTextSearchTests {
  @Test("Search works the same in a UTF-16 file")
  func utf16() throws {
    let wide = try Store.file(scratch.file("wide.db")) { $0.encoding = .utf16 }
    try wide["c"].createFullTextIndex("t")
    try wide["c"].insert(["t": ["Crème 𐌰", "brûlée"]])

    #expect(try wide["c"].search("creme BRULEE").count() == 1)
    #expect(try wide["c"].search("𐌰").results().first?.snippet() == "Crème [𐌰]")
    #expect(try wide.verify() == [])
  }
}
