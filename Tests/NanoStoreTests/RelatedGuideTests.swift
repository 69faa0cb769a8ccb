// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Guide to related documents", .timeLimit(.minutes(10)))
struct RelatedGuideTests {
  struct Film: Codable {
    struct Person: Codable { var name: String }
    var title: String
    var director: Person?
  }

  @Test("The code in docs/RELATED-DOCUMENTS.md runs and finds what it says")
  func code() async throws {
    let store = try anyStore()
    try await store["people"].save(["name": "Scott", "country": "UK", "born": 1937], key: "scott")
    try await store["films"].save(
      ["title": "Alien", "year": 1979, "directorID": "scott"], key: "alien")
    for stars in [5, 4, 1, 5, 4] {
      try await store["reviews"].insert(["filmID": "alien", "stars": .int(Int64(stars))])
    }
    let films = try store["films"].find("[year] > 1970").sorted(by: "title")
      .including("directorID", from: store["people"], as: "director")
    for film in try await films.fetch() {
      print(film["title"] ?? "", film.one("director")?["name"] ?? "unknown")
    }
    #expect(try await films.fetch()[0].one("director")?["name"] == "Scott")

    let best = try store["reviews"].find("[stars] > 3").sorted(by: "-stars").limit(3)
    let all = store["films"].find()
    let reviewed = try await all.including(.key, from: best, by: "filmID", as: "reviews").fetch()
    print(reviewed[0].many("reviews").map { $0["stars"] })
    #expect(reviewed[0].many("reviews").map { $0["stars"] } == [5, 5, 4])

    let people = try await store["people"].find()
      .including(.key, from: films, by: "directorID", as: "films")
      .fetch()
    print(people[0].many("films")[0].one("director")?["name"] ?? "")

    let typed = try await films.decoded(as: Film.self)
    print(typed[0].director?.name ?? "")
    #expect(typed[0].director?.name == "Scott")

    let director = Field("directorID").related(in: store["people"])
    let reviews = Related(.key, in: store["reviews"], by: "filmID")
    let british = director["country"] == "UK"
    let both = british && reviews.where(Field("stars") > 4).count >= 1
    let found = try await store["films"].find(both).fetch()
    print(found.count, try await store["films"].find(reviews.isEmpty).count())
    let old = director.has(Field("born") < 1940 && Field("country") == "UK")
    print(try await store["films"].find(old).count())
    #expect(found.count == 1)

    let british2 = try store["films"].find(
      "[directorID] IN (SELECT [__key__] FROM people WHERE [country] = ?)", "UK")
    let popular = try store["films"].find(
      "(SELECT COUNT(*) FROM reviews WHERE [filmID] = PARENT[__key__] AND [stars] > 4) >= 1")
    print(try await british2.count(), try await popular.count())
    #expect(try await british2.count() == 1)
    #expect(try await popular.count() == 1)
  }

  @Test("The live query in docs/RELATED-DOCUMENTS.md returns the results")
  func live() async throws {
    let store = try anyStore()
    try await store["films"].save(["title": "Alien", "directorID": "scott"], key: "alien")
    let films = store["films"].find().including("directorID", from: store["people"])
    for try await films in films.updates() {
      print(films.count)
      break
    }
  }

  @Test("Each line of code in docs/RELATED-DOCUMENTS.md is compiled")
  func lines() throws {
    let models = try String(
      contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../NanoModelTests/RelatedModelTests.swift"), encoding: .utf8)
    let own = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
    let compiled = Set(
      (models + own).split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) })
    let guide = try String(
      contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../docs/RELATED-DOCUMENTS.md"), encoding: .utf8)
    var isCode = false
    var count = 0
    for line in guide.components(separatedBy: "\n") {
      if line.hasPrefix("```") {
        isCode = line == "```swift"
      } else if isCode, !line.isEmpty {
        count += 1
        #expect(compiled.contains(line.trimmingCharacters(in: .whitespaces)), "\(line)")
      }
    }
    #expect(count > 30)
  }
}
