// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Code in the article Getting started")
struct GettingStartedSnippets {
  struct Film: Codable {
    var title: String
    var year: Int
    var genres: [String]?
  }

  @Test("The code runs as one program", .timeLimit(.minutes(10))) func code() async throws {
    let scratch = try Scratch()
    let path = scratch.path + "/library.db"
    let store = try Store(.file(path))
    let films = store["films"]
    try await plainly(store, films)
    try await declaring(store, films, scratch.file("setup.json"))

    try await films.save(["title": "Solaris", "year": 1972], key: "solaris")
    for try await documents in films.find(Field("year") < 1980).updates() {
      print(documents.count)  // 2, and again after each commit that changes it
      break
    }
    let seventies = try await films.find(Field("year") < 1980).count()
    #expect(seventies == 2)
    try store.close()
  }

  private func plainly(_ store: Store, _ films: DocumentCollection) async throws {
    try await films.save(
      ["title": "Alien", "year": 1979, "genres": ["Horror", "SF"]], key: "alien")
    try await films.save(
      ["title": "Ran", "year": 1985, "director": ["name": "Kurosawa"]], key: "ran")

    let ran = try await films.get("ran")
    let director = ran?["director.name"]?.string  // "Kurosawa"
    let nothing = try await films.get("brazil")  // nil: not found
    #expect(director == "Kurosawa" && nothing == nil)

    try await films.save(
      Film(title: "Brazil", year: 1985, genres: ["Comedy", "SF"]), key: "brazil")
    let brazil = try await films.get("brazil", as: Film.self)
    let eighties = try await films.find(Field("year") >= 1980).sorted(by: "title").decoded(
      as: Film.self)
    #expect(brazil?.year == 1985)
    #expect(eighties.map(\.title) == ["Brazil", "Ran"])

    let science = try await films.find(Field("genres") == "SF").sorted(by: "-year").fetch()
    let same = try await films.find("[genres] = ? ORDER BY [year] DESC", "SF").fetch()
    let count = try await films.find("[director.name] = 'Kurosawa'").count()  // 1
    let average = try await films.find().average("year")  // 1983.0
    #expect(science.map(\.key) == ["brazil", "alien"] && same.map(\.key) == science.map(\.key))
    #expect(count == 1 && average == 1983)

    try await films.update("ran", set: ["director.born": 1910, "seen": true])
    try await films.update("ran", remove: ["seen"])
    let removed = try await films.delete("alien")  // true
    let again = try await films.delete("alien")  // false
    #expect(try await films.get("ran")?["director.born"] == 1910)
    #expect(removed && !again)

    try await store.write {
      try films.save(["title": "Alien", "year": 1979], key: "alien")
      try store["log"].insert(["what": "Alien came back"])
    }
    #expect(try await store["log"].count() == 1)

    do {
      try await films.insert(["title": "Ran"], key: "ran")
    } catch let error as StoreError where error.code == .duplicateKey {
      print(error)
    }
    #expect(try await films.count() == 3)
  }

  private func declaring(_ store: Store, _ films: DocumentCollection, _ file: String) async throws {
    let setup = StoreSetup(collections: [
      "films": CollectionSetup(
        defaults: ["rating": 0], aliases: ["by": "[director.name]"], indexes: ["[year] DESC, by"],
        uniqueIndexes: ["[imdb]"])
    ])
    try await store.apply(setup)
    let unrated = try await films.find("[rating] = 0 AND by = ?", "Kurosawa").count()  // 1
    #expect(unrated == 1)

    // The JSON of the article is the same setup.
    let json = try #require(
      SwiftBlocks.text(
        of: "Sources/Products/NanoStore/NanoStore.docc/GettingStarted.md", language: "json"
      ).first)
    #expect(try StoreSetup(DocumentObject(json: json)) == setup)
    try Data(json.utf8).write(to: URL(fileURLWithPath: file))
    let indexes = try await films.indexes()
    try await store.apply(StoreSetup(contentsOf: file))
    #expect(try await films.indexes() == indexes && indexes.count == 2)
  }
}
