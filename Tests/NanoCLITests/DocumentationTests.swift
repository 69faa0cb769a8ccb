// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import NanoCLI

@Suite("docs/CLI.md")
struct DocumentationTests {
  private let page: String

  init() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    page = try String(contentsOf: root.appending(path: "docs/CLI.md"), encoding: .utf8)
  }

  @Test("Every command has a section with its synopsis and an example")
  func everyCommand() throws {
    let sections = page.components(separatedBy: "\n## ").dropFirst()
    for command in Nanostore.configuration.subcommands {
      let name = try #require(command.configuration.commandName)
      let section = sections.first { $0.hasPrefix("\(name)\n") }
      #expect(section != nil, "docs/CLI.md has no section \(name)")
      #expect(section?.contains("nanostore \(name) <database>") == true, "\(name) has no synopsis")
      #expect(section?.contains("$ nanostore \(name) ") == true, "\(name) has no example")
    }
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
