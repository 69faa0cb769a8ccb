// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Each block of Swift in an article stands word for word in a file beside this one, which compiles and
/// runs it, or in an example that is built with the tests.
@Suite("Code in the articles")
struct SnippetTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static let articles: [String] = {
    let catalogues = [
      "Sources/NanoStore/NanoStore.docc", "Sources/NanoStoreModels/NanoStoreModels.docc",
    ]
    return catalogues.flatMap { files(in: $0, ".md") } + ["README.md"]
  }()

  private static let sources: [[String]] = {
    let paths =
      files(in: "Tests/NanoModelTests/Snippets", ".swift")
      + ["QuickStart", "Models", "Objects"].map { "Examples/\($0)/Sources/\($0)/main.swift" }
    return paths.map { text($0).components(separatedBy: "\n") }
  }()

  @Test("Every block of Swift is compiled and run", arguments: articles)
  func compiled(article: String) {
    for block in Self.blocks(of: Self.text(article)) {
      let isThere = Self.sources.contains { Self.contains($0, block) }
      #expect(isThere, "is nowhere compiled:\n\(block.joined(separator: "\n"))")
    }
  }

  @Test("There are articles, and they have code")
  func articlesAreFound() {
    #expect(Self.articles.count >= 9)
    #expect(Self.articles.map { Self.blocks(of: Self.text($0)).count }.reduce(0, +) >= 40)
  }

  private static func files(in folder: String, _ suffix: String) -> [String] {
    let names = try? FileManager.default.contentsOfDirectory(
      atPath: root.appending(path: folder).path)
    return (names ?? []).filter { $0.hasSuffix(suffix) }.sorted().map { "\(folder)/\($0)" }
  }

  private static func text(_ path: String) -> String {
    (try? String(contentsOf: root.appending(path: path), encoding: .utf8)) ?? ""
  }

  /// The lines between fences that are marked as Swift.
  private static func blocks(of page: String) -> [[String]] {
    var blocks: [[String]] = []
    var block: [String]?
    for line in page.components(separatedBy: "\n") {
      if line.hasPrefix("```") {
        if let block { blocks.append(block) }
        block = block == nil && line == "```swift" ? [] : nil
      } else {
        block?.append(line)
      }
    }
    return blocks
  }

  /// Whether the lines stand in a row, all of them behind the same blanks.
  private static func contains(_ source: [String], _ block: [String]) -> Bool {
    guard let first = block.first, source.count >= block.count else { return false }
    return (0...(source.count - block.count)).contains { start in
      guard source[start].hasSuffix(first) else { return false }
      let blanks = source[start].dropLast(first.count)
      guard blanks.allSatisfy({ $0 == " " }) else { return false }
      return zip(block, source[start...]).allSatisfy { $0.isEmpty ? $1.isEmpty : blanks + $0 == $1 }
    }
  }
}
