// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

extension IndexCommand {
  struct Text: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "text",
      abstract: "Make a text index, for search; nothing happens if the same one is there.")

    @OptionGroup var place: CollectionOptions

    @Argument(help: "The fields whose texts are indexed; lists of texts are entered.")
    var fields: [String]

    @Flag(help: "Find any part of a text rather than words.")
    var substrings = false

    @Option(help: "The name of the index; made from the fields if missing.")
    var name: String?

    func run() throws {
      let index = try place.withExistingCollection { collection in
        try collection.createTextIndex(
          fields: fields, tokens: substrings ? .substrings : .words, name: name)
      }
      try Output.run { output in
        try output.line(
          TerminalText.text(
            "made text index \(index.name) on \(place.collection) of \(index.tokens.rawValue)"))
      }
    }
  }
}
