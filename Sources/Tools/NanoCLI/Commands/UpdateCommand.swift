// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoQuery
import NanoStore

struct UpdateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "update",
    abstract: "Change fields of one document or of all that match a condition.",
    discussion: """
      The update is a JSON object of operators, as in MongoDB: $set, $unset, $rename, $inc, $mul, $min, $max, \
      $push, $addToSet, $pull, $pullAll, $pop and $setOnInsert.
      """)

  @OptionGroup var target: CollectionOptions

  @Argument(help: "The key, unless --where is specified, and the update.")
  var keyAndUpdate: [String]

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp("Change the documents that match this condition.", valueName: "condition"))
  var condition: String?

  @OptionGroup var arguments: ArgumentOptions

  @Flag(help: "Insert the document if it does not exist.")
  var upsert = false

  func validate() throws {
    guard keyAndUpdate.count == (condition == nil ? 2 : 1) else {
      throw ValidationError("Specify a key and an update, or --where and an update")
    }
    guard condition == nil || !upsert else {
      throw ValidationError("--upsert requires a key")
    }
    guard condition?.allSatisfy(\.isWhitespace) != true else {
      throw ValidationError("The condition is empty; use --where 1 to change every document")
    }
  }

  func run() throws {
    let changes = try FieldChange.list(
      DocumentObject(json: keyAndUpdate.last ?? "", dialect: .extended))
    let count = try target.withExistingCollection { collection in
      if let condition {
        return try arguments.queryForChanges(condition, in: collection).update(changes)
      }
      try collection.update(keyAndUpdate[0], changes, upsert: upsert)
      return 1
    }
    try Output.run { try $0.line("updated \(Quantity.documents(count))") }
  }
}
