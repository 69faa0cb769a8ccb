// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write documents as JSON that import reads back identically.",
    discussion: """
      Writes one document a line, in Extended JSON, behind a header that import understands:

        {"$nanostore":{"key":"ada","added":{"$date":"2026-11-20T21:17:00.000000Z"}},"name":"Ada"}

      Importing it into another database gives the same documents with the same keys, types, \
      versions and moments, in the same order. --no-header writes the fields alone, for other \
      programs that know Extended JSON; --plain for those that know JSON only. Indexes are not \
      exported: nanostore backup copies a whole database.
      """)

  @OptionGroup var place: CollectionOptions
  @OptionGroup var condition: ConditionOptions

  @Flag(inversion: .prefixedNo, help: "Write key, type and moment in front of the fields.")
  var header = true

  @Flag(help: "Plain JSON: no header, dates and data as text.")
  var plain = false

  func run() throws {
    try place.withCollection(.reading) { collection in
      let query = try condition.query(in: collection)
      try Output.run { output in
        guard header, !plain else {
          let printer = ObjectPrinter(
            isArray: false, isPlain: plain, isPretty: false, to: output)
          return try query.each { try printer.add($0) }
        }
        let isByRowID = try collection.store.collections().contains {
          $0.name.folded == collection.name.folded && $0.identity == .rowID
        }
        var writer = JSONWriter()
        try query.each { document in
          writer.removeAll()
          try ExportHeader.write(document, isByRowID: isByRowID, to: &writer)
          writer.byte(UInt8(ascii: "\n"))
          try output.write(writer.bytes)
        }
      }
    }
  }
}
