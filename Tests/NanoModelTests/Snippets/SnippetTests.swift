// SPDX-License-Identifier: MIT

import NanoTestSupport
import Testing

/// Each Swift block in an article also appears verbatim in a file of this folder, which compiles and runs it, or in
/// an example that is built with the tests.
@Suite("Code in the articles")
struct SnippetTests {
  private static let articles: [String] = {
    let catalogs = [
      "Sources/Products/NanoStore/NanoStore.docc",
      "Sources/Products/NanoStoreModels/NanoStoreModels.docc",
    ]
    return catalogs.flatMap { SwiftBlocks.files(in: $0, ".md") } + [
      "README.md", "Examples/README.md",
    ]
  }()

  private static let sources =
    SwiftBlocks.files(in: "Tests/NanoModelTests/Snippets", ".swift")
    + ["QuickStart", "Models", "Objects"].map { "Examples/\($0)/Sources/\($0)/main.swift" }

  @Test("Every Swift block is compiled and run", arguments: articles)
  func compiled(article: String) {
    for block in SwiftBlocks(of: article).missing(in: Self.sources) {
      Issue.record("not compiled:\n\(block)")
    }
  }

  @Test("There are articles with code")
  func articlesAreFound() {
    #expect(Self.articles.count >= 9)
    #expect(Self.articles.map { SwiftBlocks(of: $0).blocks.count }.reduce(0, +) >= 40)
  }
}
