// SPDX-License-Identifier: MIT

import Foundation

/// The blocks of Swift in an article, and where they stand in code that is compiled.
public struct SwiftBlocks {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The lines of each block between fences that are marked as Swift.
  public let blocks: [[String]]

  /// - Parameter article: The path of the page, from the package's folder on.
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

  /// Those that stand in none of the files word for word.
  public func missing(in files: [String]) -> [String] {
    let sources = files.map { Self.text($0).components(separatedBy: "\n") }
    return blocks.filter { block in !sources.contains { Self.contains($0, block) } }
      .map { $0.joined(separator: "\n") }
  }

  /// The paths of the files in a folder, from the package's folder on.
  public static func files(in folder: String, _ suffix: String) -> [String] {
    let names = try? FileManager.default.contentsOfDirectory(
      atPath: root.appending(path: folder).path)
    return (names ?? []).filter { $0.hasSuffix(suffix) }.sorted().map { "\(folder)/\($0)" }
  }

  private static func text(_ path: String) -> String {
    (try? String(contentsOf: root.appending(path: path), encoding: .utf8)) ?? ""
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
