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
  var maxRecord = RecordSplitter.defaultMaximumLength >> 20

  /// Bad records that are told one by one; arbitrary, so that the screen is not filled with them.
  private static let shownFailures = 10

  func validate() throws {
    guard (1...4096).contains(maxRecord) else {
      throw ValidationError("--max-record takes 1 to 4096.")
    }
  }

  func run() throws {
    let path = try key.map { text in
      let path = FieldPath(text)
      try path.validate()
      return path
    }
    // Before the database is opened, so that a wrong name makes no empty one.
    let source = try ByteSource(file)
    let size = source.size
    let reader = RecordReader(key: path, dialect: plain ? .plain : .extended)
    let line = ProgressLine()
    let counts = try place.database.withStore(.creating) { store in
      defer { line.clear() }
      let batches = BatchPipeline(
        BatchSource(source, reader, maximumLength: maxRecord << 20))
      return try importer(store[place.collection], line, size).run(batches)
    }
    try Output.run { try $0.line(summary(counts, line.elapsed)) }
  }

  private func importer(
    _ collection: DocumentCollection, _ line: ProgressLine, _ size: Int?
  ) -> Importer {
    var importer = Importer(collection: collection, replaces: replace, skipsBad: skipBad)
    importer.progress = { counts in
      line.show(
        size.map { Double(counts.bytes) / Double(max(1, $0)) },
        "\(Quantity.documents(counts.documents)), \(Quantity.rate(counts.documents, line.elapsed))")
    }
    var shown = 0
    importer.skipped = { failure in
      shown += 1
      guard shown <= Self.shownFailures else { return }
      line.clear()
      let reason = FailureReport.sentence(failure.error, in: .record)
      Diagnostics.print("skipped: \(failure.place): \(reason)")
      if shown == Self.shownFailures { Diagnostics.print("further ones are only counted") }
    }
    return importer
  }

  private func summary(_ counts: Importer.Counts, _ seconds: Double) -> String {
    let left = counts.skipped == 0 ? "" : ", skipped \(Quantity.count(counts.skipped))"
    return "imported \(Quantity.documents(counts.documents)) into \(place.collection)\(left) "
      + "in \(Quantity.duration(seconds)) (\(Quantity.rate(counts.documents, seconds)), "
      + "\(Quantity.bytes(Int(Double(counts.bytes) / max(seconds, 1e-3))))/s)"
  }
}
