// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Import documents from a JSON or CSV file, or from a SQLite table.",
    discussion: """
      Reads a JSON array, one document per line, or concatenated documents, in plain JSON or \
      MongoDB Extended JSON, including the output of nanostore export; or CSV with a header row of \
      field paths such as address.city; or the rows of another SQLite file, which stays unchanged. \
      The input is streamed, so it may be of any size.

      All documents are stored in one transaction: an invalid record stops the import with an error \
      that reports its line, byte offset and reason, and nothing is stored. With --skip-bad, invalid \
      records are skipped and counted.

      Exported documents keep their keys, types, versions and timestamps. For other documents, --key \
      names the field that contains the key; without it, a key is generated for each.
      """)

  @OptionGroup var target: CollectionOptions

  @Argument(help: "The file; - for standard input.", completion: .file())
  var file: String?

  @OptionGroup var format: InputFormatOptions
  @OptionGroup var sqlite: SQLiteInputOptions

  @Option(
    help: ArgumentHelp(
      "The field that contains the key, a string or an integer.", valueName: "field"))
  var key: String?

  @Flag(help: "Replace existing documents with the same key instead of rejecting the record.")
  var replace = false

  @Flag(help: "Skip and count records that cannot be stored.")
  var skipBad = false

  @OptionGroup var input: JSONInputOptions

  @Option(help: ArgumentHelp("Maximum size of a record in megabytes.", valueName: "megabytes"))
  var maxRecord = ImportOptions.defaultMaximumRecordLength >> 20

  /// The number of skipped records that are listed; arbitrary, to keep the messages readable.
  private static let shownFailures = 10

  func validate() throws {
    guard (1...4096).contains(maxRecord) else {
      throw ValidationError("--max-record must be between 1 and 4096")
    }
    guard sqlite.source != nil else {
      guard file != nil else { throw ValidationError("Missing expected argument '<file>'") }
      return
    }
    guard file == nil else { throw ValidationError("--from-sqlite replaces the file argument") }
    guard format.format == nil, format.empty != .text, !input.plain else {
      throw ValidationError("--from-sqlite has no format")
    }
    guard !format.hasTableOption else {
      throw ValidationError(
        "--separator, --text-columns, --all-text, --convert-quoted and --short-rows require a CSV "
          + "or TSV file, not --from-sqlite")
    }
  }

  func run() throws {
    var options = ImportOptions(
      keyField: try key.map { text in
        let path = FieldPath(text)
        try path.validate()
        return path
      }, replacesDocuments: replace, skipsInvalidRecords: skipBad,
      dialect: input.dialect, maximumRecordLength: maxRecord << 20)
    let line = ProgressLine()
    var shown = 0
    func progress(_ report: ImportReport) {
      show(report.skippedRecords.dropFirst(shown), after: shown, line)
      shown = report.skippedRecords.count
      line.show(
        report.totalBytes.map { Double(report.bytesRead) / Double(max(1, $0)) },
        "\(Quantity.documents(report.documents)), "
          + Quantity.rate(report.documents, line.elapsed))
    }
    let report: ImportReport
    if let source = sqlite.source {
      // Checked before the database is opened, which would create it.
      _ = try ByteSource(path: source.file.path)
      report = try importing(line) { collection in
        try collection.importRows(
          source.rows, fromSQLite: source.file, options: options,
          keepsNulls: format.empty == .null, progress: progress)
      }
    } else {
      options.format = try format.importFormat(of: file ?? "-")
      guard !input.plain || options.format == .json else {
        throw ValidationError("--plain requires --json")
      }
      // Opened before the database, so that a wrong file name does not create an empty database.
      let source = try ByteSource(argument: file ?? "-")
      report = try importing(line) { collection in
        try collection.importDocuments(from: source, options, progress: progress)
      }
    }
    try Output.run { try $0.line(TerminalText.text(summary(report, line.elapsed))) }
  }

  private func importing(
    _ line: ProgressLine, _ work: (DocumentCollection) throws -> ImportReport
  ) throws -> ImportReport {
    try target.database.withStore(.loading) { store in
      defer { line.clear() }
      return try work(store[target.collection])
    }
  }

  private func show(_ errors: ArraySlice<StoreError>, after shown: Int, _ line: ProgressLine) {
    for (number, error) in zip((shown + 1)..., errors) where number <= Self.shownFailures {
      line.clear()
      Diagnostics.print("skipped: \(FailureReport.sentence(ofRecord: error))")
      if number == Self.shownFailures {
        Diagnostics.print("further skipped records are counted but not listed")
      }
    }
  }

  private func summary(_ report: ImportReport, _ seconds: Double) -> String {
    let left = report.skipped == 0 ? "" : ", skipped \(Quantity.count(report.skipped))"
    let bytes = Quantity.bytes(Int(Double(report.bytesRead) / max(seconds, 1e-3)))
    return "imported \(Quantity.documents(report.documents)) into \(target.collection)\(left) "
      + "in \(Quantity.duration(seconds)) (\(Quantity.rate(report.documents, seconds))"
      + (sqlite.source == nil ? ", \(bytes)/s)" : ")")
  }
}
