// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTestSupport
import Testing

@Suite("Code in the article Performance")
struct PerformanceSnippets {
  @Test("The code runs") func code() async throws {
    let scratch = try Scratch()
    let path = scratch.path + "/library.db"
    var configuration = Store.Configuration()
    configuration.documentCacheSize = 1_000  // documents of each collection that stay in memory
    var engine = SQLiteConfiguration()
    engine.durability = .full  // each commit waits for the disk
    let store = try Store(.file(path), configuration: configuration, engine: engine)
    let films = store["films"]
    try await plainly(store, films)

    async let one = films.save(["title": "Brazil"], key: "brazil")
    async let other = films.save(["title": "Dune"], key: "dune")
    _ = try await (one, other)  // waiting writes share a commit
    #expect(try await films.count() == 1_004)
    try store.close()
  }

  private func plainly(_ store: Store, _ films: DocumentCollection) async throws {
    let batch: [DocumentObject] = (1...1_000).map {
      ["title": .string("Film \($0)"), "year": 1985]
    }
    try await films.insert(batch)
    try await store.write {
      try films.save(["title": "Alien", "year": 1979], key: "alien")
      try films.save(["title": "Ran", "year": 1985], key: "ran")
    }
    #expect(try await films.count() == 1_002)

    let some = try await films.get(keys: ["ran", "alien"])
    let (alien, count) = try await store.read {
      (try films.get("alien"), try films.find(Field("year") == 1985).count())
    }
    #expect(some.map(\.key) == ["ran", "alien"])
    #expect(alien?["year"] == 1979 && count == 1_001)

    try await films.createIndex("year", "-title")
    let plan = try await films.find(Field("year") == 1979).sorted(by: "-title").explain()
    print(plan.indexes)  // ["year_title_desc"]
    #expect(plan.indexes == ["year_title_desc"])

    for advice in try await store.indexAdvice() where advice.isDue {
      print(advice.index.name, advice.reason)
    }
  }
}
