// SPDX-License-Identifier: MIT

import Foundation

/// The Swift code blocks of an article, and a search for them in compiled sources.
public struct SwiftBlocks {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The lines of each fenced code block marked as Swift.
  public let blocks: [[String]]

  /// - Parameter article: The path of the page, relative to the package folder.
  public init(of article: String) {
    var blocks: [[String]] = []
    var block: [String]?
    for line in Self.text(article).components(separatedBy: "\n") {
      if line.hasPrefix("```") {
        if let block { blocks.append(block) }
        block = block == nil && line == "```swift" ? [] : nil
      } else {
        block?.append(line)
      }
    }
    self.blocks = blocks
  }

  /// Returns the fenced code blocks of an article that are marked as another language.
  public static func text(of article: String, language: String) -> [String] {
    text(article).components(separatedBy: "```\(language)\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
  }

  /// Returns the blocks that appear verbatim in none of the files.
  public func missing(in files: [String]) -> [String] {
    let sources = files.map { Self.text($0).components(separatedBy: "\n") }
    return blocks.filter { block in !sources.contains { Self.contains($0, block) } }
      .map { $0.joined(separator: "\n") }
  }

  /// Returns the paths of the files in a folder, relative to the package folder.
  public static func files(in folder: String, _ suffix: String) -> [String] {
    let names = try? FileManager.default.contentsOfDirectory(
      atPath: root.appending(path: folder).path)
    return (names ?? []).filter { $0.hasSuffix(suffix) }.sorted().map { "\(folder)/\($0)" }
  }

  private static func text(_ path: String) -> String {
    (try? String(contentsOf: root.appending(path: path), encoding: .utf8)) ?? ""
  }

  /// Returns whether the source contains the consecutive lines of the block, all with the same indentation.
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
