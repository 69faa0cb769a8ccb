// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct GetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Print the document with a key.",
    discussion: "The exit status is 2 if the document does not exist.")

  @OptionGroup var target: CollectionOptions

  @Argument(help: "The key; a row ID with --row-id.")
  var key: String

  @Flag(help: "Interpret the key as a row ID.")
  var rowID = false

  @OptionGroup var json: JSONOutputOptions

  @Flag(
    inversion: .prefixedNo,
    help: "JSON with one line per field; the default on a terminal.")
  var pretty: Bool = Terminal.isOutput

  func run() throws {
    try target.withCollection(.reading) { collection in
      guard let document = try find(in: collection) else {
        let name = rowID ? "row ID" : "key"
        throw CommandFailure(
          message: TerminalText.text(
            "No document in collection '\(collection.name)' has the \(name) '\(key)'"), status: 2)
      }
      try Output.run { output in
        let printer = ObjectPrinter(
          isArray: false, isPlain: json.plain, isPretty: pretty, to: output)
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
      throw ValidationError("'\(text)' is not a row ID; row IDs are integers")
    }
    return id
  }
}
