// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct DeleteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete documents by their keys, or all that fulfil a condition.",
    discussion: """
      Says how many there were; a key that no document has is no error. All are deleted, or none if \
      something fails. --all deletes every document.
      """)

  @OptionGroup var place: CollectionOptions

  @Argument(help: "The keys, or row ids with --row-id.")
  var keys: [String] = []

  @Flag(help: "The documents are known by their row ids.")
  var rowID = false

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp("Delete what fulfils this.", valueName: "condition"))
  var condition: String?

  @OptionGroup var arguments: ArgumentOptions

  @Flag(help: "Delete every document of the collection.")
  var all = false

  func validate() throws {
    let ways = [!keys.isEmpty, condition != nil, all].count { $0 }
    guard ways == 1 else {
      throw ValidationError("Give keys, or --where with a condition, or --all.")
    }
    // An empty condition holds for everything, and is likelier an unset variable.
    guard condition?.allSatisfy(\.isWhitespace) != true else {
      throw ValidationError("The condition is empty; --all deletes everything.")
    }
  }

  func run() throws {
    let count = try place.withExistingCollection { collection in
      if let condition {
        return try arguments.query(condition, in: collection).delete()
      }
      if all { return try collection.deleteAll() }
      guard rowID else { return try collection.delete(keys: keys) }
      let ids = try keys.map(RowID.parse)
      return try collection.store.write {
        try ids.reduce(0) { try $0 + (collection.delete(rowID: $1) ? 1 : 0) }
      }
    }
    try Output.run { try $0.line("deleted \(Quantity.documents(count))") }
  }
}
