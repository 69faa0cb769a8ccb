// SPDX-License-Identifier: MIT

import NanoStoreModels
import NanoTestSupport
import Testing

@Model private struct Recipe: Equatable {
  @TextIndexed var title: String
  @TextIndexed var steps: [String] = []
  var year: Int
}

@Suite("Full-text search of models")
struct ModelSearchTests {
  private let recipes: ModelCollection<Recipe>

  init() throws {
    recipes = try anyStore()[Recipe.self]
    try recipes.insert([
      Recipe(title: "Gin and tonic", steps: ["Pour the gin", "Add ice"], year: 1990),
      Recipe(title: "Sloe gin fizz", steps: ["Shake"], year: 2005),
      Recipe(title: "Crème brûlée", steps: ["Bake slowly"], year: 2010),
    ])
  }

  @Test("A search finds words in marked properties, combined with any condition and order")
  func search() throws {
    #expect(try recipes.search("gin").count() == 2)
    #expect(try recipes.search("creme").fetch().map(\.year) == [2010])
    #expect(try recipes.search("ice").fetch().map(\.year) == [1990])
    #expect(try recipes.search("gin -sloe").fetch().map(\.year) == [1990])
    #expect(try recipes.search("gin").where(\.year > 2000).fetch().map(\.year) == [2005])
    #expect(
      try recipes.search("gin").sorted(using: .reverse(\.year)).fetch().map(\.year) == [
        2005, 1990,
      ])
    #expect(try recipes.search("1990").count() == 0)
  }

  @Test(
    "A model with another text index is searched with its own, and can drop that of an earlier version"
  )
  func severalIndexes() throws {
    let former = try recipes.documents.createFullTextIndex("title")
    #expect(try recipes.documents.fullTextIndexes().count == 2)
    #expect(try recipes.search("ice").fetch().map(\.year) == [1990])
    #expect(
      try recipes.search(FullTextQuery("ice"), in: former.name).count() == 0)
    #expect(try recipes.dropUndeclaredIndexes() == 1)
    #expect(try recipes.documents.fullTextIndexes().map(\.fields.count) == [2])
    #expect(try recipes.search("ice").count() == 1)
  }

  @Test("Search results have a rank, a snippet and highlights for each property")
  func results() async throws {
    let found = try await recipes.search("gin").results()
    #expect(found.count == 2)
    #expect(found[0].rank >= found[1].rank)
    let tonic = try #require(found.first { $0.value.year == 1990 })
    #expect(try tonic.highlights(of: \.title) == ["[Gin] and tonic"])
    #expect(tonic.snippet()?.contains("[") == true)
  }

  @Test("A changed value is found by its new words")
  func changes() throws {
    try recipes.find(\.year == 1990).update(.set(\.title, "Vodka"))
    #expect(try recipes.search("vodka").count() == 1)
    #expect(try recipes.search("tonic").count() == 0)
    try recipes.find(\.year == 1990).delete()
    #expect(try recipes.search("vodka").count() == 0)
  }

  @Test("The full-text index of a model is created once, by the first write")
  func index() throws {
    #expect(try recipes.documents.fullTextIndexes().map(\.name) == ["title_steps_text"])
  }
}
