// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

extension IndexCommand {
  struct Text: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "text",
      abstract: "Create a full-text index for search; does nothing if it already exists.")

    @OptionGroup var target: CollectionOptions

    @Argument(help: "The fields to index, including strings in arrays.")
    var fields: [String]

    @Flag(help: "Index substrings instead of words.")
    var substrings = false

    @Option(help: "The name of the index; derived from the fields if omitted.")
    var name: String?

    func run() throws {
      let index = try target.withExistingCollection { collection in
        try collection.createFullTextIndex(
          fields: fields, tokens: substrings ? .substrings : .words, name: name)
      }
      try Output.run { output in
        try output.line(
          TerminalText.text(
            "created text index \(index.name) on \(target.collection) (\(index.tokens.rawValue))"))
      }
    }
  }
}
