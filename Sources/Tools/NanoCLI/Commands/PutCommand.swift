// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct PutCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "put",
    abstract: "Store a document under a key.",
    discussion: """
      Makes the database and the collection if they are not there, and replaces the document that \
      has the key.
      """)

  @OptionGroup var place: CollectionOptions

  @Argument(help: "The key.")
  var key: String

  @Argument(
    help: ArgumentHelp(
      "The fields as a JSON object; read from the standard input if missing or -.",
      valueName: "json"))
  var json: String = "-"

  @Flag(help: "Refuse to replace a document.")
  var new = false

  @Flag(help: "Take {\"$date\": …} and the like as they stand, not as dates and so on.")
  var plain = false

  func run() throws {
    // Before the database is opened, so that a mistake makes no empty one.
    let text = json == "-" ? try ByteSource(argument: "-").text() : json
    let dialect: JSONDialect = plain ? .plain : .extended
    _ = try DocumentObject(json: text, dialect: dialect)
    try place.database.withStore(.creating) { store in
      let collection = store[place.collection]
      if new {
        try collection.insert(json: text, key: key, dialect: dialect)
      } else {
        try collection.save(json: text, key: key, dialect: dialect)
      }
    }
    try Output.run { try $0.line(TerminalText.text("stored \(key) in \(place.collection)")) }
  }
}
