// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import NanoCLI

@Suite("docs/CLI.md")
struct DocumentationTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  private let page: String

  init() throws {
    page = try String(contentsOf: Self.root.appending(path: "docs/CLI.md"), encoding: .utf8)
  }

  @Test("Every command has a section with its synopsis and an example")
  func everyCommand() throws {
    let sections = page.components(separatedBy: "\n## ").dropFirst()
    for command in Nanostore.configuration.subcommands {
      let name = try #require(command.configuration.commandName)
      let section = sections.first { $0.hasPrefix("\(name)\n") }
      #expect(section != nil, "docs/CLI.md has no section \(name)")
      let argument = name.hasSuffix("-legacy") ? "path" : "database"
      #expect(
        section?.contains("nanostore \(name) <\(argument)>") == true, "\(name) has no synopsis")
      #expect(section?.contains("$ nanostore \(name) ") == true, "\(name) has no example")
    }
  }

  @Test("Every example produces the documented output")
  func everyExample() throws {
    let sample = try String(
      contentsOf: Self.root.appending(path: "Examples/sample/films.ndjson"), encoding: .utf8)
    var count = 0
    for section in page.components(separatedBy: "\n## ") {
      let command = try CommandRunner()
      try command.write("films.ndjson", sample)
      try FileManager.default.copyItem(
        at: Self.root.appending(
          path: "Tests/NanoLegacyTests/Fixtures/nanostore/nano-small.sqlite"),
        to: command.folder.appending(path: "people.nanostore"))
      if !section.contains("$ nanostore import library.db films films.ndjson") {
        try command.run("import", "library.db", "films", "films.ndjson", "--key", "title")
      }
      for example in Self.examples(in: section) {
        let outcome = try command.shell("nanostore() { $N \"$@\"; }; { \(example.line); } 2>&1")
        // The page truncates output with an ellipsis.
        let shown = example.output.prefix { $0 != "…" }
        let lines = outcome.lines.prefix(shown.count < example.output.count ? shown.count : .max)
        #expect(lines.map(Self.normalized) == shown.map(Self.normalized), "\(example.line)")
        count += 1
      }
    }
    #expect(count >= 25)
  }

  /// Returns the command lines of a section with their documented output.
  private static func examples(in section: String) -> [(line: String, output: [String])] {
    var examples: [(line: String, output: [String])] = []
    for (number, block) in section.components(separatedBy: "```").enumerated() {
      guard number % 2 == 1, block.contains("\n$ nanostore ") else { continue }
      for line in block.split(separator: "\n").map(String.init) {
        if line.hasPrefix("$ ") {
          examples.append((String(line.dropFirst(2)), []))
        } else if !examples.isEmpty {
          examples[examples.count - 1].output.append(line)
        }
      }
    }
    return examples.filter { !$0.line.contains("gunzip") && !$0.line.contains("completion") }
  }

  /// Replaces what varies between runs: durations, sizes, versions and dates.
  private static func normalized(_ line: String) -> String {
    line.replacing(/in [0-9.]+ m?s \(.*\)/, with: "in …")
      .replacing(/[0-9.]+ kB/, with: "… kB")
      .replacing(/SQLite [0-9.]+/, with: "SQLite …")
      .replacing(/, [0-9a-f]{32}/, with: ", …")
      .replacing(/"position":"[^".]*/, with: #""position":"…"#)
      .replacing(/("key":"[^"]*","added":)\{[^}]*\}/) { "\($0.output.1)…" }
  }

  @Test("The demonstration runs to completion")
  func demonstration() throws {
    let script = Self.root.appending(path: "Examples/demo.sh").path
    let outcome = try CommandRunner().shell("sh '\(script)' $N")

    #expect(outcome.status == 0)
    #expect(outcome.diagnostics.isEmpty)
    #expect(outcome.output.contains("$ nanostore import library.db films films.ndjson"))
    #expect(outcome.output.contains("indexes    director.name_year_desc"))
  }

  @Test("Every option of every command is described")
  func everyOption() throws {
    for command in Nanostore.configuration.subcommands {
      let help = Nanostore.helpMessage(for: command, columns: 200)
      for option in help.matches(of: /--[a-z][a-z-]+/).map({ String($0.output) }) {
        #expect(page.contains(option), "docs/CLI.md does not mention \(option)")
      }
    }
  }
}
