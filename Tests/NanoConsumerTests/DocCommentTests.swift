// SPDX-License-Identifier: MIT

import Foundation
import Testing

@Suite("Documentation comments")
struct DocCommentTests {
  @Test("No other comment separates a documentation comment from its declaration")
  func separated() throws {
    let sources = ConsumerCompiler.root.appending(path: "Sources")
    let names = FileManager.default.enumerator(atPath: sources.path)?
      .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
    let files = try #require(names)
    #expect(files.count >= 300)

    for file in files {
      let lines = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
        .components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      for (line, next) in zip(lines, lines.dropFirst())
      where line.hasPrefix("///") && next.hasPrefix("//") && !next.hasPrefix("///") {
        Issue.record("\(file): the reference omits the text before: \(next)")
      }
    }
  }
}
