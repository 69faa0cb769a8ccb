// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct PutCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "put",
    abstract: "Store a document under a key.",
    discussion: """
      Creates the database and the collection if they do not exist, and replaces an existing \
      document with the key.
      """)

  @OptionGroup var target: CollectionOptions

  @Argument(help: "The key.")
  var key: String

  @Argument(
    help: ArgumentHelp(
      "The fields as a JSON object; read from standard input if omitted or -.",
      valueName: "json"))
  var json: String = "-"

  @Flag(help: "Fail if a document with the key exists.")
  var new = false

  @OptionGroup var input: JSONInputOptions

  func run() throws {
    // Parsed before the database is opened, so that invalid input does not create an empty database.
    let text = json == "-" ? try ByteSource(argument: "-").text() : json
    let dialect = input.dialect
    _ = try DocumentObject(json: text, dialect: dialect)
    try target.database.withStore(.creating) { store in
      let collection = store[target.collection]
      if new {
        try collection.insert(json: text, key: key, dialect: dialect)
      } else {
        try collection.save(json: text, key: key, dialect: dialect)
      }
    }
    try Output.run { try $0.line(TerminalText.text("stored \(key) in \(target.collection)")) }
  }
}
