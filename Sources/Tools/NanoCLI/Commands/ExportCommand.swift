// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write documents as JSON that import restores exactly.",
    discussion: """
      Writes one document per line in Extended JSON, with a header that import reads:

        {"$nanostore":{"key":"ada","added":{"$date":"2026-11-20T21:17:00.000000Z"}},"name":"Ada"}

      Importing the output into another database restores the same documents with the same keys, \
      types, versions and timestamps, in the same order. Use --no-header for other programs that \
      read Extended JSON, and --plain for programs that read only JSON. Indexes are not exported; \
      nanostore backup copies a whole database.

      A document from another program that import could not restore exactly, such as one with \
      duplicate field names, is skipped and reported; the exit status is then 1.
      """)

  @OptionGroup var target: CollectionOptions
  @OptionGroup var condition: ConditionOptions

  @Flag(
    inversion: .prefixedNo, help: "Write the key, type, version and timestamp before the fields.")
  var header = true

  @Flag(help: "Plain JSON: no header, dates and data as strings.")
  var plain = false

  func run() throws {
    try target.withCollection(.reading) { collection in
      let query = try condition.query(in: collection)
      try Output.run { output in
        var writer = JSONWriter()
        var unrepresentable = UnrepresentableDocuments()
        let isByRowID = try collection.store.collections().contains {
          $0.name.folded == collection.name.folded && $0.identity == .rowID
        }
        try query.each { document in
          writer.removeAll()
          let isWritten = try unrepresentable.attempt(document) {
            try write(document, isByRowID: isByRowID, to: &writer)
          }
          guard isWritten else { return }
          if let failure = writer.failure { throw failure }
          writer.byte(UInt8(ascii: "\n"))
          try output.write(writer.bytes)
        }
        try unrepresentable.finish()
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
