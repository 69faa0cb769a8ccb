// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct GetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Show the document with a key.",
    discussion: "The exit status is 2 if there is none.")

  @OptionGroup var place: CollectionOptions

  @Argument(help: "The key, or the row id with --row-id.")
  var key: String

  @Flag(help: "The document is known by its row id.")
  var rowID = false

  @Flag(help: "JSON without {\"$date\": …} and the like: dates and data are plain text.")
  var plain = false

  @Flag(
    inversion: .prefixedNo,
    help: "JSON with a line for each field; the default if the output is a terminal.")
  var pretty: Bool = Terminal.isOutput

  func run() throws {
    try place.withCollection(.reading) { collection in
      guard let document = try find(in: collection) else {
        let name = rowID ? "row id" : "key"
        throw CommandFailure(
          message: TerminalText.text(
            "There is no document with the \(name) \(key) in \(collection.name)"), status: 2)
      }
      try Output.run { output in
        let printer = ObjectPrinter(
          isArray: false, isPlain: plain, isPretty: pretty, to: output)
        try printer.add(document)
        try printer.finish()
      }
    }
  }

  private func find(in collection: DocumentCollection) throws -> Document? {
    guard rowID else { return try collection.get(key) }
    return try collection.get(rowID: RowID.parse(key))
  }
}

enum RowID {
  static func parse(_ text: String) throws -> Int64 {
    guard let id = Int64(text) else {
      throw ValidationError("'\(text)' is no row id; row ids are integers.")
    }
    return id
  }
}
