// SPDX-License-Identifier: MIT

import NanoTestSupport
import Testing

/// Each block of Swift in an article stands word for word in a file beside this one, which compiles and
/// runs it, or in an example that is built with the tests.
@Suite("Code in the articles")
struct SnippetTests {
  private static let articles: [String] = {
    let catalogues = [
      "Sources/Products/NanoStore/NanoStore.docc",
      "Sources/Products/NanoStoreModels/NanoStoreModels.docc",
    ]
    return catalogues.flatMap { SwiftBlocks.files(in: $0, ".md") } + ["README.md"]
  }()

  private static let sources =
    SwiftBlocks.files(in: "Tests/NanoModelTests/Snippets", ".swift")
    + ["QuickStart", "Models", "Objects"].map { "Examples/\($0)/Sources/\($0)/main.swift" }

  @Test("Every block of Swift is compiled and run", arguments: articles)
  func compiled(article: String) {
    for block in SwiftBlocks(of: article).missing(in: Self.sources) {
      Issue.record("is nowhere compiled:\n\(block)")
    }
  }

  @Test("There are articles, and they have code")
  func articlesAreFound() {
    #expect(Self.articles.count >= 9)
    #expect(Self.articles.map { SwiftBlocks(of: $0).blocks.count }.reduce(0, +) >= 40)
  }
}
