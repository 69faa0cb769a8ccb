// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStore
import Synchronization

struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write documents as JSON that import restores exactly, or in another format.",
    discussion: """
      Writes one document per line in Extended JSON, with a header that import reads:

        {"$nanostore":{"key":"ada","added":{"$date":"2026-11-20T21:17:00.000000Z"}},"name":"Ada"}

      Importing the output into another database restores the same documents with the same keys, \
      types, versions and timestamps, in the same order. Use --no-header for other programs that \
      read Extended JSON, and --plain for programs that read only JSON. Expirations and indexes are \
      not exported; nanostore backup copies a whole database.

      CSV has a column for each field, such as address.city, and __key__ for the key.

      A document from another program that import could not restore exactly, such as one with \
      duplicate field names, is skipped and reported; the exit status is then 1.
      """)

  @OptionGroup var target: CollectionOptions
  @OptionGroup var condition: ConditionOptions

  @Flag(exclusivity: .exclusive)
  var format: ExportOutput?

  @Flag(
    inversion: .prefixedNo, help: "Write the key, type, version and timestamp before the fields.")
  var header = true

  @Flag(help: "Plain JSON: no header, dates and data as strings.")
  var plain = false

  @Flag(help: "Canonical Extended JSON for mongoimport, with the key as the field _id.")
  var mongo = false

  @Option(
    help: ArgumentHelp("The columns of CSV, separated by commas.", valueName: "__key__,a,b.c"))
  var fields: String?

  @Option(
    help: ArgumentHelp("Write to a file, which is created when it is complete.", valueName: "file"),
    completion: .file())
  var output: String?

  @Flag(help: "Replace an existing file.")
  var force = false

  private var isTable: Bool { format == .csv || format == .tsv }

  func validate() throws {
    guard !isTable || (header && !plain && !mongo) else {
      throw ValidationError("--no-header, --plain and --mongo require JSON")
    }
    guard isTable || fields == nil else {
      throw ValidationError("--fields requires --csv or --tsv")
    }
    guard !plain || !mongo else { throw ValidationError("--plain and --mongo exclude each other") }
    guard output != nil || !force else { throw ValidationError("--force requires --output") }
  }

  private var exportFormat: ExportFormat {
    let form: ExportFormat.JSONForm =
      mongo ? .mongoDB : plain ? .plain : header ? .restorable : .extended
    let columns = fields.map { FieldList.split($0) }
    return switch format {
    case nil, .ndjson: .ndjson(form)
    case .json: .json(form)
    case .csv: .csv(columns: columns)
    case .tsv: .csv(columns: columns, separator: "\t")
    }
  }

  func run() throws {
    guard let output else { return try target.withCollection(.reading, writeToOutput) }
    // A signal ends the export, which removes its unfinished file.
    let run = InterruptibleRun()
    try target.withCollection(.reading) { collection in
      let query = try condition.query(in: collection)
      try run.run { [self] in try await export(query, to: output) }
    }
  }

  private func writeToOutput(_ collection: DocumentCollection) throws {
    let query = try condition.query(in: collection)
    var unrepresentable = UnrepresentableDocuments()
    func note(_ document: SkippedDocument) throws {
      try unrepresentable.note(document, in: collection.name)
    }
    try Output.run { output in
      try query.export(as: exportFormat, onFailure: note) { chunk in
        guard Terminal.isOutput else {
          return try chunk.withUnsafeBytes { try output.write($0) }
        }
        // Documents are never divided, so that a chunk does not end within a character.
        let text = String(decoding: chunk, as: UTF8.self)
        try output.write(isTable ? TerminalText.table(text) : TerminalText.json(text))
      }
    }
    try unrepresentable.finish()
  }

  private func export(_ query: DocumentQuery, to path: String) async throws {
    let line = ProgressLine()
    defer { line.clear() }
    let unrepresentable = Mutex(UnrepresentableDocuments())
    let name = query.collection.name
    let file = URL(filePath: NSString(string: path).expandingTildeInPath)
    let report: ExportReport
    do {
      report = try await query.export(
        to: file, as: exportFormat, replacing: force,
        progress: {
          line.show(
            nil,
            "\(Quantity.documents($0.documents)), \(Quantity.rate($0.documents, line.elapsed))")
        },
        onFailure: { document in
          try unrepresentable.withLock { try $0.note(document, in: name) }
        })
    } catch let error as StoreError where error.code == .alreadyExists {
      throw CommandFailure(
        message: TerminalText.text("\(path) already exists (--force replaces it)"))
    }
    line.clear()
    try Output.run {
      try $0.line(
        TerminalText.text(
          "exported \(Quantity.documents(report.documents)) to \(path) "
            + "in \(Quantity.duration(line.elapsed)) "
            + "(\(Quantity.rate(report.documents, line.elapsed)))"))
    }
    try unrepresentable.withLock { try $0.finish() }
  }
}

/// The formats that `export` writes.
enum ExportOutput: String, EnumerableFlag {
  case ndjson, json, csv, tsv

  static func help(for format: ExportOutput) -> ArgumentHelp? {
    switch format {
    case .ndjson: "One JSON object per line; the default."
    case .json: "A JSON array."
    case .csv: "Comma-separated values with a header row."
    case .tsv: "Tab-separated values with a header row."
    }
  }
}
