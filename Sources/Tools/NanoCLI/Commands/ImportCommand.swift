// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Store the documents of a JSON file.",
    discussion: """
      Reads a JSON array, a document on each line, or documents one behind the other, in plain JSON \
      or MongoDB's Extended JSON, and files that nanostore export wrote. The file may be of any \
      size; it is read piece by piece.

      All documents are stored in one transaction: a bad record ends the import with its line, its \
      byte and the reason, and nothing is stored. With --skip-bad such records are left out and \
      counted.

      Documents of an export keep their keys, types and the moment at which they were added. Others \
      get the key that --key names, or one is made for each.
      """)

  @OptionGroup var place: CollectionOptions

  @Argument(help: "The file; - for the standard input.", completion: .file())
  var file: String

  @Option(
    help: ArgumentHelp("Take the key from this field: text or an integer.", valueName: "field"))
  var key: String?

  @Flag(help: "Replace documents that have the same keys, instead of refusing them.")
  var replace = false

  @Flag(help: "Leave out records that cannot be stored, and count them.")
  var skipBad = false

  @Flag(help: "Take {\"$date\": …} and the like as they stand, not as dates and so on.")
  var plain = false

  @Option(help: ArgumentHelp("The longest record in megabytes.", valueName: "megabytes"))
  var maxRecord = ImportOptions.defaultMaximumRecordLength >> 20

  /// Bad records that are listed; arbitrary, so that the screen is not filled with them.
  private static let shownFailures = 10

  func validate() throws {
    guard (1...4096).contains(maxRecord) else {
      throw ValidationError("--max-record takes 1 to 4096.")
    }
  }

  func run() throws {
    let options = ImportOptions(
      keyField: try key.map { text in
        let path = FieldPath(text)
        try path.validate()
        return path
      }, replacesDocuments: replace, skipsInvalidRecords: skipBad,
      dialect: plain ? .plain : .extended, maximumRecordLength: maxRecord << 20)
    // Before the database is opened, so that a wrong name makes no empty one.
    let source = try ByteSource(argument: file)
    let line = ProgressLine()
    let report = try place.database.withStore(.creating) { store in
      defer { line.clear() }
      var shown = 0
      return try store[place.collection].importDocuments(from: source, options) { report in
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
      if number == Self.shownFailures { Diagnostics.print("further ones are only counted") }
    }
  }

  private func summary(_ report: ImportReport, _ seconds: Double) -> String {
    let left = report.skipped == 0 ? "" : ", skipped \(Quantity.count(report.skipped))"
    return "imported \(Quantity.documents(report.documents)) into \(place.collection)\(left) "
      + "in \(Quantity.duration(seconds)) (\(Quantity.rate(report.documents, seconds)), "
      + "\(Quantity.bytes(Int(Double(report.bytesRead) / max(seconds, 1e-3))))/s)"
  }
}
