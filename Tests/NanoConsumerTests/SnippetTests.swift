// SPDX-License-Identifier: MIT

import Foundation
import Testing

@Suite("Documentation snippets", .enabled(if: ConsumerCompiler.isAvailable))
struct SnippetTests {
  /// All user documentation. Pages that contain code for contributors use a different code fence.
  static let documents: [URL] = {
    let folders = [
      "docs", "Sources/Products/NanoStore/NanoStore.docc",
      "Sources/Products/NanoStoreModels/NanoStoreModels.docc",
    ]
    let pages = folders.flatMap { folder in
      let files = try? FileManager.default.contentsOfDirectory(
        at: ConsumerCompiler.root.appending(path: folder), includingPropertiesForKeys: nil)
      return (files ?? []).filter { $0.pathExtension == "md" }.sorted { $0.path < $1.path }
    }
    return ["README.md", "Examples/README.md"].map { ConsumerCompiler.root.appending(path: $0) }
      + pages
  }()

  @Test("Each snippet compiles in an async function of another package")
  func compile() throws {
    let assumptions = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Snippets")
    let programs = try Self.documents.map { document in
      let name = document.deletingPathExtension().lastPathComponent
      return try SnippetProgram(
        document: document, assumptions: assumptions.appending(path: name + ".swift"))
    }.filter { $0.count > 0 }
    #expect(programs.count >= 20)
    #expect(programs.reduce(0) { $0 + $1.count } >= 110)

    let outcome = try ConsumerCompiler.check(programs.map(\.text))

    for message in outcome.messages where message.contains(": error: ") {
      Issue.record("\(message)")
    }
    #expect(outcome.succeeded)
  }

  /// Code for frameworks that exist on Apple platforms only has a code fence of its own.
  @Test("Only code that imports Apple's frameworks is not compiled, and it parses")
  func appleCode() throws {
    var blocks: [String] = []
    for document in Self.documents {
      let text = try String(contentsOf: document, encoding: .utf8)
      for part in text.components(separatedBy: "```swift ").dropFirst() {
        let lines = part.components(separatedBy: "```")[0].split(separator: "\n")
        #expect(lines.first == "apple", "\(document.lastPathComponent)")
        #expect(lines.contains("import SwiftUI") || lines.contains("import UIKit"))
        blocks.append(lines.dropFirst().joined(separator: "\n"))
      }
    }
    #expect(blocks.count >= 3)
    for block in blocks {
      let outcome = try ConsumerCompiler.parse(block)
      #expect(outcome.succeeded, "\(outcome.diagnostics)")
    }
  }
}
