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

      A document that another program wrote and that no import could read back as the same, as with \
      two fields of one name, is left out and reported; the exit status is 1 then.
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
        var writer = JSONWriter()
        var unfaithful = UnrepresentableDocuments()
        let isByRowID = try collection.store.collections().contains {
          $0.name.folded == collection.name.folded && $0.identity == .rowID
        }
        try query.each { document in
          writer.removeAll()
          let isWritten = try unfaithful.attempt(document) {
            try write(document, isByRowID: isByRowID, to: &writer)
          }
          guard isWritten else { return }
          if let failure = writer.failure { throw failure }
          writer.byte(UInt8(ascii: "\n"))
          try output.write(writer.bytes)
        }
        try unfaithful.finish()
      }
    }
  }

  private func write(_ document: Document, isByRowID: Bool, to writer: inout JSONWriter) throws {
    if header, !plain {
      return try ExportMetadata.write(document, isByRowID: isByRowID, to: &writer)
    }
    let fields = try ExportMetadata.fields(of: document)
    guard plain else { return fields.withUnsafeBytes { writer.raw($0) } }
    writer.text(.object(try document.object()), dialect: .plain)
  }
}
