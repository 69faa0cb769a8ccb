// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

struct CopyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy",
    abstract: "Copy all data into another database and compare the two.",
    discussion: """
      Copies documents with their keys and row IDs, indexes, settings, bags and metadata in multiple \
      transactions. The source may be in use; the copy reads one snapshot of it. To resume an \
      interrupted copy, run the same command again. To copy a file on the same machine, nanostore \
      backup is faster.

      The exit status is 1 if the databases differ after the copy.
      """)

  @OptionGroup var source: DatabaseOptions

  @Argument(help: "The target database; created if it does not exist.", completion: .file())
  var target: String

  @Flag(help: "Compare without copying, and list the differences.")
  var verifyOnly = false

  @Flag(help: "Delete the contents of the target first.")
  var replace = false

  @Flag(help: "Skip indexes that the target does not support, and list them.")
  var skipUnsupported = false

  @Option(help: ArgumentHelp("Documents per transaction.", valueName: "documents"))
  var batch = CopyOptions().batchDocuments

  @Flag(help: "Print the report as JSON.")
  var json = false

  /// Arbitrary; a larger transaction blocks other writers for too long.
  private static let batches = 1...1_000_000

  func validate() throws {
    guard Self.batches.contains(batch) else {
      throw ValidationError("--batch must be between 1 and 1000000")
    }
    guard !verifyOnly || !skipUnsupported else {
      throw ValidationError(
        "--verify-only and --skip-unsupported cannot be combined; --verify-only lists definitions that "
          + "the copy skipped as differences")
    }
    guard !verifyOnly || !replace else {
      throw ValidationError(
        "--verify-only and --replace cannot be combined, because --verify-only copies nothing")
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
    guard report.isEqual else {
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
        message: TerminalText.text(
          "\(error.message): \(StoreLocation.shown(self.target)) (--replace deletes its contents first)"
        ))
    }
  }

  private static func show(_ progress: CopyProgress, on line: ProgressLine) {
    let collection = progress.collection.map { " of \($0)" } ?? ""
    line.show(
      progress.total == 0 ? nil : Double(progress.documents) / Double(progress.total),
      TerminalText.text("\(progress.phase.rawValue)\(collection), ")
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
    for definition in report.omitted {
      try output.line(
        TerminalText.text(
          "skipped: \(definition.collection), \(definition.definition): \(definition.reason)"))
    }
    for difference in report.differences {
      try output.line(TerminalText.text("differs: \(difference.subject): \(difference.message)"))
    }
    if verifyOnly {
      if report.isEqual { try output.line("no differences") }
    } else {
      let rest = report.isContinued ? "; an earlier run copied the rest" : ""
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
      "omitted": .array(
        report.omitted.map {
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
