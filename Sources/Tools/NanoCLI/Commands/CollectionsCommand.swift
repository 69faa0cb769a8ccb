// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct CollectionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "collections",
    abstract: "List the collections with the number of documents and indexes.")

  @OptionGroup var database: DatabaseOptions
  @OptionGroup var format: FormatOptions

  func run() throws {
    try database.withStore(.reading) { store in
      let collections = try store.statistics().collections
      let identities = Dictionary(
        try store.collections().map { (ExactName($0.name), $0.identity) },
        uniquingKeysWith: { first, _ in first })
      try Output.run { output in
        let rows = format.rows(["collection", "documents", "indexes", "known by"], to: output)
        try rows.begin()
        for collection in collections {
          try rows.add([
            .string(collection.name), .int(Int64(collection.documents)),
            .int(Int64(collection.indexes)),
            identities[ExactName(collection.name)] == .rowID ? "row ID" : "key",
          ])
        }
        try rows.finish()
      }
    }
  }
}
