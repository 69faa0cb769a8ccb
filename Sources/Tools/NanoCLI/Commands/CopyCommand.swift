// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct CopyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy",
    abstract: "Copy everything into another database, and compare both.",
    discussion: """
      Copies documents with their keys and row ids, indexes, settings, bags and metadata in many \
      transactions. The source may be in use; it is copied as it was at the beginning. If the copy \
      stops, the same command goes on. A file is copied faster by nanostore backup.

      The exit status is 1 if the two differ in the end.
      """)

  @OptionGroup var source: DatabaseOptions

  @Argument(help: "The database to copy into, made if it is not there.", completion: .file())
  var target: String

  @Flag(help: "Copy nothing; compare, and list what differs.")
  var verifyOnly = false

  @Flag(help: "Remove first what the target holds.")
  var replace = false

  @Flag(help: "Leave out indexes that the target cannot have, and list them.")
  var skipUnsupported = false

  @Option(help: ArgumentHelp("Documents in one transaction.", valueName: "documents"))
  var batch = CopyOptions().batchDocuments

  @Flag(help: "The report as JSON.")
  var json = false

  /// Arbitrary; beyond, one transaction holds up others for long.
  private static let batches = 1...1_000_000

  func validate() throws {
    guard Self.batches.contains(batch) else { throw ValidationError("--batch takes 1 to 1000000.") }
    guard !verifyOnly || !replace else {
      throw ValidationError("--verify-only copies nothing, so there is nothing to --replace.")
    }
  }

  func run() throws {
    let line = ProgressLine()
    let report = try source.withStore(.reading) { source in
      try StoreLocation.withStore(at: target, verifyOnly ? .reading : .creating) { target in
        defer { line.clear() }
        return try makeReport(source, target) { Self.show($0, on: line) }
      }
    }
    try Output.run { output in
      if json {
        try output.line(TerminalText.json(Self.object(report).jsonString(pretty: true)))
      } else {
        try write(report, line.elapsed, to: output)
      }
    }
    guard skipUnsupported ? report.hasEqualDocuments : report.isEqual else {
      throw CommandFailure(message: "The databases differ")
    }
  }

  private func makeReport(
    _ source: Store, _ target: Store, _ progress: @escaping (CopyProgress) throws -> Void
  ) throws -> CopyReport {
    if verifyOnly { return try source.compare(with: target, progress: progress) }
    let options = CopyOptions(
      replacing: replace, skippingUnsupported: skipUnsupported, batchDocuments: batch)
    do { return try source.copy(to: target, options, progress: progress) } catch let error
      as StoreError where error.code == .alreadyExists && error[.collection] == nil
    {
      throw CommandFailure(
        message: TerminalText.text("\(error.message): \(self.target) (--replace removes it)"))
    }
  }

  private static func show(_ progress: CopyProgress, on line: ProgressLine) {
    let place = progress.collection.map { " of \($0)" } ?? ""
    line.show(
      progress.total == 0 ? nil : Double(progress.documents) / Double(progress.total),
      TerminalText.text("\(progress.phase.rawValue)\(place), ")
        + Quantity.documents(progress.documents))
  }
}

extension CopyCommand {
  private func write(_ report: CopyReport, _ seconds: Double, to output: Output) throws {
    for collection in report.collections {
      let contents =
        collection.isEqual
        ? Self.text(collection.source)
        : "\(Self.text(collection.source)); in the target \(Self.text(collection.target))"
      try output.line(TerminalText.text("\(collection.name): \(contents)"))
    }
    for definition in report.leftOut {
      try output.line(
        TerminalText.text(
          "left out: \(definition.collection), \(definition.definition): \(definition.reason)"))
    }
    for difference in report.differences {
      try output.line(TerminalText.text("differs: \(difference.subject): \(difference.message)"))
    }
    if verifyOnly {
      if report.isEqual { try output.line("no differences") }
    } else {
      let rest = report.isContinued ? "; the rest was there from an earlier copy" : ""
      try output.line(
        "copied \(Quantity.documents(report.copied)) in \(Quantity.duration(seconds)) "
          + "(\(Quantity.rate(report.copied, seconds)))\(rest)")
    }
  }

  private static func text(_ contents: CopyReport.Contents) -> String {
    "\(Quantity.documents(contents.documents)), \(contents.checksum)"
  }

  private static func object(_ report: CopyReport) -> DocumentObject {
    func contents(_ contents: CopyReport.Contents) -> DocumentValue {
      .object([
        "documents": .int(Int64(contents.documents)), "checksum": .string(contents.checksum),
      ])
    }
    return [
      "equal": .bool(report.isEqual), "copied": .int(Int64(report.copied)),
      "continued": .bool(report.isContinued),
      "collections": .array(
        report.collections.map {
          .object([
            "name": .string($0.name), "equal": .bool($0.isEqual), "copied": .int(Int64($0.copied)),
            "source": contents($0.source), "target": contents($0.target),
          ])
        }),
      "leftOut": .array(
        report.leftOut.map {
          .object([
            "collection": .string($0.collection), "definition": .string($0.definition),
            "reason": .string($0.reason),
          ])
        }),
      "differences": .array(
        report.differences.map {
          .object(["subject": .string($0.subject), "message": .string($0.message)])
        }),
    ]
  }
}
