// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct DeleteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete documents by key or by condition.",
    discussion: """
      Deletes all documents in one transaction and prints their number. A key without a document is \
      not an error.
      """)

  @OptionGroup var target: CollectionOptions

  @Argument(help: "The keys; row IDs with --row-id.")
  var keys: [String] = []

  @Flag(help: "Interpret the keys as row IDs.")
  var rowID = false

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp("Delete the documents that match this condition.", valueName: "condition"))
  var condition: String?

  @OptionGroup var arguments: ArgumentOptions

  @Flag(help: "Delete every document of the collection.")
  var all = false

  func validate() throws {
    let ways = [!keys.isEmpty, condition != nil, all].count { $0 }
    guard ways == 1 else {
      throw ValidationError("Specify keys, --where with a condition, or --all")
    }
    // An empty condition matches everything, and is more likely an unset shell variable.
    guard condition?.allSatisfy(\.isWhitespace) != true else {
      throw ValidationError("The condition is empty; use --all to delete every document")
    }
  }

  func run() throws {
    let count = try target.withExistingCollection { collection in
      if let condition {
        return try arguments.queryForChanges(condition, in: collection).delete()
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
