// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Import documents from a JSON file.",
    discussion: """
      Reads a JSON array, one document per line, or concatenated documents, in plain JSON or \
      MongoDB Extended JSON, including the output of nanostore export. The file is streamed, so it \
      may be of any size.

      All documents are stored in one transaction: an invalid record stops the import with an error \
      that reports its line, byte offset and reason, and nothing is stored. With --skip-bad, invalid \
      records are skipped and counted.

      Exported documents keep their keys, types, versions and timestamps. For other documents, --key \
      names the field that contains the key; without it, a key is generated for each.
      """)

  @OptionGroup var target: CollectionOptions

  @Argument(help: "The file; - for standard input.", completion: .file())
  var file: String

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
  }

  func run() throws {
    let options = ImportOptions(
      keyField: try key.map { text in
        let path = FieldPath(text)
        try path.validate()
        return path
      }, replacesDocuments: replace, skipsInvalidRecords: skipBad,
      dialect: input.dialect, maximumRecordLength: maxRecord << 20)
    // Opened before the database, so that a wrong file name does not create an empty database.
    let source = try ByteSource(argument: file)
    let line = ProgressLine()
    let report = try target.database.withStore(.creating) { store in
      defer { line.clear() }
      var shown = 0
      return try store[target.collection].importDocuments(from: source, options) { report in
        show(report.skippedRecords.dropFirst(shown), after: shown, line)
        shown = report.skippedRecords.count
        line.show(
          report.totalBytes.map { Double(report.bytesRead) / Double(max(1, $0)) },
          "\(Quantity.documents(report.documents)), "
            + Quantity.rate(report.documents, line.elapsed))
      }
    }
    try Output.run { try $0.line(summary(report, line.elapsed)) }
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
    return "imported \(Quantity.documents(report.documents)) into \(target.collection)\(left) "
      + "in \(Quantity.duration(seconds)) (\(Quantity.rate(report.documents, seconds)), "
      + "\(Quantity.bytes(Int(Double(report.bytesRead) / max(seconds, 1e-3))))/s)"
  }
}
